import { describe, expect, test } from 'vitest';
import type { TokenCounts } from '../../../src/core/model/usage.ts';
import { priceUsage } from '../../../src/core/model/cost.ts';
import {
  addUsage,
  checkedUsage,
  noUsage,
  readReportedCost,
  readUsage,
} from '../../../src/core/model/usage.ts';

/** What no count and no cost can be. */
const IMPOSSIBLE: readonly unknown[] = [
  -500,
  -1e15,
  -0.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  1e308,
  Number.MAX_SAFE_INTEGER,
  'many',
  '-5',
  '1e308',
  '0x10',
  'Infinity',
  true,
  [5],
  { many: 5 },
];

const none: TokenCounts = {
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

describe('readUsage [row 52]', () => {
  const shapes: { name: string; raw: unknown; usage: TokenCounts }[] = [
    {
      name: 'AI SDK, numbers',
      raw: { inputTokens: 100, outputTokens: 40, cachedInputTokens: 30, reasoningTokens: 8 },
      usage: {
        ...none,
        inputTokens: 100,
        outputTokens: 40,
        cachedInputTokens: 30,
        reasoningTokens: 8,
      },
    },
    {
      name: 'AI SDK, numbers, with what was written to the cache',
      raw: { inputTokens: 100, outputTokens: 4, cachedInputTokens: 30, cacheWriteInputTokens: 20 },
      usage: {
        ...none,
        inputTokens: 100,
        outputTokens: 4,
        cachedInputTokens: 30,
        cacheWriteTokens: 20,
      },
    },
    {
      name: 'Ollama, its own API',
      raw: { prompt_eval_count: 26, eval_count: 298, eval_duration: 4_709_213_000 },
      usage: { ...none, inputTokens: 26, outputTokens: 298 },
    },
    {
      name: 'older AI SDKs',
      raw: { promptTokens: 12, completionTokens: 3, totalTokens: 15 },
      usage: { ...none, inputTokens: 12, outputTokens: 3 },
    },
    {
      name: 'Cohere',
      raw: {
        billed_units: { input_tokens: 5, output_tokens: 40 },
        tokens: { input_tokens: 71, output_tokens: 44 },
        cached_tokens: 16,
      },
      usage: { ...none, inputTokens: 71, outputTokens: 44, cachedInputTokens: 16 },
    },
    {
      name: 'Cohere, only what is billed',
      raw: { billed_units: { input_tokens: 5, output_tokens: 40 } },
      usage: { ...none, inputTokens: 5, outputTokens: 40 },
    },
    {
      name: 'input and output under tokens',
      raw: { tokens: { input: 7, output: 2 } },
      usage: { ...none, inputTokens: 7, outputTokens: 2 },
    },
    {
      name: 'snake case',
      raw: { input_tokens: 9, output_tokens: 4, cached_input_tokens: 3, reasoning_tokens: 1 },
      usage: { ...none, inputTokens: 9, outputTokens: 4, cachedInputTokens: 3, reasoningTokens: 1 },
    },
    {
      name: 'OpenAI chat, from a proxy in front of Anthropic',
      raw: {
        prompt_tokens: 100,
        completion_tokens: 4,
        prompt_tokens_details: { cached_tokens: 30 },
        cache_creation_input_tokens: 20,
      },
      usage: {
        ...none,
        inputTokens: 100,
        outputTokens: 4,
        cachedInputTokens: 30,
        cacheWriteTokens: 20,
      },
    },
    {
      name: 'AI SDK, objects',
      raw: {
        inputTokens: { total: 100, noCache: 65, cacheRead: 30, cacheWrite: 5 },
        outputTokens: { total: 40, text: 32, reasoning: 8 },
      },
      usage: {
        inputTokens: 100,
        outputTokens: 40,
        cachedInputTokens: 30,
        cacheWriteTokens: 5,
        reasoningTokens: 8,
      },
    },
    {
      name: 'AI SDK, objects without totals, with the report of the provider',
      raw: {
        inputTokens: { total: undefined },
        outputTokens: { total: undefined },
        raw: { prompt_tokens: 7, completion_tokens: 3 },
      },
      usage: { ...none, inputTokens: 7, outputTokens: 3 },
    },
    {
      name: 'AI SDK, objects, input alone',
      raw: { inputTokens: { total: 9 }, outputTokens: { total: undefined } },
      usage: { ...none, inputTokens: 9 },
    },
    {
      name: 'OpenAI chat',
      raw: {
        prompt_tokens: 100,
        completion_tokens: 40,
        total_tokens: 999,
        prompt_tokens_details: { cached_tokens: 30 },
        completion_tokens_details: { reasoning_tokens: 8 },
      },
      usage: {
        ...none,
        inputTokens: 100,
        outputTokens: 40,
        cachedInputTokens: 30,
        reasoningTokens: 8,
      },
    },
    {
      name: 'Ollama',
      raw: { prompt_tokens: 12, completion_tokens: 4, total_tokens: 16 },
      usage: { ...none, inputTokens: 12, outputTokens: 4 },
    },
    {
      name: 'OpenAI responses',
      raw: {
        input_tokens: 100,
        output_tokens: 40,
        total_tokens: 999,
        input_tokens_details: { cached_tokens: 30 },
        output_tokens_details: { reasoning_tokens: 8 },
      },
      usage: {
        ...none,
        inputTokens: 100,
        outputTokens: 40,
        cachedInputTokens: 30,
        reasoningTokens: 8,
      },
    },
    {
      name: 'Anthropic',
      raw: {
        input_tokens: 65,
        output_tokens: 40,
        cache_read_input_tokens: 30,
        cache_creation_input_tokens: 5,
      },
      usage: {
        ...none,
        inputTokens: 100,
        outputTokens: 40,
        cachedInputTokens: 30,
        cacheWriteTokens: 5,
      },
    },
    {
      name: 'Anthropic, cache read alone',
      raw: { input_tokens: 70, output_tokens: 40, cache_read_input_tokens: 30 },
      usage: { ...none, inputTokens: 100, outputTokens: 40, cachedInputTokens: 30 },
    },
    {
      name: 'Anthropic without a cache',
      raw: { input_tokens: 70, output_tokens: 40 },
      usage: { ...none, inputTokens: 70, outputTokens: 40 },
    },
    {
      name: 'Google',
      raw: {
        promptTokenCount: 100,
        candidatesTokenCount: 32,
        thoughtsTokenCount: 8,
        cachedContentTokenCount: 30,
        totalTokenCount: 999,
      },
      usage: {
        ...none,
        inputTokens: 100,
        outputTokens: 40,
        cachedInputTokens: 30,
        reasoningTokens: 8,
      },
    },
    {
      name: 'Bedrock',
      raw: {
        inputTokens: 65,
        outputTokens: 40,
        cacheReadInputTokens: 30,
        cacheWriteInputTokens: 5,
        totalTokens: 999,
      },
      usage: {
        ...none,
        inputTokens: 100,
        outputTokens: 40,
        cachedInputTokens: 30,
        cacheWriteTokens: 5,
      },
    },
    {
      name: 'Bedrock without a cache',
      raw: { inputTokens: 65, outputTokens: 40 },
      usage: { ...none, inputTokens: 65, outputTokens: 40 },
    },
    {
      name: 'two shapes: the first of the table',
      raw: { inputTokens: 1, outputTokens: 2, prompt_tokens: 10, completion_tokens: 20 },
      usage: { ...none, inputTokens: 1, outputTokens: 2 },
    },
    {
      name: 'numbers as text',
      raw: { prompt_tokens: '12', completion_tokens: ' 3 ' },
      usage: { ...none, inputTokens: 12, outputTokens: 3 },
    },
    {
      name: 'fractions are rounded up',
      raw: { inputTokens: 1.5, outputTokens: '2.4' },
      usage: { ...none, inputTokens: 2, outputTokens: 3 },
    },
    {
      name: 'one of the two is missing',
      raw: { completion_tokens: 3 },
      usage: { ...none, outputTokens: 3 },
    },
    {
      name: 'null in the details',
      raw: { prompt_tokens: 3, completion_tokens: 1, prompt_tokens_details: null },
      usage: { ...none, inputTokens: 3, outputTokens: 1 },
    },
  ];

  test.each(shapes)('reads $name', ({ raw, usage }) => {
    const reading = readUsage(raw);

    expect(reading).toEqual({ usage, known: true });
  });

  const unknown: { name: string; raw: unknown }[] = [
    { name: 'nothing', raw: undefined },
    { name: 'null', raw: null },
    { name: 'text', raw: '12 tokens' },
    { name: 'a list', raw: [12, 3] },
    { name: 'an empty object', raw: {} },
    { name: 'a total alone', raw: { total_tokens: 15 } },
    { name: 'AI SDK objects without anything', raw: { inputTokens: {}, outputTokens: {} } },
    { name: 'null in the place of numbers', raw: { prompt_tokens: null, completion_tokens: null } },
    { name: 'a report that holds itself', raw: cyclic() },
  ];

  test.each(unknown)('counts 0 and says unknown for $name', ({ raw }) => {
    const reading = readUsage(raw);

    expect(reading).toEqual({ usage: none, known: false });
  });
});

describe('counts that cannot be [row 52]', () => {
  test.each(IMPOSSIBLE)('make a report as none, and are named: %s', (value) => {
    const reports = [
      { inputTokens: value, outputTokens: 3 },
      { inputTokens: { total: 5 }, outputTokens: { total: 3, reasoning: value } },
      { prompt_tokens: 5, completion_tokens: value },
      { prompt_tokens: 5, completion_tokens: 3, prompt_tokens_details: { cached_tokens: value } },
      { input_tokens: value, output_tokens: 3, cache_read_input_tokens: 1 },
      { promptTokenCount: 5, candidatesTokenCount: 3, thoughtsTokenCount: value },
    ];

    for (const raw of reports) {
      expect(readUsage(raw)).toEqual({
        usage: none,
        known: false,
        problem: expect.stringMatching(/^`[\w.]+` /),
      });
    }
  });

  test('say which field, and what it has', () => {
    expect(readUsage({ inputTokens: 5, outputTokens: -500 }).problem).toBe('`outputTokens` -500');
  });
});

describe('readReportedCost [row 52]', () => {
  test.each([
    { name: 'a number', raw: { costMicroUsd: 12 }, read: { cost: 12 } },
    { name: 'text', raw: { costMicroUsd: '12' }, read: { cost: 12 } },
    { name: 'a fraction', raw: { costMicroUsd: 12.6 }, read: { cost: 13 } },
    { name: 'nothing', raw: {}, read: {} },
    { name: 'no object', raw: 12, read: {} },
  ])('reads $name', ({ raw, read }) => {
    expect(readReportedCost(raw)).toEqual(read);
  });

  test.each(IMPOSSIBLE)('takes no cost that cannot be: %s', (costMicroUsd) => {
    expect(readReportedCost({ costMicroUsd })).toEqual({
      problem: expect.stringMatching(/^`costMicroUsd` /),
    });
    const price = { input: 1, output: 1 };
    expect(priceUsage({ inputTokens: 5, outputTokens: 3, costMicroUsd }, price)).toMatchObject({
      usage: { costMicroUsd: 8 },
      known: true,
    });
  });
});

describe('checkedUsage', () => {
  test.each(IMPOSSIBLE)('counts nothing of usage with a number that cannot be: %s', (value) => {
    for (const name of Object.keys(noUsage)) {
      expect(checkedUsage({ ...noUsage, inputTokens: 5, [name]: value })).toMatchObject({
        usage: noUsage,
        problem: expect.stringContaining(name),
      });
    }
  });

  test('leaves other usage as it is', () => {
    const usage = { ...noUsage, inputTokens: 5, cacheWriteTokens: 2, costMicroUsd: 7 };
    expect(checkedUsage(usage)).toEqual({ usage });
  });
});

describe('addUsage', () => {
  const usage = {
    inputTokens: 1,
    outputTokens: 2,
    cachedInputTokens: 3,
    cacheWriteTokens: 4,
    reasoningTokens: 5,
    costMicroUsd: 6,
  };

  test('adds field by field', () => {
    expect(addUsage(usage, usage)).toEqual({
      inputTokens: 2,
      outputTokens: 4,
      cachedInputTokens: 6,
      cacheWriteTokens: 8,
      reasoningTokens: 10,
      costMicroUsd: 12,
    });
  });

  test('has no usage as its neutral element', () => {
    expect(addUsage(usage, noUsage)).toEqual(usage);
    expect(addUsage(noUsage, usage)).toEqual(usage);
  });
});

function cyclic(): unknown {
  const raw: { [key: string]: unknown } = { inputTokens: {}, outputTokens: {} };
  raw['raw'] = raw;
  return raw;
}
