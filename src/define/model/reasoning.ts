/** The setting `reasoning`: how much a model reasons before it answers. */
import type { CallSettings } from '../../core/contract/model.ts';
import { CALL_SETTINGS } from '../../core/model/call-settings.ts';
import type { LanguageModel } from './language-model.ts';
import { isOpenAiCompatible } from './openai-compatible.ts';

/** How much a model reasons; `provider-default` is as if it was not set. */
export type ReasoningEffort = NonNullable<CallSettings['reasoning']>;

/** Providers whose models of the AI SDK 6 take `reasoning` in the same way. */
export type ReasoningFamily = 'openai' | 'anthropic' | 'google' | 'openai-compatible';

/** The family of a model of the AI SDK 6; undefined if `reasoning` cannot be translated for it. */
export function reasoningFamily(model: LanguageModel): ReasoningFamily | undefined {
  const { provider } = model;
  if (isOpenAiCompatible(model)) return 'openai-compatible';
  if (/^(openai|azure)\b/.test(provider)) return 'openai';
  // `anthropic.messages`, and Claude on Google's Vertex.
  if (/^(anthropic|vertex\.anthropic)\b/.test(provider)) return 'anthropic';
  return /^google\b/.test(provider) ? 'google' : undefined;
}

/** Whether `value` is one of the efforts that the setting takes. */
export function isReasoningEffort(value: unknown): value is ReasoningEffort {
  return CALL_SETTINGS.reasoning.fits(value);
}
