/**
 * Token counts from any provider's report.
 *
 * Providers disagree about totals: some leave cached tokens out of the input, some leave reasoning
 * out of the output. Here input always includes cached tokens, and output always includes
 * reasoning.
 */
import { exactSum } from '../base/exact-sum.ts';
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
 * provider's total is ignored. Bedrock shares `inputTokens` with the AI SDK, and Anthropic shares
 * `input_tokens` with OpenAI: their cache fields tell them apart. Bedrock and Anthropic leave the
 * cache out of the input.
 *
 * @example
 * readUsage({ prompt_tokens: 12, completion_tokens: 3 }).usage.inputTokens // 12
 */
export function readUsage(raw: unknown): UsageReading {
  const usage = isPlainObject(raw) ? (aiSdkObjects(raw) ?? readFlat(raw)) : undefined;
  return { usage: usage ?? countsOf({}, AI_SDK_OBJECTS), known: usage !== undefined };
}

/** Whether a report has fields of a known shape, even without counts. */
export function hasUsageFields(raw: unknown): boolean {
  if (!isPlainObject(raw)) return false;
  const names = [AI_SDK_OBJECTS, ...FLAT_SHAPES].flatMap(({ input, output }) => [input, output]);
  return names.some((path) => at(raw, path) !== undefined);
}

/** The cost in micro-dollars that a model function reports with its usage, if any. */
export function readReportedCost(raw: unknown): number | undefined {
  if (!isPlainObject(raw)) return undefined;
  const cost = [raw['costMicroUsd'], raw['cost_micro_usd']].find(isReported);
  return cost === undefined ? undefined : toCount(cost);
}

/** The sum of two usages, field by field. */
export function addUsage(left: TokenUsage, right: TokenUsage): TokenUsage {
  return {
    inputTokens: exactSum(left.inputTokens, right.inputTokens),
    outputTokens: exactSum(left.outputTokens, right.outputTokens),
    cachedInputTokens: exactSum(left.cachedInputTokens, right.cachedInputTokens),
    cacheWriteTokens: exactSum(left.cacheWriteTokens, right.cacheWriteTokens),
    reasoningTokens: exactSum(left.reasoningTokens, right.reasoningTokens),
    costMicroUsd: exactSum(left.costMicroUsd, right.costMicroUsd),
  };
}

/** Where a provider's report has its counts: paths of fields; of several, the first that is there. */
interface Shape {
  /** Default: whether the report has input or output. */
  readonly fits?: (raw: Fields) => boolean;
  readonly input: string;
  readonly output: string;
  readonly cached?: string | readonly string[];
  readonly written?: string;
  readonly reasoning?: string | readonly string[];
  /** What is left out of input or output and must be added. */
  readonly apart?: 'cache' | 'reasoning';
}

/** AI SDK 6. */
const AI_SDK_OBJECTS: Shape = {
  input: 'inputTokens.total',
  output: 'outputTokens.total',
  cached: 'inputTokens.cacheRead',
  written: 'inputTokens.cacheWrite',
  reasoning: 'outputTokens.reasoning',
};

/** The shapes with top-level fields, in order of preference. */
const FLAT_SHAPES: readonly Shape[] = [
  // AI SDK 5 and model functions.
  {
    fits: (raw) => !hasBedrockCache(raw) && hasEither(raw, 'inputTokens', 'outputTokens'),
    input: 'inputTokens',
    output: 'outputTokens',
    cached: 'cachedInputTokens',
    written: 'cacheWriteInputTokens',
    reasoning: 'reasoningTokens',
  },
  // Older AI SDKs.
  { input: 'promptTokens', output: 'completionTokens' },
  // Ollama's own API.
  { input: 'prompt_eval_count', output: 'eval_count' },
  // Cohere counts all tokens, and apart from them those that it bills.
  { input: 'tokens.input_tokens', output: 'tokens.output_tokens', cached: 'cached_tokens' },
  { input: 'billed_units.input_tokens', output: 'billed_units.output_tokens' },
  // Model functions.
  { input: 'tokens.input', output: 'tokens.output', cached: 'tokens.cached' },
  { input: 'input', output: 'output', cached: 'cached' },
  // OpenAI chat completions and servers that copy them, such as Ollama. Proxies for Anthropic add
  // the tokens written to the cache under Anthropic's name; they are part of the input.
  {
    input: 'prompt_tokens',
    output: 'completion_tokens',
    cached: 'prompt_tokens_details.cached_tokens',
    written: 'cache_creation_input_tokens',
    reasoning: 'completion_tokens_details.reasoning_tokens',
  },
  // OpenAI responses, and model functions in snake case.
  {
    fits: (raw) => !hasAnthropicCache(raw) && hasEither(raw, 'input_tokens', 'output_tokens'),
    input: 'input_tokens',
    output: 'output_tokens',
    cached: ['input_tokens_details.cached_tokens', 'cached_input_tokens'],
    written: 'cache_write_input_tokens',
    reasoning: ['output_tokens_details.reasoning_tokens', 'reasoning_tokens'],
  },
  // Anthropic.
  {
    fits: hasAnthropicCache,
    input: 'input_tokens',
    output: 'output_tokens',
    cached: 'cache_read_input_tokens',
    written: 'cache_creation_input_tokens',
    apart: 'cache',
  },
  // Google.
  {
    input: 'promptTokenCount',
    output: 'candidatesTokenCount',
    cached: 'cachedContentTokenCount',
    reasoning: 'thoughtsTokenCount',
    apart: 'reasoning',
  },
  // Amazon Bedrock.
  {
    fits: hasBedrockCache,
    input: 'inputTokens',
    output: 'outputTokens',
    cached: 'cacheReadInputTokens',
    written: 'cacheWriteInputTokens',
    apart: 'cache',
  },
];

function readFlat(raw: Fields): TokenCounts | undefined {
  const shape = FLAT_SHAPES.find(
    ({ fits, input, output }) => fits?.(raw) ?? hasEither(raw, input, output),
  );
  return shape === undefined ? undefined : countsOf(raw, shape);
}

function aiSdkObjects(raw: Fields): TokenCounts | undefined {
  const { input, output } = AI_SDK_OBJECTS;
  if (!isPlainObject(raw['inputTokens']) && !isPlainObject(raw['outputTokens'])) return undefined;
  if (hasEither(raw, input, output)) return countsOf(raw, AI_SDK_OBJECTS);
  // The provider's adapter found no counts in the report, but the raw report may be readable.
  return isPlainObject(raw['raw']) ? readFlat(raw['raw']) : undefined;
}

function hasAnthropicCache(raw: Fields): boolean {
  return hasEither(raw, 'cache_read_input_tokens', 'cache_creation_input_tokens');
}

function hasBedrockCache(raw: Fields): boolean {
  const ofAiSdk = isReported(raw['cachedInputTokens']);
  return !ofAiSdk && hasEither(raw, 'cacheReadInputTokens', 'cacheWriteInputTokens');
}

function hasEither(raw: Fields, first: string, second: string): boolean {
  return isReported(at(raw, first)) || isReported(at(raw, second));
}

function isReported(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && value.trim() !== '');
}

/** The value at a path such as `usage.total`. */
function at(raw: Fields, path: string): unknown {
  return path
    .split('.')
    .reduce((value: unknown, key) => (isPlainObject(value) ? value[key] : undefined), raw);
}

function countsOf(raw: Fields, shape: Shape): TokenCounts {
  const count = (paths: string | readonly string[] = []): number =>
    toCount(
      [paths]
        .flat()
        .map((path) => at(raw, path))
        .find(isReported),
    );
  const cachedInputTokens = count(shape.cached);
  const cacheWriteTokens = count(shape.written);
  const reasoningTokens = count(shape.reasoning);
  const cache = shape.apart === 'cache' ? exactSum(cachedInputTokens, cacheWriteTokens) : 0;
  const reasoning = shape.apart === 'reasoning' ? reasoningTokens : 0;
  return {
    inputTokens: exactSum(count(shape.input), cache),
    outputTokens: exactSum(count(shape.output), reasoning),
    cachedInputTokens,
    cacheWriteTokens,
    reasoningTokens,
  };
}

/** An integer from 0 to the largest exact one; 0 for other values. */
function toCount(value: unknown): number {
  if (!isReported(value)) return 0;
  const rounded = Math.round(Number(value));
  // Written so that NaN and infinities also become 0.
  return rounded > 0 && rounded <= Number.MAX_SAFE_INTEGER ? rounded : 0;
}
