import { describe, expect, test } from 'vitest';
import type { LanguageModel } from '../../src/define/model/language-model.ts';
import type { ReasoningEffort } from '../../src/define/model/reasoning.ts';
import { modelEntryProblems } from '../../src/define/model/model-problems.ts';
import type { SdkCallOptions } from '../../src/models/specification.ts';
import { toV3Options } from '../../src/models/v3/call-options.ts';

/** A model of specification v3 that is only looked at. */
function modelOf(provider: string, modelId: string, more: object = {}): LanguageModel {
  const never = (): never => {
    throw new Error('not called');
  };
  return {
    specificationVersion: 'v3',
    provider,
    modelId,
    doGenerate: never,
    doStream: never,
    ...more,
  };
}

const openai = modelOf('openai.responses', 'gpt-5');
const compatible = modelOf('mine.chat', 'm', { config: { includeUsage: undefined } });

describe('toV3Options', () => {
  test('writes files as specification v3 has them', () => {
    const url = new URL('https://a.example/b.png');
    const prompt: SdkCallOptions['prompt'] = [
      { role: 'system', content: 'Look.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Here.' },
          { type: 'file', mediaType: 'image/png', data: { type: 'url', url } },
          { type: 'file', mediaType: 'application/pdf', data: { type: 'data', data: 'QUJD' } },
        ],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'a',
            toolName: 'look',
            output: {
              type: 'content',
              value: [
                { type: 'text', text: 'Two.' },
                { type: 'file', mediaType: 'image/png', data: { type: 'url', url } },
                { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'QUJD' } },
                { type: 'file', mediaType: 'text/csv', data: { type: 'url', url } },
                { type: 'file', mediaType: 'text/csv', data: { type: 'data', data: 'QUJD' } },
              ],
            },
          },
        ],
      },
    ];

    expect(toV3Options(openai, { prompt, temperature: 0 })).toEqual({
      temperature: 0,
      providerOptions: {},
      prompt: [
        { role: 'system', content: 'Look.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Here.' },
            { type: 'file', mediaType: 'image/png', data: url },
            { type: 'file', mediaType: 'application/pdf', data: 'QUJD' },
          ],
        },
        {
          role: 'tool',
          content: [
            {
              type: 'tool-result',
              toolCallId: 'a',
              toolName: 'look',
              output: {
                type: 'content',
                value: [
                  { type: 'text', text: 'Two.' },
                  { type: 'image-url', url: url.href },
                  { type: 'image-data', mediaType: 'image/png', data: 'QUJD' },
                  { type: 'file-url', url: url.href },
                  { type: 'file-data', mediaType: 'text/csv', data: 'QUJD' },
                ],
              },
            },
          ],
        },
      ],
    });
  });

  const efforts: { model: LanguageModel; reasoning: ReasoningEffort; options: object }[] = [
    { model: openai, reasoning: 'provider-default', options: {} },
    { model: openai, reasoning: 'low', options: { openai: { reasoningEffort: 'low' } } },
    { model: openai, reasoning: 'max', options: { openai: { reasoningEffort: 'xhigh' } } },
    {
      model: modelOf('azure.responses', 'gpt-5'),
      reasoning: 'none',
      options: { azure: { reasoningEffort: 'none' } },
    },
    {
      model: compatible,
      reasoning: 'high',
      options: { openaiCompatible: { reasoningEffort: 'high' } },
    },
    {
      model: modelOf('anthropic.messages', 'claude-sonnet-4-5-20250929'),
      reasoning: 'medium',
      options: { anthropic: { thinking: { type: 'enabled', budgetTokens: 3_000 } } },
    },
    {
      model: modelOf('anthropic.messages', 'claude-sonnet-4-20250514'),
      reasoning: 'minimal',
      options: { anthropic: { thinking: { type: 'enabled', budgetTokens: 1_024 } } },
    },
    {
      model: modelOf('anthropic.messages', 'claude-3-7-sonnet-latest'),
      reasoning: 'none',
      options: { anthropic: { thinking: { type: 'disabled' } } },
    },
    {
      model: modelOf('vertex.anthropic.messages', 'claude-opus-4-6'),
      reasoning: 'minimal',
      options: { anthropic: { thinking: { type: 'adaptive' }, effort: 'low' } },
    },
    {
      model: modelOf('anthropic.messages', 'claude-opus-5-5'),
      reasoning: 'none',
      options: { anthropic: { effort: 'low' } },
    },
    {
      model: modelOf('google.generative-ai', 'gemini-3-pro-preview'),
      reasoning: 'minimal',
      options: { google: { thinkingConfig: { thinkingLevel: 'low' } } },
    },
    {
      model: modelOf('google.generative-ai', 'gemini-3-flash'),
      reasoning: 'max',
      options: { google: { thinkingConfig: { thinkingLevel: 'high' } } },
    },
    {
      model: modelOf('google.vertex.chat', 'gemini-2.5-flash'),
      reasoning: 'none',
      options: { google: { thinkingConfig: { thinkingBudget: 0 } } },
    },
    {
      model: modelOf('google.generative-ai', 'gemini-2.5-pro'),
      reasoning: 'none',
      options: { google: { thinkingConfig: { thinkingBudget: 128 } } },
    },
  ];

  test.each(efforts)(
    'translates reasoning $reasoning for $model.provider $model.modelId',
    ({ model, reasoning, options }) => {
      const called = toV3Options(model, { prompt: [], maxOutputTokens: 10_000, reasoning });

      expect(called).toEqual({ prompt: [], maxOutputTokens: 10_000, providerOptions: options });
    },
  );

  test('keeps the options that an entry sets itself', () => {
    const providerOptions = { openai: { reasoningEffort: 'high', user: 'u' } };

    const called = toV3Options(openai, { prompt: [], reasoning: 'low', providerOptions });

    expect(called.providerOptions).toEqual(providerOptions);
  });
});

describe('the setting reasoning of an entry', () => {
  const problemsOf = (model: LanguageModel, reasoning: string): readonly string[] =>
    modelEntryProblems([{ id: 'a', model, settings: { reasoning } }]).map(({ message }) => message);

  test('is refused for providers of the AI SDK 6 for which it cannot be translated', () => {
    const other = modelOf('acme.chat', 'm');

    expect(problemsOf(other, 'low')).toEqual([
      'Expected no setting "reasoning" for model "a", which is of acme.chat and the AI SDK 6, got "low". Use its package for the AI SDK 7, or `providerOptions`.',
    ]);
    expect(problemsOf(other, 'provider-default')).toEqual([]);
    expect(problemsOf({ ...other, specificationVersion: 'v4' }, 'low')).toEqual([]);
    expect(() => toV3Options(other, { prompt: [], reasoning: 'low' })).toThrow(
      'Expected no setting "reasoning" for a model of acme.chat',
    );
  });

  test('is one of eight', () => {
    expect(problemsOf(openai, 'much')).toEqual([
      'Expected setting "reasoning" of model "a" to be one of "provider-default", "none", "minimal", "low", "medium", "high", "xhigh", "max", got "much". Change it.',
    ]);
  });
});
