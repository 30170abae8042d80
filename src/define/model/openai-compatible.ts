/** Models of `@ai-sdk/openai-compatible`, recognised by their fields: copies differ in class. */
import { isPlainObject } from '../../core/base/json.ts';
import type { LanguageModel } from './language-model.ts';

/** Whether the adapter for OpenAI-compatible servers made `model`. */
export function isOpenAiCompatible(model: LanguageModel): boolean {
  return compatibleConfig(model) !== undefined;
}

/**
 * `model`, which also asks its server for usage in streams; undefined if it does so already, if its
 * maker has set `includeUsage: false`, or if it is not OpenAI-compatible. `model` does not change.
 */
export function askingForUsage(model: LanguageModel): LanguageModel | undefined {
  const config = compatibleConfig(model);
  if (config === undefined || config['includeUsage'] !== undefined) return undefined;
  const asking: LanguageModel = Object.create(model, {
    config: { value: { ...config, includeUsage: true } },
  });
  return asking;
}

function compatibleConfig(model: LanguageModel): Readonly<Record<string, unknown>> | undefined {
  const config: unknown = Reflect.get(model, 'config');
  return isPlainObject(config) && 'includeUsage' in config ? config : undefined;
}
