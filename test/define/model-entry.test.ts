import { shown } from '../../src/core/text/shown.ts';
import { describe, expect, test } from 'vitest';
import type { ModelEntry } from '../../src/define/model/model-entry.ts';
import { modelEntryProblems } from '../../src/define/model/model-problems.ts';
import { modelAt } from '../support/aimock.ts';

const model = async (): Promise<string> => '';
const sdkModel = modelAt('http://127.0.0.1:1', 'openai-chat');

describe('modelEntryProblems', () => {
  test('accepts functions and models of the AI SDK with all their fields', () => {
    const entries: ModelEntry[] = [
      { id: 'mine', model, settings: { anything: [1, null] } },
      {
        id: 'openai/gpt-5',
        model: sdkModel,
        contextWindow: 400_000,
        maxOutputTokens: 8_000,
        price: { input: 1.25, output: 10, cachedInput: 0.125, cacheWrite: 0 },
        fallbacks: ['mine'],
        settings: {
          temperature: 0,
          stopSequences: ['END'],
          headers: { 'x-team': 'a' },
          providerOptions: { openai: { textVerbosity: 'low' } },
          reasoning: 'low',
          stream: false,
        },
        structuredOutput: 'tool',
        strict: false,
      },
    ];

    expect(modelEntryProblems(entries)).toEqual([]);
  });

  const wrong: {
    name: string;
    entries: unknown[];
    problems: { code: string; message: string }[];
  }[] = [
    {
      name: 'no entry',
      entries: ['gpt-5'],
      problems: [{ code: 'model_entry', message: 'Expected model 0 to be an entry, got "gpt-5".' }],
    },
    {
      name: 'an id that is no id',
      entries: [{ id: 'my model', model }],
      problems: [
        {
          code: 'model_id',
          message:
            'Expected the id of model my model to be up to 128 letters, digits or ". _ / : @ + -", got "my model". Rename it.',
        },
      ],
    },
    {
      name: 'no model',
      entries: [{ id: 'a' }],
      problems: [
        {
          code: 'model_kind',
          message:
            'Expected `model` of "a" to be a function, a model of the AI SDK 6 or 7 (specification v3 or v4) or the name of one, got nothing. Use a provider package of one of them.',
        },
      ],
    },
    {
      name: 'a model of another version of the AI SDK',
      entries: [{ id: 'a', model: { specificationVersion: 'v2', doStream: model } }],
      problems: [
        {
          code: 'model_kind',
          message:
            'Expected `model` of "a" to be a function, a model of the AI SDK 6 or 7 (specification v3 or v4) or the name of one, got a model of specification "v2" of the AI SDK. Use a provider package of one of them.',
        },
      ],
    },
    {
      name: 'sizes that are none',
      entries: [{ id: 'a', model, contextWindow: 0, maxOutputTokens: 1.5 }],
      problems: [
        {
          code: 'model_size',
          message:
            'Expected `contextWindow` of model "a" to be an integer from 1 up, got 0. Give tokens, or leave it out.',
        },
        {
          code: 'model_size',
          message:
            'Expected `maxOutputTokens` of model "a" to be an integer from 1 up, got 1.5. Give tokens, or leave it out.',
        },
      ],
    },
    {
      name: 'a rate of zero',
      entries: [{ id: 'a', model, rate: { requestsPerMinute: 0 } }],
      problems: [
        {
          code: 'model_settings',
          message:
            'Expected `rate` of model "a" to be { requestsPerMinute?, tokensPerMinute?, concurrency? } with numbers above 0, got {"requestsPerMinute":0}. Write it so, or leave it out.',
        },
      ],
    },
    ...[0, -1, 1.5, '5', NaN, null].map((concurrency) => ({
      name: `a concurrency of ${shown(concurrency)}`,
      entries: [{ id: 'a', model, rate: { requestsPerMinute: 60, concurrency } }],
      problems: [
        {
          code: 'model_settings',
          message: `Expected \`rate.concurrency\` of model "a" to be an integer from 1 to 1000000, got ${shown(concurrency)}. Give how many requests may be under way at once, or leave it out.`,
        },
      ],
    })),
    {
      name: 'a price without output',
      entries: [{ id: 'a', model, price: { input: -1 } }],
      problems: [
        {
          code: 'model_price',
          message:
            'Expected `price` of model "a" to have `input` and `output`, and if wanted `cachedInput`, `cacheWrite` and `tiers`, each from 0 to 1000000 USD per million tokens, or to be null, got {"input":-1}. Correct it, or leave it out.',
        },
      ],
    },
    {
      name: 'settings that the AI SDK does not have, or of another type',
      entries: [{ id: 'a', model: sdkModel, settings: { temprature: 1, topP: 'high' } }],
      problems: [
        {
          code: 'model_settings',
          message:
            'Expected setting "temprature" of model "a" to be one of temperature, topP, topK, presencePenalty, frequencyPenalty, seed, maxOutputTokens, stopSequences, headers, providerOptions, reasoning, stream, got "temprature". Put a provider\'s own options into `providerOptions`.',
        },
        {
          code: 'model_settings',
          message: 'Expected setting "topP" of model "a" to be a number, got "high". Change it.',
        },
      ],
    },
    {
      name: 'settings that are no mapping',
      entries: [{ id: 'a', model, settings: [] }],
      problems: [
        {
          code: 'model_settings',
          message:
            'Expected `settings` of model "a" to be a mapping, got []. Write them as { name: value }.',
        },
      ],
    },
    {
      name: 'odd structured output and strictness',
      entries: [{ id: 'a', model, structuredOutput: 'json', strict: 'yes' }],
      problems: [
        {
          code: 'structured_output',
          message:
            'Expected `structuredOutput` of model "a" to be "auto", "schema", "tool" or "prompt", got "json". Choose one of them.',
        },
        {
          code: 'model_strict',
          message:
            'Expected `strict` of model "a" to be true or false, got "yes". Choose one, or leave it out.',
        },
      ],
    },
    {
      name: 'a field that no entry has',
      entries: [{ id: 'a', model, prices: {} }],
      problems: [
        {
          code: 'model_field',
          message:
            'Expected model "a" to have the fields id, model, modelFor, contextWindow, maxOutputTokens, price, hostedPrice, rate, connectMs, firstTokenMs, idleMs, stream, fallbacks, settings, structuredOutput, strict, thinkTag, got "prices". Remove or rename it.',
        },
      ],
    },
    {
      name: 'an id used twice, and fallbacks that name nothing or the entry itself',
      entries: [
        { id: 'a', model, fallbacks: ['b', 'c'] },
        { id: 'a', model },
        { id: 'b', model, fallbacks: ['b'] },
      ],
      problems: [
        {
          code: 'duplicate_model',
          message: 'Expected model ids to be unique, got "a" more than once. Rename all but one.',
        },
        {
          code: 'model_fallback',
          message:
            'Expected `fallbacks` of model "a" to be a list of other model ids (b), got ["b","c"]. Correct the names.',
        },
        {
          code: 'model_fallback',
          message:
            'Expected `fallbacks` of model "b" to be a list of other model ids (a), got ["b"]. Correct the names.',
        },
      ],
    },
  ];

  test.each(wrong)('refuses $name', ({ entries, problems }) => {
    expect(modelEntryProblems(entries)).toEqual(problems);
  });
});
