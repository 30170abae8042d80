/**
 * The key that a provider's model lacks. Adapters of the AI SDK read their key when they make the
 * headers of a request, so it can be missed without one.
 */
import type { CalledEntry } from '../define/model/model-entry.ts';

/**
 * Adapters whose headers come from options and environment alone. Others, such as Vertex, fetch a
 * token for them, so their keys are looked for by the first call.
 */
const PROVIDERS: readonly string[] = ['openai.', 'anthropic.', 'google.generative-ai'];

/** How the AI SDK names the variable: `… or the OPENAI_API_KEY environment variable.` */
const VARIABLE = /\b([A-Z][A-Z0-9_]{2,63}) environment variable\b/;

/** The environment variable in which `model` looks for its key in vain; undefined: not known. */
export function missingKey(model: CalledEntry['model']): string | undefined {
  if (typeof model === 'function') return undefined;
  if (!PROVIDERS.some((name) => model.provider.startsWith(name))) return undefined;
  const { config } = model as { readonly config?: { readonly headers?: unknown } };
  const headers = config?.headers;
  if (typeof headers !== 'function') return undefined;
  try {
    Reflect.apply(headers, config, []);
    return undefined;
  } catch (error) {
    return keyVariable(error);
  }
}

/** The variable that the error of a missing key names; undefined for any other error. */
export function keyVariable(error: unknown): string | undefined {
  const { name, message } = Object(error) as { readonly [key: string]: unknown };
  if (name !== 'AI_LoadAPIKeyError' || typeof message !== 'string') return undefined;
  return VARIABLE.exec(message)?.[1];
}
