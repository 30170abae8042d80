import { describe, expect, test } from 'vitest';
import { costMicroUsd, priceUsage } from '../../../src/core/model/cost.ts';
import type { Price } from '../../../src/core/contract/model.ts';
import type { TokenCounts } from '../../../src/core/model/usage.ts';

const none: TokenCounts = {
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

describe('costMicroUsd [row 52]', () => {
  const rows: { name: string; counts: Partial<TokenCounts>; price: Price; cost: number }[] = [
    {
      name: 'input and output',
      counts: { inputTokens: 1_000, outputTokens: 100 },
      price: { input: 3, output: 15 },
      cost: 4_500,
    },
    {
      name: 'cached input at its own price',
      counts: { inputTokens: 1_000, cachedInputTokens: 400 },
      price: { input: 3, output: 15, cachedInput: 0.3 },
      cost: 600 * 3 + 120,
    },
    {
      name: 'cached input at the price of input, if it has none',
      counts: { inputTokens: 1_000, cachedInputTokens: 400 },
      price: { input: 3, output: 15 },
      cost: 3_000,
    },
    {
      name: 'input written to the cache at its own price',
      counts: { inputTokens: 1_000, cacheWriteTokens: 200 },
      price: { input: 3, output: 15, cacheWrite: 3.75 },
      cost: 800 * 3 + 750,
    },
    {
      name: 'input written to the cache at the price of input, if it has none',
      counts: { inputTokens: 1_000, cacheWriteTokens: 200 },
      price: { input: 3, output: 15, cachedInput: 0.3 },
      cost: 3_000,
    },
    {
      name: 'all four at once',
      counts: {
        inputTokens: 1_000,
        cachedInputTokens: 400,
        cacheWriteTokens: 200,
        outputTokens: 10,
        reasoningTokens: 5,
      },
      price: { input: 3, output: 15, cachedInput: 0.3, cacheWrite: 3.75 },
      cost: 400 * 3 + 120 + 750 + 150,
    },
    {
      name: 'a fraction of a micro-dollar, rounded up',
      counts: { inputTokens: 1 },
      price: { input: 0.15, output: 0.6 },
      cost: 1,
    },
    {
      name: 'fractional prices whose floats do not add up',
      counts: { inputTokens: 10, outputTokens: 10 },
      price: { input: 0.1, output: 0.2 },
      cost: 3,
    },
    {
      name: 'a price with a float just above its decimal',
      counts: { inputTokens: 100 },
      price: { input: 1.1, output: 0 },
      cost: 110,
    },
    {
      name: 'a price of six decimals',
      counts: { inputTokens: 1_000_000 },
      price: { input: 0.000001, output: 0 },
      cost: 1,
    },
    {
      name: 'a price below six decimals, rounded',
      counts: { inputTokens: 1_000_000 },
      price: { input: 0.0000004, output: 0 },
      cost: 0,
    },
    {
      name: 'more tokens than a float product holds exactly',
      counts: { inputTokens: 9_007_199_254 },
      price: { input: 1.000001, output: 0 },
      cost: 9_007_208_262,
    },
    {
      name: 'a report that says more of cached input than of input',
      counts: { inputTokens: 10, cachedInputTokens: 40 },
      price: { input: 3, output: 15, cachedInput: 1 },
      cost: 40,
    },
    { name: 'nothing', counts: {}, price: { input: 3, output: 15 }, cost: 0 },
    { name: 'a price of 0', counts: { inputTokens: 5 }, price: { input: 0, output: 0 }, cost: 0 },
  ];

  test.each(rows)('counts $name', ({ counts, price, cost }) => {
    expect(costMicroUsd({ ...none, ...counts }, price)).toBe(cost);
  });

  test('is 0 without a price', () => {
    expect(costMicroUsd({ ...none, inputTokens: 1_000 }, undefined)).toBe(0);
  });
});

describe('priceUsage [row 52]', () => {
  const price = { input: 3, output: 15 };

  test('adds the cost at the price', () => {
    expect(priceUsage({ prompt_tokens: 10, completion_tokens: 2 }, price)).toEqual({
      usage: { ...none, inputTokens: 10, outputTokens: 2, costMicroUsd: 60 },
      known: true,
    });
  });

  test('prefers the cost that was reported', () => {
    expect(priceUsage({ inputTokens: 10, outputTokens: 2, costMicroUsd: 7 }, price)).toEqual({
      usage: { ...none, inputTokens: 10, outputTokens: 2, costMicroUsd: 7 },
      known: true,
    });
  });

  test('knows a usage that is a reported cost alone', () => {
    expect(priceUsage({ costMicroUsd: 7 }, price)).toEqual({
      usage: { ...none, costMicroUsd: 7 },
      known: true,
    });
  });

  test('says unknown when nothing was reported', () => {
    expect(priceUsage(undefined, price)).toEqual({
      usage: { ...none, costMicroUsd: 0 },
      known: false,
    });
  });
});
