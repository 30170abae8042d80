/** Prices and context windows that workers know without being told. */
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { calcPrice } from '@pydantic/genai-prices';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { costMicroUsd } from '../../src/core/model/cost.ts';
import { noUsage } from '../../src/core/model/usage.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { LanguageModel } from '../../src/define/model/language-model.ts';
import type { ModelEntry } from '../../src/define/model/model-entry.ts';
import { modelEntryProblems } from '../../src/define/model/model-problems.ts';
import { hasDefaultCostLimit } from '../../src/registry/default-cost-limit.ts';
import {
  dataProviderOf,
  loadKnownModels,
  unpricedWarnings,
  type KnownModels,
} from '../../src/registry/known-prices.ts';
import { createRegistry } from '../../src/registry/registry.ts';

const apiKey = 'x';
const openai: ReturnType<typeof createOpenAI> = createOpenAI({ apiKey });
const GPT = { price: { input: 1.25, output: 10, cachedInput: 0.125 }, contextWindow: 400_000 };

type Asked = ModelEntry['model'];

let known: KnownModels;
beforeAll(async () => {
  known = await loadKnownModels({});
});

/** A model of the AI SDK as far as prices look at it. */
function modelOf(provider: string, modelId: string): LanguageModel {
  return { specificationVersion: 'v3', provider, modelId } as unknown as LanguageModel;
}

describe('what is known of a model', () => {
  test.each([
    ['openai.responses', 'openai'],
    ['openai.chat', 'openai'],
    ['azure.responses', 'azure'],
    ['azure-openai.chat', 'azure'],
    ['anthropic.messages', 'anthropic'],
    ['google.generative-ai', 'google'],
    ['google.vertex.chat', 'google'],
    ['vertex.anthropic.messages', 'google'],
    ['amazon-bedrock', 'aws'],
    ['bedrock.anthropic.messages', 'aws'],
    ['groq.chat', 'groq'],
    ['mistral.chat', 'mistral'],
    ['xai.responses', 'x-ai'],
    ['deepseek.chat', 'deepseek'],
    ['cohere.chat', 'cohere'],
    ['perplexity', 'perplexity'],
    ['togetherai.chat', 'together'],
    ['fireworks.chat', 'fireworks'],
    ['cerebras.chat', 'cerebras'],
    ['openrouter.chat', 'openrouter'],
    ['moonshotai.chat', 'moonshotai'],
    ['ollama.chat', undefined],
    ['mock-provider', undefined],
    ['', undefined],
  ])('provider %s is %s in the data', (provider, data) => {
    expect(dataProviderOf(provider)).toBe(data);
  });

  test.each<readonly [string, () => Asked, object]>([
    ['a model of the AI SDK', () => openai('gpt-5'), GPT],
    ['of another protocol', () => openai.chat('gpt-5'), GPT],
    ['one that is named', () => 'openai/gpt-5', GPT],
    ['one behind a gateway', () => modelOf('gateway', 'openai/gpt-5'), GPT],
    ['one that was wrapped', () => modelOf('openai.responses', 'gpt-5'), GPT],
    [
      'groq, whose models have names of others',
      () => modelOf('groq.chat', 'openai/gpt-oss-120b'),
      { price: { input: 0.15, output: 0.6, cachedInput: 0.075 } },
    ],
    [
      'the dearest time of day',
      () => modelOf('deepseek.chat', 'deepseek-chat'),
      { price: { input: 0.27, output: 1.1, cachedInput: 0.07 } },
    ],
    [
      'tiers',
      () => createAnthropic({ apiKey })('claude-sonnet-4-5'),
      {
        price: {
          input: 3,
          output: 15,
          cachedInput: 0.3,
          cacheWrite: 3.75,
          tiers: [{ above: 200_000, input: 6, output: 22.5, cachedInput: 0.6, cacheWrite: 7.5 }],
        },
      },
    ],
    [
      'tiers of another provider',
      () => createGoogleGenerativeAI({ apiKey })('gemini-2.5-pro'),
      { price: { input: 1.25, tiers: [{ above: 200_000, input: 2.5, output: 15 }] } },
    ],
  ])('%s', (_name, model, wanted) => {
    expect(known(model())).toMatchObject(wanted);
  });

  const baseURL = 'http://127.0.0.1:9/v1';
  test.each<readonly [string, () => Asked]>([
    ['a server of one’s own', () => createOpenAI({ apiKey, baseURL })('gpt-5')],
    ['the same by another protocol', () => createOpenAI({ apiKey, baseURL }).chat('gpt-5')],
    ['of Anthropic', () => createAnthropic({ apiKey, baseURL })('claude-sonnet-4-5')],
    ['of Google', () => createGoogleGenerativeAI({ apiKey, baseURL })('gemini-2.5-pro')],
    ['a compatible server', () => createOpenAICompatible({ name: 'openai', baseURL })('gpt-5')],
    [
      'a name that looks official',
      () => createOpenAI({ apiKey, baseURL: 'https://api.openai.com.evil.example' })('gpt-5'),
    ],
    ['a model that nobody has', () => openai('gpt-99-nonsense')],
    ['a function', () => async () => 'x'],
    ['a name without a provider', () => 'mine'],
    ['a gateway without a provider', () => modelOf('gateway', 'gpt-5')],
  ])('nothing of %s', (_name, model) => {
    expect(known(model())).toBeUndefined();
  });

  test('nothing of a named model whose address the environment changes', async () => {
    const elsewhere = await loadKnownModels({ OPENAI_BASE_URL: baseURL });

    expect(elsewhere('openai/gpt-5')).toBeUndefined();
    expect(elsewhere('anthropic/claude-sonnet-4-5')).toBeDefined();
  });
});

describe('a price with tiers', () => {
  const models = ['claude-sonnet-4-5', 'claude-haiku-4-5', 'claude-3-5-haiku-latest'];

  test('costs what the data say, for any usage, to a micro-dollar', () => {
    const tokens = fc.integer({ min: 0, max: 600_000 });
    fc.assert(
      fc.property(
        fc.constantFrom(...models),
        tokens,
        tokens,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (model, inputTokens, outputTokens, share) => {
          const cachedInputTokens = Math.floor(inputTokens * share);
          const price = known(modelOf('anthropic.messages', model))?.price;
          const cost = costMicroUsd(
            { ...noUsage, inputTokens, outputTokens, cachedInputTokens },
            price,
          );
          const usage = {
            input_tokens: inputTokens,
            output_tokens: outputTokens,
            cache_read_tokens: cachedInputTokens,
          };
          const theirs = calcPrice(usage, model, { providerId: 'anthropic' })?.total_price ?? NaN;
          expect(Math.abs(cost - theirs * 1_000_000)).toBeLessThan(1.001);
        },
      ),
    );
  });

  test.each([
    {
      name: 'tiers in order',
      tiers: [
        { above: 5, input: 1, output: 1 },
        { above: 9, input: 2, output: 2 },
      ],
      fits: true,
    },
    {
      name: 'tiers out of order',
      tiers: [
        { above: 9, input: 1, output: 1 },
        { above: 5, input: 2, output: 2 },
      ],
      fits: false,
    },
    { name: 'a tier without a bound', tiers: [{ input: 1, output: 1 }], fits: false },
    { name: 'a tier without a price', tiers: [{ above: 5 }], fits: false },
    { name: 'no list', tiers: 5, fits: false },
  ])('is checked: $name', ({ tiers, fits }) => {
    const entry = { id: 'm', model: async () => 'x', price: { input: 1, output: 1, tiers } };
    const problems = modelEntryProblems([entry as unknown as ModelEntry]);
    expect(problems.map(({ code }) => code)).toEqual(fits ? [] : ['model_price']);
  });
});

describe('a worker', () => {
  const priceIn = (entry: ModelEntry): ModelEntry['price'] => {
    const agent = defineAgent({ name: 'clerk', model: entry });
    return createRegistry({ agents: [agent], knownModels: known }).models.get(entry.id)?.price;
  };

  test('takes the price of the entry first, then the one that is known, and none for null', () => {
    const model = openai('gpt-5');

    expect(priceIn({ id: 'm', model })).toEqual(GPT.price);
    expect(priceIn({ id: 'm', model, price: { input: 7, output: 7 } })).toEqual({
      input: 7,
      output: 7,
    });
    expect(priceIn({ id: 'm', model, price: null })).toBeNull();
  });

  test('knows windows and prices of models that agents and entries only name', () => {
    const agent = defineAgent({
      name: 'clerk',
      model: { id: 'm', model: async () => 'x', fallbacks: ['anthropic/claude-sonnet-4-5'] },
    });
    const other = defineAgent({ name: 'other', model: 'openai/gpt-5' });
    const { models } = createRegistry({ agents: [agent, other], knownModels: known });

    expect(models.get('openai/gpt-5')).toEqual({
      id: 'openai/gpt-5',
      model: 'openai/gpt-5',
      ...GPT,
    });
    expect(models.get('anthropic/claude-sonnet-4-5')).toMatchObject({ contextWindow: 200_000 });
  });

  test('holds an agent of the README to the default limit, and takes a limit on cost', () => {
    const agents = [defineAgent({ name: 'clerk', model: 'openai/gpt-5' })];
    const limited = [defineAgent({ name: 'clerk', model: 'openai/gpt-5', limits: { costUsd: 2 } })];

    expect(
      hasDefaultCostLimit(createRegistry({ agents, knownModels: known }), { agent: 'clerk' }),
    ).toBe(true);
    expect(hasDefaultCostLimit(createRegistry({ agents }), { agent: 'clerk' })).toBe(false);
    expect(() => createRegistry({ agents: limited })).toThrow('Expected a `price`');
    expect(createRegistry({ agents: limited, knownModels: known }).agents.size).toBe(1);
  });
});

test('a worker is told of models without a price once, unless their entries say so', () => {
  const own = createOpenAICompatible({ name: 'own', baseURL: 'http://localhost/v1' });
  const agents = [defineAgent({ name: 'clerk', model: own('large') })];
  const models: ModelEntry[] = [
    { id: 'local', model: own('small') },
    { id: 'free', model: own('free'), price: null },
    { id: 'priced', model: openai('gpt-5') },
    { id: 'function', model: async () => 'x' },
  ];
  const registry = createRegistry({ agents, models, knownModels: known });

  expect(unpricedWarnings(registry.models)).toEqual([
    expect.stringContaining('No price is known of `local`, `own.chat/large`:'),
  ]);
});
