/**
 * Token counts from any provider's report.
 *
 * Providers disagree about totals: some leave cached tokens out of the input, some leave reasoning
 * out of the output. Here input always includes cached tokens, and output always includes
 * reasoning.
 */
import { defined } from '../base/defined.ts';
import { exactSum } from '../base/exact-sum.ts';
import { isPlainObject } from '../base/json.ts';
import { shown } from '../text/shown.ts';
import type { TokenUsage } from '../contract/model.ts';

/** Token counts without their cost. */
export type TokenCounts = Omit<TokenUsage, 'costMicroUsd'>;

/**
 * A report's counts; `known` is false if it has neither input nor output in a known shape, or a count
 * that cannot be, which `problem` names.
 */
export interface UsageReading {
  readonly usage: TokenCounts;
  readonly known: boolean;
  readonly problem?: string;
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
 * Numbers may be text; fractions are rounded up. A report with a count that cannot be, such as a
 * negative one, is as none. The provider's total is ignored. Bedrock shares `inputTokens` with the AI SDK, and Anthropic shares
 * `input_tokens` with OpenAI: their cache fields tell them apart. Bedrock and Anthropic leave the
 * cache out of the input.
 *
 * @example
 * readUsage({ prompt_tokens: 12, completion_tokens: 3 }).usage.inputTokens // 12
 */
export function readUsage(raw: unknown): UsageReading {
  const read = isPlainObject(raw) ? (aiSdkObjects(raw) ?? readFlat(raw)) : undefined;
  if (read === undefined) return { usage: NO_COUNTS, known: false };
  const { problem, ...usage } = read;
  return problem === undefined
    ? { usage, known: true }
    : { usage: NO_COUNTS, known: false, problem };
}

/** `usage` that code of a user has written; nothing of it counts if one of its numbers cannot be. */
export function checkedUsage(usage: unknown): {
  readonly usage: TokenUsage;
  readonly problem?: string;
} {
  const given = isPlainObject(usage) ? usage : {};
  const checked = Object.keys(noUsage).map((name) => {
    const max = name === 'costMicroUsd' ? MAX_COST : MAX_TOKENS;
    return [name, readCount(given[name] ?? 0, max)] as const;
  });
  const wrong = checked.find(([, count]) => count === undefined)?.[0];
  if (wrong !== undefined) return { usage: noUsage, problem: problemOf(wrong, given[wrong]) };
  return { usage: Object.fromEntries(checked) as unknown as TokenUsage };
}

/** Whether a report has fields of a known shape, even without counts. */
export function hasUsageFields(raw: unknown): boolean {
  if (!isPlainObject(raw)) return false;
  const names = [AI_SDK_OBJECTS, ...FLAT_SHAPES].flatMap(({ input, output }) => [input, output]);
  return names.some((path) => at(raw, path) !== undefined);
}

/**
 * The cost in micro-dollars that a model function reports with its usage, if any. One that cannot be
 * is named by `problem`.
 */
export function readReportedCost(raw: unknown): {
  readonly cost?: number;
  readonly problem?: string;
} {
  if (!isPlainObject(raw)) return {};
  const name = ['costMicroUsd', 'cost_micro_usd'].find((key) => isPresent(raw[key]));
  if (name === undefined) return {};
  const cost = readCount(raw[name], MAX_COST);
  return cost === undefined ? { problem: problemOf(name, raw[name]) } : { cost };
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

/** Counts, and the name of the first that cannot be, with its value. */
type ReadCounts = TokenCounts & { readonly problem?: string };

function readFlat(raw: Fields): ReadCounts | undefined {
  const shape = FLAT_SHAPES.find(
    ({ fits, input, output }) => fits?.(raw) ?? hasEither(raw, input, output),
  );
  return shape === undefined ? undefined : countsOf(raw, shape);
}

function aiSdkObjects(raw: Fields): ReadCounts | undefined {
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

/** Whether there is anything in the place of a number. */
function isPresent(value: unknown): boolean {
  return (
    value !== undefined && value !== null && (typeof value !== 'string' || value.trim() !== '')
  );
}

/** The value at a path such as `usage.total`. */
function at(raw: Fields, path: string): unknown {
  return path
    .split('.')
    .reduce((value: unknown, key) => (isPlainObject(value) ? value[key] : undefined), raw);
}

function countsOf(raw: Fields, shape: Shape): ReadCounts {
  let problem: string | undefined;
  const count = (paths: string | readonly string[] = []): number => {
    const path = [paths].flat().find((one) => isPresent(at(raw, one)));
    if (path === undefined) return 0;
    const read = readCount(at(raw, path), MAX_TOKENS);
    if (read === undefined) problem ??= problemOf(path, at(raw, path));
    return read ?? 0;
  };
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
    ...defined({ problem }),
  };
}

const { costMicroUsd: _cost, ...NO_COUNTS } = noUsage;

/** The most tokens of one call: no model reads or writes so many. */
const MAX_TOKENS = 1_000_000_000;

/** The highest cost of one call, in micro-dollars: a million dollars. */
const MAX_COST = 1_000_000_000_000;

/** Digits with a fraction: other texts that are numbers to a runtime are no counts. */
const NUMBER = /^\s*\d{1,16}(?:\.\d{1,16})?\s*$/;

/** A whole number from 0 to `max`, rounded up; undefined for what cannot be. */
function readCount(value: unknown, max: number): number | undefined {
  const isNumber = typeof value === 'number' || (typeof value === 'string' && NUMBER.test(value));
  const count = isNumber ? Math.ceil(Number(value)) : Number.NaN;
  // Written so that NaN is none. A fraction above -1 would become -0.
  return Number(value) >= 0 && count <= max ? count : undefined;
}

function problemOf(path: string, value: unknown): string {
  return `\`${path}\` ${shown(value)}`;
}
