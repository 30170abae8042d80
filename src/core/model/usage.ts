/**
 * Token counts from any provider's report.
 *
 * Providers disagree about totals: some leave cached tokens out of the input, some leave reasoning
 * out of the output. Here input always includes cached tokens, and output always includes
 * reasoning.
 */
import { isPlainObject } from '../base/json.ts';
import type { TokenUsage } from '../contract/model.ts';

/** Token counts without their cost. */
export type TokenCounts = Omit<TokenUsage, 'costMicroUsd'>;

/** A report's counts; `known` is false if it has neither input nor output in a known shape. */
export interface UsageReading {
  readonly usage: TokenCounts;
  readonly known: boolean;
}

type Fields = { readonly [key: string]: unknown };

/** No tokens and no cost: the start of every sum. */
export const noUsage: TokenUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  costMicroUsd: 0,
};

/**
 * Reads a report in the first shape that fits; never throws.
 *
 * Numbers may be text; negative numbers and other values count as 0, fractions are rounded. The
 * provider's total is ignored. Two shapes share names with others and are recognised by their cache
 * fields: Bedrock and the AI SDK (`inputTokens`), Anthropic and OpenAI (`input_tokens`). Bedrock
 * and Anthropic leave the cache out of the input.
 *
 * @example
 * readUsage({ prompt_tokens: 12, completion_tokens: 3 }).usage.inputTokens // 12
 */
export function readUsage(raw: unknown): UsageReading {
  const usage = isPlainObject(raw) ? (aiSdkObjects(raw) ?? readFlat(raw)) : undefined;
  return { usage: usage ?? countsOf({}), known: usage !== undefined };
}

/** The cost in micro-dollars that a model function reports with its usage, if any. */
export function readReportedCost(raw: unknown): number | undefined {
  if (!isPlainObject(raw) || !isReported(raw['costMicroUsd'])) return undefined;
  return toCount(raw['costMicroUsd']);
}

/** The sum of two usages, field by field. */
export function addUsage(left: TokenUsage, right: TokenUsage): TokenUsage {
  return {
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    cachedInputTokens: left.cachedInputTokens + right.cachedInputTokens,
    cacheWriteTokens: left.cacheWriteTokens + right.cacheWriteTokens,
    reasoningTokens: left.reasoningTokens + right.reasoningTokens,
    costMicroUsd: left.costMicroUsd + right.costMicroUsd,
  };
}

/** The shapes with top-level fields, in order of preference; undefined if none fits. */
function readFlat(raw: Fields): TokenCounts | undefined {
  return (
    aiSdkNumbers(raw) ??
    openAiChat(raw) ??
    openAiResponses(raw) ??
    anthropic(raw) ??
    google(raw) ??
    bedrock(raw)
  );
}

/** AI SDK 6: `{ inputTokens: { total, cacheRead, cacheWrite }, outputTokens: { total, reasoning } }`. */
function aiSdkObjects(raw: Fields): TokenCounts | undefined {
  const input = raw['inputTokens'];
  const output = raw['outputTokens'];
  if (!isPlainObject(input) && !isPlainObject(output)) return undefined;
  if (!isReported(at(input, 'total')) && !isReported(at(output, 'total'))) {
    // The provider's adapter found no counts in the report, but the raw report may be readable.
    const nested = raw['raw'];
    return isPlainObject(nested) ? readFlat(nested) : undefined;
  }
  return countsOf({
    input: toCount(at(input, 'total')),
    output: toCount(at(output, 'total')),
    cached: at(input, 'cacheRead'),
    written: at(input, 'cacheWrite'),
    reasoning: at(output, 'reasoning'),
  });
}

/** AI SDK 5 and model functions: plain numbers, cached ones included in the input. */
function aiSdkNumbers(raw: Fields): TokenCounts | undefined {
  if (hasBedrockCache(raw) || !hasEither(raw, 'inputTokens', 'outputTokens')) return undefined;
  return countsOf({
    input: toCount(raw['inputTokens']),
    output: toCount(raw['outputTokens']),
    cached: raw['cachedInputTokens'],
    written: raw['cacheWriteInputTokens'],
    reasoning: raw['reasoningTokens'],
  });
}

/**
 * OpenAI chat completions and servers that copy them, such as Ollama. Proxies for Anthropic add the
 * tokens written to the cache under Anthropic's name; they are part of the input.
 */
function openAiChat(raw: Fields): TokenCounts | undefined {
  if (!hasEither(raw, 'prompt_tokens', 'completion_tokens')) return undefined;
  return countsOf({
    input: toCount(raw['prompt_tokens']),
    output: toCount(raw['completion_tokens']),
    cached: at(raw['prompt_tokens_details'], 'cached_tokens'),
    written: raw['cache_creation_input_tokens'],
    reasoning: at(raw['completion_tokens_details'], 'reasoning_tokens'),
  });
}

/** OpenAI responses. */
function openAiResponses(raw: Fields): TokenCounts | undefined {
  if (hasAnthropicCache(raw) || !hasEither(raw, 'input_tokens', 'output_tokens')) return undefined;
  return countsOf({
    input: toCount(raw['input_tokens']),
    output: toCount(raw['output_tokens']),
    cached: at(raw['input_tokens_details'], 'cached_tokens'),
    reasoning: at(raw['output_tokens_details'], 'reasoning_tokens'),
  });
}

/** Anthropic: `input_tokens` excludes tokens read from and written to the cache. */
function anthropic(raw: Fields): TokenCounts | undefined {
  if (!hasAnthropicCache(raw)) return undefined;
  const cached = toCount(raw['cache_read_input_tokens']);
  const written = toCount(raw['cache_creation_input_tokens']);
  return countsOf({
    input: toCount(raw['input_tokens']) + cached + written,
    output: toCount(raw['output_tokens']),
    cached,
    written,
  });
}

/** Google: `candidatesTokenCount` excludes thoughts. */
function google(raw: Fields): TokenCounts | undefined {
  if (!hasEither(raw, 'promptTokenCount', 'candidatesTokenCount')) return undefined;
  const reasoning = toCount(raw['thoughtsTokenCount']);
  return countsOf({
    input: toCount(raw['promptTokenCount']),
    output: toCount(raw['candidatesTokenCount']) + reasoning,
    cached: raw['cachedContentTokenCount'],
    reasoning,
  });
}

/** Amazon Bedrock: `inputTokens` excludes tokens read from and written to the cache. */
function bedrock(raw: Fields): TokenCounts | undefined {
  if (!hasBedrockCache(raw)) return undefined;
  const cached = toCount(raw['cacheReadInputTokens']);
  const written = toCount(raw['cacheWriteInputTokens']);
  return countsOf({
    input: toCount(raw['inputTokens']) + cached + written,
    output: toCount(raw['outputTokens']),
    cached,
    written,
  });
}

function hasAnthropicCache(raw: Fields): boolean {
  return hasEither(raw, 'cache_read_input_tokens', 'cache_creation_input_tokens');
}

function hasBedrockCache(raw: Fields): boolean {
  const ofAiSdk = isReported(raw['cachedInputTokens']);
  return !ofAiSdk && hasEither(raw, 'cacheReadInputTokens', 'cacheWriteInputTokens');
}

function hasEither(raw: Fields, first: string, second: string): boolean {
  return isReported(raw[first]) || isReported(raw[second]);
}

function isReported(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && value.trim() !== '');
}

function at(value: unknown, key: string): unknown {
  return isPlainObject(value) ? value[key] : undefined;
}

interface RawCounts {
  readonly input?: number;
  readonly output?: number;
  readonly cached?: unknown;
  readonly written?: unknown;
  readonly reasoning?: unknown;
}

function countsOf(counts: RawCounts): TokenCounts {
  return {
    inputTokens: counts.input ?? 0,
    outputTokens: counts.output ?? 0,
    cachedInputTokens: toCount(counts.cached),
    cacheWriteTokens: toCount(counts.written),
    reasoningTokens: toCount(counts.reasoning),
  };
}

/** An integer from 0 to the largest exact one; 0 for other values. */
function toCount(value: unknown): number {
  if (!isReported(value)) return 0;
  const rounded = Math.round(Number(value));
  // Written so that NaN and infinities also become 0.
  return rounded > 0 && rounded <= Number.MAX_SAFE_INTEGER ? rounded : 0;
}
