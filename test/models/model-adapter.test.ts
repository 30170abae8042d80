import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ChatCompletionRequest, LLMock } from '@copilotkit/aimock';
import { callEntry } from '../../src/models/model-adapter.ts';
import type { CalledEntry } from '../../src/define/model/model-entry.ts';
import { classifyModelError } from '../../src/models/model-failures.ts';
import { callsOf } from '../../src/core/contract/turn.ts';
import { assistantMessage } from '../../src/core/modes/observation.ts';
import type { ModelChunk, ModelRequest, Reply } from '../../src/core/contract/model.ts';
import { noUsage } from '../../src/core/model/usage.ts';
import { textMessage } from '../../src/core/base/message.ts';
import { readNativeCalls } from '../../src/core/toolchain/native-calls.ts';
import {
  modelAt,
  protocols,
  startAimock,
  startPlainServer,
  type Protocol,
} from '../support/aimock.ts';
import { beginningOf, incompleteResponse } from '../support/partial-streams.ts';
import { withoutWaits } from '../support/no-waits.ts';

let mock: LLMock;
beforeAll(async () => {
  mock = await startAimock();
});
afterAll(() => mock.stop());

/** All spellings of one usage: 20 in, 7 out. */
const usage = {
  prompt_tokens: 20,
  completion_tokens: 7,
  input_tokens: 20,
  output_tokens: 7,
  promptTokenCount: 20,
  candidatesTokenCount: 7,
};
const counted = { ...noUsage, inputTokens: 20, outputTokens: 7, costMicroUsd: 165 };
const price = { input: 3, output: 15 };

function requestOf(text: string, more: Partial<ModelRequest> = {}): ModelRequest {
  return {
    mode: 'chat',
    agent: 'tester',
    runId: 'run-1',
    iteration: 1,
    attempt: 1,
    messages: [textMessage('system', 'Be brief.'), textMessage('user', text)],
    settings: {},
    cacheUpTo: 0,
    ...more,
  };
}

const lookTool = {
  name: 'look',
  description: 'Looks at a place.',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
};

interface Called {
  readonly reply: Reply;
  readonly chunks: readonly ModelChunk[];
}

async function replyOf(entry: CalledEntry, request: ModelRequest): Promise<Called> {
  const chunks: ModelChunk[] = [];
  const outcome = await callEntry(entry, request, {
    signal: new AbortController().signal,
    onChunk: (chunk) => chunks.push(chunk),
  });
  if (outcome.kind !== 'reply') throw new Error(`Expected a reply, got ${outcome.kind}.`);
  return { reply: outcome.reply, chunks };
}

function joined(chunks: readonly ModelChunk[], kind: ModelChunk['kind']): string {
  return chunks
    .filter((chunk) => chunk.kind === kind)
    .map((chunk) => chunk.delta)
    .join('');
}

/** Who a reply of `protocol` is from. */
function authorAt(protocol: Protocol): Reply['by'] {
  const { provider, modelId: model } = modelAt(mock.url, protocol);
  return { provider, model };
}

/** The reasoning that a reply holds, without what its provider wants back. */
function withoutData(reply: Reply): unknown {
  return reply.parts.flatMap((part) =>
    'text' in part ? [{ type: part.type, text: part.text }] : [],
  );
}

const variants = protocols.flatMap((protocol) =>
  [true, false].map((stream) => ({ protocol, stream, how: stream ? 'streaming' : 'at once' })),
);

describe('callEntry over HTTP [row 53]', () => {
  const entryAt = (protocol: Protocol, stream: boolean): CalledEntry => ({
    id: 'provider/model',
    model: modelAt(mock.url, protocol),
    price,
    settings: { stream },
  });

  test.each(variants)('gets text and usage from $protocol, $how', async ({ protocol, stream }) => {
    mock.onMessage(/^greet$/, { content: 'Hello, world!', usage }, { chunkSize: 4 });

    const { reply, chunks } = await replyOf(entryAt(protocol, stream), requestOf('greet'));

    expect({ ...reply, parts: withoutData(reply) }).toEqual({
      parts: [{ type: 'text', text: 'Hello, world!' }],
      by: authorAt(protocol),
      finishReason: 'stop',
      usage: counted,
      usageKnown: true,
      model: 'provider/model',
    });
    expect(joined(chunks, 'text')).toBe('Hello, world!');
    expect(chunks.length).toBe(stream ? 4 : 1);
  });

  test.each(variants)('gets tool calls from $protocol, $how', async ({ protocol, stream }) => {
    mock.onMessage(/^weather$/, {
      content: 'Let me look.',
      toolCalls: [
        { id: 'call_a', name: 'look', arguments: { city: 'Oslo' } },
        { id: 'call_b', name: 'look', arguments: { city: 'Rome' } },
      ],
      usage,
      ...(protocol === 'google' ? { finishReason: 'stop' } : {}),
    });

    const request = requestOf('weather', { tools: [lookTool], toolChoice: 'auto' });
    const { reply, chunks } = await replyOf(entryAt(protocol, stream), request);

    expect(reply.finishReason).toBe('tool_calls');
    expect(withoutData(reply)).toEqual([{ type: 'text', text: 'Let me look.' }]);
    expect(callsOf(reply).map(({ tool, args }) => ({ tool, args }))).toEqual([
      { tool: 'look', args: '{"city":"Oslo"}' },
      { tool: 'look', args: '{"city":"Rome"}' },
    ]);
    expect(callsOf(reply).every((call) => call.id !== undefined)).toBe(true);
    expect(joined(chunks, 'tool_args')).toBe('{"city":"Oslo"}{"city":"Rome"}');
    mock.clearFixtures();
  });

  const thinking = variants.filter(({ protocol }) => protocol !== 'openai-chat');
  test.each(thinking)('gets reasoning from $protocol, $how', async ({ protocol, stream }) => {
    mock.onMessage(/^think$/, { content: 'Four.', reasoning: 'Two and two.', usage });

    const { reply, chunks } = await replyOf(entryAt(protocol, stream), requestOf('think'));

    expect(withoutData(reply)).toEqual([
      { type: 'reasoning', text: 'Two and two.' },
      { type: 'text', text: 'Four.' },
    ]);
    expect(joined(chunks, 'reasoning')).toBe('Two and two.');
  });

  const endings = [
    { name: 'cut off', finishReason: 'length', expected: 'length' },
    { name: 'filtered', finishReason: 'content_filter', expected: 'content_filter' },
  ] as const;
  // The responses of OpenAI are below: aimock leaves out why a response is incomplete.
  const spelled = {
    'openai-compatible': { length: 'length', content_filter: 'content_filter' },
    'openai-chat': { length: 'length', content_filter: 'content_filter' },
    anthropic: { length: 'max_tokens', content_filter: 'refusal' },
    google: { length: 'MAX_TOKENS', content_filter: 'SAFETY' },
  };
  const spelling = ['openai-compatible', 'openai-chat', 'anthropic', 'google'] as const;
  test.each(endings.flatMap((ending) => spelling.map((protocol) => ({ ...ending, protocol }))))(
    'says that a reply was $name: $protocol',
    async ({ protocol, finishReason, expected }) => {
      const ending = `end-${expected}-${protocol}`;
      mock.onMessage(ending, {
        content: 'Hel',
        finishReason: spelled[protocol][finishReason],
        usage,
      });

      const asked = replyOf(entryAt(protocol, true), requestOf(ending));
      if (expected === 'content_filter') {
        const failure = classifyModelError(await asked.catch((error: unknown) => error));
        expect([failure.code, failure.retryable]).toEqual(['model_refused', false]);
        expect(failure.message).toContain(spelled[protocol].content_filter);
        expect(failure.usage?.outputTokens).toBeGreaterThan(0);
        return;
      }

      const { reply } = await asked;
      expect(reply.finishReason).toBe(expected);
      expect(withoutData(reply)).toEqual([{ type: 'text', text: 'Hel' }]);
    },
  );

  test('says that a reply was cut off: openai-responses', async () => {
    const server = await startPlainServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(beginningOf('openai-responses') + incompleteResponse('max_output_tokens'));
    });

    const model = modelAt(server.url, 'openai-responses');
    const { reply } = await replyOf({ id: 'provider/model', model, price }, requestOf('greet'));

    expect({ ...reply, parts: withoutData(reply) }).toEqual({
      parts: [{ type: 'text', text: 'Hel' }],
      by: authorAt('openai-responses'),
      finishReason: 'length',
      usage: counted,
      usageKnown: true,
      model: 'provider/model',
    });
    await server.stop();
  });

  test.each(protocols)('gives a reply without parts when %s says nothing', async (protocol) => {
    mock.onMessage(/^silence$/, { content: '', usage });

    const { reply } = await replyOf(entryAt(protocol, true), requestOf('silence'));

    expect(withoutData(reply)).toEqual([]);
    expect(reply.finishReason).toBe('stop');
  });

  test.each(protocols)(
    'sends %s its calls and reasoning back with its own ids',
    async (protocol) => {
      mock.onMessage(/^round trip$/, {
        reasoning: 'I have to look.',
        content: '',
        toolCalls: [{ id: 'call_a', name: 'look', arguments: { city: 'Oslo' } }],
        usage,
        ...(protocol === 'google' ? { finishReason: 'stop' } : {}),
      });
      const entry = entryAt(protocol, true);
      const first = await replyOf(entry, requestOf('round trip', { tools: [lookTool] }));
      const { parts } = readNativeCalls(callsOf(first.reply), {
        iteration: 1,
        tools: [],
        maxCallsPerTurn: 64,
      });
      mock.clearFixtures();
      const last = (request: { messages: readonly { role: string }[] }) => request.messages.at(-1);
      mock.on({ predicate: (sent) => last(sent)?.role === 'tool' }, { content: 'Rain.', usage });

      const { reply } = await replyOf(
        entry,
        requestOf('round trip', {
          tools: [lookTool],
          messages: [
            textMessage('system', 'Be brief.'),
            textMessage('user', 'round trip'),
            ...assistantMessage(first.reply, parts),
            {
              role: 'tool',
              parts: [
                {
                  type: 'tool_result',
                  callId: '1.1',
                  tool: 'look',
                  parts: [{ type: 'text', text: 'It rains.' }],
                  isError: false,
                },
              ],
            },
          ],
        }),
      );

      expect(withoutData(reply)).toEqual([{ type: 'text', text: 'Rain.' }]);
      const sent = (mock.getLastRequest()?.body ?? { messages: [] }) as ChatCompletionRequest;
      const made = sent.messages.find((message) => message.role === 'assistant');
      const ids = made?.tool_calls?.map(({ id }) => id);
      const answered = sent.messages.at(-1);
      expect([answered?.tool_call_id]).toEqual(ids);
      expect(answered?.content).toContain('It rains.');
      // aimock makes ids of its own for Google, which has none.
      if (protocol !== 'google') expect(ids).toEqual(['call_a']);
      mock.clearFixtures();
    },
  );

  test('asks at once when the provider refuses to stream', async () => {
    let streamed = 0;
    const model = modelAt(mock.url, 'openai-compatible');
    const refusing = Object.assign(Object.create(model) as typeof model, {
      doStream: () => {
        streamed += 1;
        const data = { error: { message: 'Verify your organization.', param: 'stream' } };
        throw Object.assign(new Error('Verify your organization.'), { statusCode: 400, data });
      },
    });
    mock.onMessage(/^greet$/, { content: 'Hello, world!', usage });

    const { reply } = await replyOf({ id: 'provider/model', model: refusing }, requestOf('greet'));

    expect(streamed).toBe(1);
    expect(withoutData(reply)).toEqual([{ type: 'text', text: 'Hello, world!' }]);
  });
});

describe('callEntry with a function', () => {
  test('reads its reply, and publishes it whole when it did not stream', async () => {
    const entry: CalledEntry = {
      id: 'mine',
      price,
      model: async () => ({
        content: 'Done.',
        reasoning: 'Hm.',
        toolCalls: [{ name: 'look', args: { city: 'Oslo' } }],
        usage: { inputTokens: 20, outputTokens: 7 },
      }),
    };

    const { reply, chunks } = await replyOf(entry, requestOf('greet'));

    expect(reply).toEqual({
      parts: [
        { type: 'reasoning', text: 'Hm.' },
        { type: 'text', text: 'Done.' },
        { type: 'call', tool: 'look', args: { city: 'Oslo' } },
      ],
      finishReason: 'tool_calls',
      usage: counted,
      usageKnown: true,
      model: 'mine',
    });
    expect(chunks).toEqual([
      { kind: 'reasoning', delta: 'Hm.' },
      { kind: 'text', delta: 'Done.' },
      { kind: 'tool_args', delta: '{"city":"Oslo"}' },
    ]);
  });

  test('publishes only what it streamed itself', async () => {
    const entry: CalledEntry = {
      id: 'mine',
      model: async (_request, { onChunk }) => {
        onChunk({ kind: 'text', delta: 'Do' });
        onChunk({ kind: 'text', delta: 'ne.' });
        return 'Done.';
      },
    };

    const { chunks } = await replyOf(entry, requestOf('greet'));

    expect(joined(chunks, 'text')).toBe('Done.');
  });

  test('gets the request as it is, with the settings of its entry under those of the request', async () => {
    const seen: ModelRequest[] = [];
    const entry: CalledEntry = {
      id: 'mine',
      settings: { temperature: 0, mood: 'calm' },
      model: async (request) => {
        seen.push(request);
        return '';
      },
    };
    const request = requestOf('greet', { mode: 'json', schema: {}, settings: { temperature: 1 } });

    await replyOf(entry, request);

    expect(seen).toEqual([{ ...request, settings: { temperature: 1, mood: 'calm' } }]);
  });

  test('throws what it threw, also at once', async () => {
    const boom = new Error('boom');
    const entry: CalledEntry = {
      id: 'mine',
      model: () => {
        throw boom;
      },
    };

    const call = replyOf(entry, requestOf('greet'));

    await expect(call).rejects.toBe(boom);
    expect(classifyModelError(boom)).toEqual({
      code: 'model_error',
      retryable: true,
      message: 'boom',
    });
  });
});

test('the usage that a failing function reports is kept with its error [row 53]', async () => {
  const entry: CalledEntry = {
    id: 'mine',
    price,
    model: async () => {
      throw Object.assign(new Error('boom'), { usage: { inputTokens: 20, outputTokens: 7 } });
    },
  };

  const failure = await replyOf(entry, requestOf('greet')).catch((error: unknown) =>
    classifyModelError(error),
  );

  expect(failure).toEqual({
    code: 'model_error',
    retryable: true,
    message: 'boom',
    usage: counted,
  });
});

describe('an aborted call', () => {
  const io = (signal: AbortSignal) => ({ signal, onChunk: () => undefined });

  test('is not made when it was aborted before', async () => {
    let asked = 0;
    const entry: CalledEntry = {
      id: 'mine',
      model: async () => {
        asked += 1;
        return '';
      },
    };

    const outcome = await callEntry(entry, requestOf('greet'), io(AbortSignal.abort()));

    expect(outcome).toEqual({ kind: 'aborted', usage: noUsage, usageKnown: false });
    expect(asked).toBe(0);
  });

  test('counts the usage that a function reports late [row 53]', async () => {
    const controller = new AbortController();
    const entry: CalledEntry = {
      id: 'mine',
      price,
      model: (_request, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () =>
            resolve({ content: 'half', usage: { inputTokens: 20, outputTokens: 7 } }),
          );
          controller.abort();
        }),
    };

    const outcome = await callEntry(entry, requestOf('greet'), io(controller.signal));

    expect(outcome).toEqual({ kind: 'aborted', usage: counted, usageKnown: true });
  });

  test('is given up when a function does not look at its signal', async () => {
    const controller = new AbortController();
    const entry: CalledEntry = {
      id: 'mine',
      model: () => {
        controller.abort();
        return new Promise(() => undefined);
      },
    };

    const outcome = await withoutWaits(() =>
      callEntry(entry, requestOf('greet'), io(controller.signal)),
    );

    expect(outcome).toEqual({ kind: 'aborted', usage: noUsage, usageKnown: false });
  });

  test('publishes nothing after the abort', async () => {
    const controller = new AbortController();
    const chunks: ModelChunk[] = [];
    const entry: CalledEntry = {
      id: 'mine',
      model: async (_request, { onChunk }) => {
        onChunk({ kind: 'text', delta: 'before' });
        controller.abort();
        onChunk({ kind: 'text', delta: 'after' });
        return 'beforeafter';
      },
    };

    await callEntry(entry, requestOf('greet'), {
      signal: controller.signal,
      onChunk: (chunk) => chunks.push(chunk),
    });

    expect(chunks).toEqual([{ kind: 'text', delta: 'before' }]);
  });
});
