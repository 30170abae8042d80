/**
 * Translates the setting `reasoning` to the provider options of models of specification v3, which
 * has no such option. Options that are already set are kept.
 *
 * Efforts that a model does not know become the nearest that it knows. Models that take a budget of
 * tokens get the shares that the AI SDK 7 uses.
 */
import type { SharedV4ProviderOptions } from '@ai-sdk-7/provider';
import type { JsonObject } from '../../core/base/json.ts';
import type { LanguageModel } from '../../define/model/language-model.ts';
import {
  reasoningFamily,
  type ReasoningEffort,
  type ReasoningFamily,
} from '../../define/model/reasoning.ts';
import { UsageError } from '../../core/base/usage-error.ts';

type Effort = Exclude<ReasoningEffort, 'provider-default'>;

/** What the translation depends on besides the provider. */
interface Asked {
  readonly modelId: string;
  readonly effort: Effort;
  readonly maxOutputTokens: number;
}

/** The length of a reply that is assumed for budgets when no maximum is set. */
const USUAL_OUTPUT_TOKENS = 32_000;

/** The part of a reply that reasoning may take, per thousand. */
const SHARES: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 20,
  low: 100,
  medium: 300,
  high: 600,
  xhigh: 900,
  max: 950,
};

const TRANSLATIONS: Readonly<
  Record<ReasoningFamily, { readonly key: string; readonly options: (asked: Asked) => JsonObject }>
> = {
  openai: { key: 'openai', options: openAiOptions },
  'openai-compatible': { key: 'openaiCompatible', options: openAiOptions },
  anthropic: { key: 'anthropic', options: anthropicOptions },
  google: { key: 'google', options: googleOptions },
};

/**
 * The provider options of a call with `reasoning`.
 *
 * @throws UsageError when the provider's options are not known.
 */
export function withReasoning(
  model: LanguageModel,
  effort: Effort,
  given: {
    readonly maxOutputTokens?: number | undefined;
    readonly providerOptions: SharedV4ProviderOptions;
  },
): SharedV4ProviderOptions {
  const family = reasoningFamily(model);
  if (family === undefined) {
    throw new UsageError(
      'model_settings',
      `Expected no setting "reasoning" for a model of ${model.provider} of the AI SDK 6, got "${effort}". Use its package for the AI SDK 7, or \`providerOptions\`.`,
    );
  }
  const { maxOutputTokens = USUAL_OUTPUT_TOKENS, providerOptions } = given;
  const { key, options } = TRANSLATIONS[family];
  const name = model.provider.startsWith('azure') ? 'azure' : key;
  const asked = options({ modelId: model.modelId, effort, maxOutputTokens });
  return { ...providerOptions, [name]: { ...asked, ...providerOptions[name] } };
}

function openAiOptions({ effort }: Asked): JsonObject {
  return { reasoningEffort: effort === 'max' ? 'xhigh' : effort };
}

/** Claude from 4.6 on gets no budget. */
function anthropicOptions({ modelId, effort, maxOutputTokens }: Asked): JsonObject {
  if (hasThinkingBudget(modelId)) {
    if (effort === 'none') return { thinking: { type: 'disabled' } };
    return { thinking: { type: 'enabled', budgetTokens: share(effort, maxOutputTokens, 1_024) } };
  }
  // The newest models cannot be kept from thinking.
  if (effort === 'none') return { effort: 'low' };
  return { thinking: { type: 'adaptive' }, effort: effort === 'minimal' ? 'low' : effort };
}

/** Whether a Claude thinks for a budget; from 4.6 on it decides itself how long it thinks. */
export function hasThinkingBudget(modelId: string): boolean {
  return /claude-(?:3\b|(?:opus|sonnet|haiku)-4-(?:[015]\b|2025))/.test(modelId);
}

/** Gemini from 3 on takes a level, older ones a budget. */
function googleOptions({ modelId, effort, maxOutputTokens }: Asked): JsonObject {
  const isPro = /\bpro\b/.test(modelId);
  if (!/gemini-[12]\b/.test(modelId))
    return { thinkingConfig: { thinkingLevel: level(effort, isPro) } };
  // Gemini 2.5 Pro cannot be kept from thinking.
  const least = isPro ? 128 : 0;
  const thinkingBudget = Math.min(share(effort, maxOutputTokens, least), isPro ? 32_768 : 24_576);
  return { thinkingConfig: { thinkingBudget } };
}

function level(effort: Effort, isPro: boolean): string {
  if (effort === 'none' || effort === 'minimal') return isPro ? 'low' : 'minimal';
  return effort === 'xhigh' || effort === 'max' ? 'high' : effort;
}

function share(effort: Effort, tokens: number, least: number): number {
  return Math.max(least, Math.floor((tokens * SHARES[effort]) / 1_000));
}
