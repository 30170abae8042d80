import { describe, expect, test } from 'vitest';
import type { LanguageModel } from '../../src/define/model/language-model.ts';
import { structuredOutputOf, toCallOptions } from '../../src/models/model-call-options.ts';
import { onWire } from '../../src/models/wire-request.ts';
import type { ModelEntry } from '../../src/define/model/model-entry.ts';
import { textMessage } from '../../src/core/base/message.ts';
import type { ModelRequest } from '../../src/core/contract/model.ts';
import { modelAt, type Protocol } from '../support/aimock.ts';

const { signal } = new AbortController();
const schema = { type: 'object', properties: { label: { type: 'string' } } };
const map = { type: 'object', additionalProperties: { type: 'number' } };
const tool = { name: 'look', description: 'Looks.', parameters: schema };

function optionsOf(
  protocol: Protocol,
  more: { request?: Partial<ModelRequest>; entry?: Partial<ModelEntry> } = {},
): unknown {
  const model = modelAt('http://127.0.0.1:1', protocol) as LanguageModel;
  const request: ModelRequest = {
    mode: 'chat',
    agent: 'tester',
    runId: 'run-1',
    iteration: 1,
    attempt: 1,
    messages: [textMessage('user', 'Hi.')],
    settings: {},
    cacheUpTo: 0,
    ...more.request,
  };
  const entry = { id: 'a', model, ...more.entry };
  return toCallOptions(entry, model, onWire(entry, model, request).request, signal);
}

const plain = {
  prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hi.' }] }],
  providerOptions: {},
  abortSignal: signal,
  includeRawChunks: true,
};

describe('toCallOptions', () => {
  const cases: {
    name: string;
    protocol?: Protocol;
    request?: Partial<ModelRequest>;
    entry?: Partial<ModelEntry>;
    options: object;
  }[] = [
    { name: 'a plain request', options: plain },
    {
      name: 'settings',
      request: {
        settings: {
          temperature: 0.2,
          topP: 0.9,
          topK: 5,
          presencePenalty: 0,
          frequencyPenalty: 0,
          seed: 7,
          stopSequences: ['END'],
          headers: { 'x-team': 'a' },
          providerOptions: { mock: { user: 'u' } },
          maxOutputTokens: 50,
          unknown: 1,
        },
      },
      entry: { maxOutputTokens: 100 },
      options: {
        ...plain,
        temperature: 0.2,
        topP: 0.9,
        topK: 5,
        presencePenalty: 0,
        frequencyPenalty: 0,
        seed: 7,
        stopSequences: ['END'],
        headers: { 'x-team': 'a' },
        providerOptions: { mock: { user: 'u' } },
        maxOutputTokens: 50,
      },
    },
    {
      name: 'the size of a reply that the entry allows',
      entry: { maxOutputTokens: 100 },
      options: { ...plain, maxOutputTokens: 100 },
    },
    {
      name: 'tools and their choice',
      request: { tools: [tool], toolChoice: 'required' },
      options: {
        ...plain,
        tools: [{ type: 'function', name: 'look', description: 'Looks.', inputSchema: schema }],
        toolChoice: { type: 'required' },
      },
    },
    {
      name: 'one tool that must be called, strictly',
      request: { tools: [tool], toolChoice: { tool: 'look' }, schema },
      entry: { strict: true },
      options: {
        ...plain,
        tools: [
          {
            type: 'function',
            name: 'look',
            description: 'Looks.',
            inputSchema: {
              type: 'object',
              properties: { label: { type: ['string', 'null'] } },
              required: ['label'],
              additionalProperties: false,
            },
            strict: true,
          },
        ],
        toolChoice: { type: 'tool', toolName: 'look' },
      },
    },
    {
      name: 'a schema of the output',
      protocol: 'anthropic',
      request: { schema },
      options: {
        ...plain,
        responseFormat: { type: 'json', schema, name: 'answer' },
        providerOptions: { anthropic: { strictJsonSchema: false } },
      },
    },
    {
      name: 'a schema of open maps, which only a tool of Claude can have',
      protocol: 'anthropic',
      request: { schema: map },
      options: {
        ...plain,
        responseFormat: { type: 'json', schema: map, name: 'answer' },
        providerOptions: {
          anthropic: { strictJsonSchema: false, structuredOutputMode: 'jsonTool' },
        },
      },
    },
    {
      name: 'a schema of the output, strictly, over the options of the provider',
      request: { schema, settings: { providerOptions: { mock: { user: 'u' } } } },
      entry: { strict: false, structuredOutput: 'schema' },
      options: {
        ...plain,
        responseFormat: { type: 'json', schema, name: 'answer' },
        providerOptions: { mock: { strictJsonSchema: false, user: 'u' } },
      },
    },
    {
      name: 'no schema when the prompt alone has to do',
      request: { schema },
      entry: { structuredOutput: 'prompt' },
      options: plain,
    },
    {
      name: 'nothing to be stored for the responses of OpenAI',
      protocol: 'openai-responses',
      options: { ...plain, providerOptions: { openai: { store: false } } },
    },
    {
      name: 'what the user wants to be stored',
      protocol: 'openai-responses',
      request: { settings: { providerOptions: { openai: { store: true } } } },
      options: { ...plain, providerOptions: { openai: { store: true } } },
    },
  ];

  test.each(cases)('writes $name', ({ protocol, request, entry, options }) => {
    const written = optionsOf(protocol ?? 'openai-compatible', {
      ...(request === undefined ? {} : { request }),
      ...(entry === undefined ? {} : { entry }),
    });

    expect(written).toEqual(options);
  });
});

describe('structuredOutputOf', () => {
  const entry = (protocol: Protocol): ModelEntry => ({
    id: 'a',
    model: modelAt('http://127.0.0.1:1', protocol),
  });

  test.each([
    {
      name: 'what the entry says',
      of: { ...entry('openai-chat'), structuredOutput: 'tool' },
      is: 'tool',
    },
    { name: 'a schema by default', of: entry('google'), is: 'schema' },
    { name: 'a tool where schemas are not supported', of: entry('openai-compatible'), is: 'tool' },
    { name: 'the prompt for a function', of: { id: 'a', model: async () => '' }, is: 'prompt' },
  ] as const)('is $name', ({ of, is }) => {
    expect(structuredOutputOf(of)).toBe(is);
  });
});
