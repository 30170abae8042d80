import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk-7/provider';
import { createOpenAICompatible as createCompatible6 } from '@ai-sdk/openai-compatible';
import { createOpenAICompatible as createCompatible7 } from '@ai-sdk-7/openai-compatible';
import { describe, expect, test } from 'vitest';
import { callEntry, type UnfailedEnd } from '../../src/models/model-adapter.ts';
import type { JsonObject } from '../../src/core/base/json.ts';
import type { ModelChunk, ModelRequest } from '../../src/core/contract/model.ts';
import type { LanguageModel } from '../../src/define/model/language-model.ts';
import { textMessage } from '../../src/core/base/message.ts';
import {
  AI_SDK,
  modelAt,
  protocols,
  sse,
  startPlainServer,
  type Protocol,
} from '../support/aimock.ts';

const request: ModelRequest = {
  mode: 'chat',
  agent: 'tester',
  runId: 'run-1',
  iteration: 1,
  attempt: 1,
  messages: [textMessage('user', 'Hi.')],
  settings: {},
  cacheUpTo: 0,
};

function call(
  model: LanguageModel,
  settings: JsonObject = {},
  onChunk: (chunk: ModelChunk) => void = () => undefined,
): Promise<UnfailedEnd> {
  const { signal } = new AbortController();
  return callEntry({ id: 'm', model, settings }, request, { signal, onChunk });
}

test.each(protocols)(
  'the models of these tests are of the AI SDK that was asked for: %s',
  (protocol) => {
    const { specificationVersion } = modelAt('http://127.0.0.1:1', protocol);

    expect(specificationVersion).toBe(AI_SDK === 7 ? 'v4' : 'v3');
  },
);

describe('the setting reasoning goes over the wire', () => {
  const cases: { protocol: Protocol; modelId: string; body: object }[] = [
    { protocol: 'openai-compatible', modelId: 'm', body: { reasoning_effort: 'low' } },
    { protocol: 'openai-chat', modelId: 'gpt-5', body: { reasoning_effort: 'low' } },
    { protocol: 'openai-responses', modelId: 'gpt-5', body: { reasoning: { effort: 'low' } } },
    {
      protocol: 'anthropic',
      modelId: 'claude-sonnet-4-5',
      body: { thinking: { type: 'enabled', budget_tokens: expect.any(Number) as number } },
    },
    {
      protocol: 'google',
      modelId: 'gemini-3-pro-preview',
      body: { generationConfig: { thinkingConfig: { thinkingLevel: 'low' } } },
    },
  ];

  test.each(cases)('$protocol', async ({ protocol, modelId, body }) => {
    const server = await startRefusing(() => 'No.');

    await call(modelAt(server.url, protocol, modelId), { reasoning: 'low' }).catch(() => undefined);

    expect(server.bodies).toMatchObject([body]);
    await server.stop();
  });
});

describe('a stream of specification v4', () => {
  const finish: LanguageModelV4StreamPart = {
    type: 'finish',
    finishReason: { unified: 'stop', raw: 'stop' },
    usage: {
      inputTokens: { total: 12, noCache: 2, cacheRead: 7, cacheWrite: 3 },
      outputTokens: { total: 5, text: 1, reasoning: 4 },
    },
  };
  const citations = [{ type: 'url', url: 'https://a.example' }] as never;
  const parts: readonly LanguageModelV4StreamPart[] = [
    { type: 'stream-start', warnings: [] },
    { type: 'custom', kind: 'acme.begin', providerMetadata: { acme: { id: 'x' } } },
    { type: 'reasoning-start', id: 'r' },
    { type: 'reasoning-delta', id: 'r', delta: 'I look.' },
    { type: 'reasoning-end', id: 'r', providerMetadata: { acme: { signature: 's' } } },
    { type: 'reasoning-file', mediaType: 'image/png', data: { type: 'data', data: 'QUJD' } },
    { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'QUJD' } },
    { type: 'ping' },
    { type: 'text-start', id: 't' },
    { type: 'text-delta', id: 't', delta: 'Rain.' },
    { type: 'text-end', id: 't', citations },
    // A part that a later release may add.
    { type: 'weather' } as never,
  ];

  test('gives all that it has in its order, and names a part that nobody knows', async () => {
    const chunks: ModelChunk[] = [];

    const result = await call(streaming([...parts, finish]), {}, (chunk) => chunks.push(chunk));

    expect(result).toEqual({
      kind: 'reply',
      reply: {
        parts: [
          { type: 'custom', kind: 'acme.begin', providerData: { acme: { id: 'x' } } },
          { type: 'reasoning', text: 'I look.', providerData: { acme: { signature: 's' } } },
          { type: 'reasoning_file', mediaType: 'image/png', data: 'QUJD' },
          { type: 'file', mediaType: 'image/png', data: 'QUJD' },
          { type: 'text', text: 'Rain.' },
        ],
        by: { provider: 'acme', model: 'm' },
        warnings: [
          {
            code: 'item_left_out',
            message:
              'The reply of model `m` had an item of type weather, which a reply has no place for. It was left out.',
          },
        ],
        finishReason: 'stop',
        usage: {
          inputTokens: 12,
          outputTokens: 5,
          cachedInputTokens: 7,
          cacheWriteTokens: 3,
          reasoningTokens: 4,
          costMicroUsd: 0,
        },
        usageKnown: true,
        model: 'm',
      },
    });
    expect(chunks).toEqual([
      { kind: 'reasoning', delta: 'I look.' },
      { kind: 'text', delta: 'Rain.' },
    ]);
  });

  test('has what its provider ran, sources and small files; what is no part of a reply is named', async () => {
    const hosted = { toolCallId: 's1', toolName: 'search', providerExecuted: true };
    const large = 'QUJD'.repeat(600_000);
    const result = await call(
      streaming([
        { type: 'tool-call', ...hosted, input: '{"query":"rain"}' },
        { type: 'tool-result', ...hosted, result: { hits: 0 }, preliminary: true },
        { type: 'tool-result', ...hosted, result: { hits: 1 } },
        { type: 'source', sourceType: 'url', id: 'u1', url: 'https://a.example', title: 'A' },
        { type: 'file', mediaType: 'image/png', data: { type: 'data', data: large } },
        { type: 'text-start', id: 't' },
        { type: 'text-delta', id: 't', delta: 'Rain.' },
        finish,
      ]),
    );

    expect(result).toMatchObject({
      reply: {
        parts: [
          { type: 'hosted_call', id: 's1', tool: 'search', args: { query: 'rain' } },
          { type: 'hosted_result', id: 's1', tool: 'search', output: { hits: 1 }, isError: false },
          { type: 'source', id: 'u1', url: 'https://a.example', title: 'A' },
          { type: 'text', text: 'Rain.' },
        ],
        warnings: [
          { message: expect.stringContaining('a file of type image/png that is too large') },
        ],
      },
    });
  });

  test('that waits for an approval of what its provider runs is of no use, and says so', async () => {
    const hosted = { toolCallId: 's1', toolName: 'mcp.pay', providerExecuted: true };
    const result = await call(
      streaming([
        { type: 'tool-call', ...hosted, input: '{}' },
        { type: 'tool-approval-request', approvalId: 'a1', toolCallId: 's1' },
        finish,
      ]),
    );

    expect(result).toMatchObject({
      reply: {
        parts: [{ type: 'hosted_call', id: 's1', tool: 'mcp.pay' }],
        unusable: expect.stringContaining('a call of mcp.pay waits for an approval'),
      },
    });
  });

  test('that was interrupted is a broken stream, which is tried again', async () => {
    const cut = { ...finish, finishReason: { unified: 'interrupted' as const, raw: 'x' } };

    await expect(call(streaming([...parts, cut]))).rejects.toMatchObject({
      cause: { code: 'broken_stream' },
    });
  });

  test('gives the same in one piece', async () => {
    const { usage, finishReason } = finish;
    const model: LanguageModel = {
      ...streaming([]),
      doGenerate: async () => ({
        content: [
          { type: 'custom', kind: 'acme.begin' },
          { type: 'reasoning-file', mediaType: 'image/png', data: { type: 'data', data: 'QUJD' } },
          { type: 'text', text: 'Rain.', citations },
        ],
        usage,
        finishReason,
      }),
    };

    expect(await call(model, { stream: false })).toMatchObject({
      reply: {
        parts: [
          { type: 'custom', kind: 'acme.begin' },
          { type: 'reasoning_file', mediaType: 'image/png', data: 'QUJD' },
          { type: 'text', text: 'Rain.' },
        ],
        usage: { inputTokens: 12 },
      },
    });
  });
});

describe('an OpenAI-compatible server', () => {
  const createOpenAICompatible = AI_SDK === 7 ? createCompatible7 : createCompatible6;
  const connect = (url: string, options: object = {}): LanguageModel =>
    createOpenAICompatible({ name: 'mine', baseURL: `${url}/v1`, ...options })('m');

  test('is asked for usage in streams, also if its maker did not set `includeUsage`', async () => {
    const server = await startRefusing(() => 'No.');

    await call(connect(server.url)).catch(() => undefined);
    await call(connect(server.url, { includeUsage: false })).catch(() => undefined);

    expect(server.bodies.map((body) => body['stream_options'])).toEqual([
      { include_usage: true },
      undefined,
    ]);
    await server.stop();
  });

  test('that refuses to be asked is not asked again', async () => {
    const server = await startRefusing(({ stream_options: asked }) =>
      asked === undefined ? undefined : 'Unknown field: stream_options',
    );
    const model = connect(server.url);

    const replies = [await call(model), await call(model)];

    expect(replies).toMatchObject([{ kind: 'reply' }, { kind: 'reply' }]);
    expect(server.bodies.map((body) => 'stream_options' in body)).toEqual([true, false, false]);
    await server.stop();
  });
});

function streaming(parts: readonly LanguageModelV4StreamPart[]): LanguageModel {
  const model: Pick<LanguageModelV4, 'doStream'> = {
    doStream: async () => ({
      stream: new ReadableStream({
        start: (controller) => {
          for (const part of parts) controller.enqueue(part);
          controller.close();
        },
      }),
    }),
  };
  return {
    specificationVersion: 'v4',
    provider: 'acme',
    modelId: 'm',
    doGenerate: () => Promise.reject(new Error('not called')),
    ...model,
  };
}

/** A server that keeps the bodies of its requests and refuses those for which `refusal` says why. */
async function startRefusing(refusal: (body: JsonObject) => string | undefined): Promise<{
  readonly url: string;
  readonly bodies: readonly JsonObject[];
  stop(): Promise<void>;
}> {
  const bodies: JsonObject[] = [];
  const server = await startPlainServer((_request, response, text) => {
    const body = JSON.parse(text) as JsonObject;
    bodies.push(body);
    const message = refusal(body);
    if (message !== undefined) {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message } }));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(
      sse([{ choices: [{ index: 0, delta: { content: 'Hi.' }, finish_reason: 'stop' }] }]),
    );
  });
  return { ...server, bodies };
}
