/** Models by the name of their provider: `openai/gpt-5-mini`, without an import. */
import type { ModelEntry } from './model-entry.ts';

/** A provider whose models can be named. */
export interface NamedProvider {
  /** The package that users install: `@ai-sdk/openai`. */
  readonly package: string;
  /** What the package exports: a provider with its default settings. */
  readonly exportName: string;
}

/** A model that is named by its provider. */
export interface ProviderModel extends NamedProvider {
  /** The model as its provider calls it: `gpt-5-mini`. */
  readonly modelId: string;
}

/** Providers of the AI SDK that read their key and address from the environment. */
const PROVIDERS: ReadonlyMap<string, NamedProvider> = new Map(
  [
    'anthropic',
    'azure',
    'cohere',
    'deepseek',
    'google',
    'groq',
    'mistral',
    'openai',
    'perplexity',
    'xai',
  ].map((name) => [name, { package: `@ai-sdk/${name}`, exportName: name }]),
);

/** The names of {@link NamedProvider}s, for messages. */
export const PROVIDER_NAMES: readonly string[] = [...PROVIDERS.keys()];

/** The model that `id` names; undefined if it does not begin with the name of a provider. */
export function namedModel(id: string): ProviderModel | undefined {
  const slash = id.indexOf('/');
  const provider = PROVIDERS.get(id.slice(0, Math.max(slash, 0)));
  const modelId = id.slice(slash + 1);
  return provider === undefined || modelId === '' ? undefined : { ...provider, modelId };
}

/**
 * The entry `id`: one of `models`, or one of its own for a model that is named by its provider. Such
 * an entry has no price.
 */
export function findEntry(
  models: ReadonlyMap<string, ModelEntry>,
  id: string,
): ModelEntry | undefined {
  return models.get(id) ?? (namedModel(id) === undefined ? undefined : { id, model: id });
}
