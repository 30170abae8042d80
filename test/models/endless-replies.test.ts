/**
 * Replies without end, of every protocol: the request is closed, the call fails in words, and what
 * was read before that is bounded, whatever the provider goes on to send.
 */
import { createServer, type AddressInfo } from 'node:net';
import { expect, describe, test } from 'vitest';
import { textMessage } from '../../src/core/base/message.ts';
import type { ModelFunction, ModelRequest } from '../../src/core/contract/model.ts';
import type { LanguageModel } from '../../src/define/model/language-model.ts';
import type { CalledEntry } from '../../src/define/model/model-entry.ts';
import { callEntry, type CallIo } from '../../src/models/model-adapter.ts';
import { classifyModelError, type ModelFailure } from '../../src/models/model-failures.ts';
import { modelAt, protocols, startPlainServer } from '../support/aimock.ts';
import { ENDLESS, startEndless, type Endless } from '../support/endless-provider.ts';
import { eventually } from '../support/eventually.ts';

const MEGABYTE = 1_048_576;

const request: ModelRequest = {
  mode: 'chat',
  agent: 'tester',
  runId: 'run-1',
  iteration: 1,
  attempt: 1,
  messages: [textMessage('user', 'Hi')],
  settings: {},
  cacheUpTo: 0,
};

/** How a call failed, and the longest that other work of this process waited meanwhile. */
async function fail(
  entry: Omit<CalledEntry, 'id'>,
  io: Partial<CallIo> = {},
): Promise<ModelFailure & { readonly heldMs: number }> {
  let heldMs = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    heldMs = Math.max(heldMs, performance.now() - last - 10);
    last = performance.now();
  }, 10);
  try {
    const outcome = await callEntry({ id: 'm', ...entry }, request, {
      signal: new AbortController().signal,
      onChunk: () => undefined,
      maxReplyBytes: MEGABYTE,
      ...io,
    });
    throw new Error(`Expected a failure, got ${JSON.stringify(outcome).slice(0, 200)}.`);
  } catch (error) {
    return { ...classifyModelError(error), heldMs };
  } finally {
    clearInterval(timer);
  }
}

const LONG_REPLY =
  'Expected a reply of at most 1048576 bytes, got a longer one. Set `maxOutputTokens`.';

/** What each of them is refused for; a text that names more than one may be refused by either. */
const REFUSED: Readonly<Record<Endless, RegExp>> = {
  text: /a reply of at most 1048576 bytes/,
  reasoning: /a reply of at most 1048576 bytes/,
  arguments: /a reply of at most 1048576 bytes/,
  calls: /a reply of at most 1048576 bytes/,
  blocks: /a reply of at most 1048576 bytes/,
  'a line': /an event of at most 4194304 bytes/,
  'lines of an event': /an event of at most 4194304 bytes/,
  'a piece': /an event of at most 4194304 bytes/,
  values: /an event of at most 500000 JSON values/,
  comments: /a stream of at most 1000000 lines/,
  'an error': /^HTTP 400: /,
  'a bomb': /an event of at most 4194304 bytes/,
};

/** What no protocol has a say in is tried with one of them. */
const OF_EVERY_PROTOCOL: readonly Endless[] = ['text', 'reasoning', 'arguments', 'calls', 'a line'];

describe.each(protocols)('a provider without end: %s', (protocol) => {
  const kinds = protocol === 'openai-compatible' ? ENDLESS : OF_EVERY_PROTOCOL;
  // The adapter for chats of OpenAI reads no thoughts.
  const read = kinds.filter((what) => protocol !== 'openai-chat' || what !== 'reasoning');

  test.each(read)('%s', { timeout: 120_000 }, async (what) => {
    const provider = await startEndless(protocol, what);

    const failure = await fail({ model: modelAt(provider.url, protocol) });

    expect(failure.message).toMatch(REFUSED[what]);
    const isFinal = failure.message === LONG_REPLY || what === 'an error';
    expect(failure).toMatchObject({ retryable: !isFinal });
    await eventually('a closed connection', async () => provider.left() === provider.requests());
    // What the bound lets through, and what sockets hold; one piece is written as a whole.
    if (what !== 'a piece') expect(provider.sent()).toBeLessThan(32 * MEGABYTE);
    await provider.stop();
  });

  test('a reply that is asked for at once', async () => {
    const provider = await startEndless(protocol, 'a line');

    const failure = await fail({
      model: modelAt(provider.url, protocol),
      settings: { stream: false },
    });

    expect(failure).toMatchObject({
      retryable: true,
      message:
        'Expected a reply of at most 4194304 bytes of the provider, got more. The request was closed.',
    });
    await eventually('a closed connection', async () => provider.left() === 1);
    await provider.stop();
  });
});

describe('what a failed call is charged', () => {
  test('is estimated by what the model had written', async () => {
    const provider = await startEndless('openai-compatible', 'text');

    const failure = await fail({
      model: modelAt(provider.url, 'openai-compatible'),
      price: { input: 1, output: 1 },
    });

    expect(failure.estimated?.outputTokens).toBeGreaterThan(200_000);
    expect(failure.estimated?.costMicroUsd).toBeGreaterThan(200_000);
    await provider.stop();
  });
});

describe('other ways to a provider', () => {
  test('a model without a `fetch` of its own, as middleware wraps it', async () => {
    const provider = await startEndless('openai-chat', 'a line');
    const inner = modelAt(provider.url, 'openai-chat');
    const model: LanguageModel = {
      specificationVersion: inner.specificationVersion,
      provider: inner.provider,
      modelId: inner.modelId,
      doGenerate: (options) => inner.doGenerate(options),
      doStream: (options) => inner.doStream(options),
    };

    expect(await fail({ model })).toMatchObject({
      message: expect.stringContaining('an event of at most 4194304 bytes'),
    });
    await provider.stop();
  });

  test('other requests of the process are not bounded', async () => {
    const server = await startPlainServer((_request, response) => {
      response.end(Buffer.alloc(8 * MEGABYTE));
    });

    expect((await (await fetch(server.url)).arrayBuffer()).byteLength).toBe(8 * MEGABYTE);
    await server.stop();
  });

  test('headers without end', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.write('HTTP/1.1 200 OK\r\n');
      const write = (): void => {
        while (socket.writable && socket.write(`x-${'y'.repeat(100)}: z\r\n`.repeat(100)));
        socket.once('drain', write);
      };
      write();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;

    const failure = await fail({ model: modelAt(`http://127.0.0.1:${port}`, 'anthropic') });

    expect(failure).toMatchObject({ code: 'model_error', retryable: true });
    server.close();
  });

  test('the body of an error that does not end is read for a while only', async () => {
    const server = await startPlainServer((_request, response) => {
      response.writeHead(429, { 'retry-after': '7' });
      response.write('{"error":{"message":"Slow');
    });

    expect(await fail({ model: modelAt(server.url, 'openai-chat') })).toMatchObject({
      status: 429,
      retryAfterMs: 7_000,
    });
    await server.stop();
  }, 30_000);

  test('an endless body that needs no network holds nobody', async () => {
    const words = new TextEncoder().encode(': still here\n\n'.repeat(1_000));
    const fetch = async (): Promise<Response> =>
      new Response(new ReadableStream({ pull: (controller) => controller.enqueue(words) }));
    const inner = modelAt('http://127.0.0.1:1', 'openai-chat');
    const model: LanguageModel = Object.create(inner, {
      config: { value: { ...(Reflect.get(inner, 'config') as object), fetch } },
    });

    const { message, heldMs } = await fail({ model });

    expect(message).toContain('a stream of at most 1000000 lines');
    expect(heldMs).toBeLessThan(2_000);
  }, 60_000);
});

describe('a model function without end', () => {
  const cases: readonly { name: string; model: ModelFunction }[] = [
    {
      name: 'pieces',
      model: async (_request, { onChunk }) => {
        for (;;) {
          onChunk({ kind: 'text', delta: 'word '.repeat(1_000) });
          await new Promise((resolve) => setImmediate(resolve));
        }
      },
    },
    {
      name: 'pieces that never wait',
      model: async (_request, { onChunk }) => {
        for (;;) onChunk({ kind: 'reasoning', delta: 'word ' });
      },
    },
    {
      name: 'one piece',
      model: async (_request, { onChunk }) => {
        onChunk({ kind: 'tool_args', delta: 'x'.repeat(50 * MEGABYTE) });
        return 'done';
      },
    },
    { name: 'a text', model: async () => 'x'.repeat(50 * MEGABYTE) },
    { name: 'content', model: async () => ({ content: 'x'.repeat(2 * MEGABYTE) }) },
    {
      name: 'arguments',
      model: async () => ({
        toolCalls: [{ name: 'look', args: Array.from({ length: 2 * MEGABYTE }, () => 1) }],
      }),
    },
    {
      name: 'calls',
      model: async () => ({
        toolCalls: Array.from({ length: 500_000 }, () => ({ name: 'look', args: {} })),
      }),
    },
  ];

  test.each(cases)('$name', async ({ model }) => {
    const received: string[] = [];

    const failure = await fail({ model }, { onChunk: ({ delta }) => received.push(delta) });

    expect(failure).toMatchObject({ code: 'model_error', retryable: false, message: LONG_REPLY });
    expect(received.join('').length).toBeLessThanOrEqual(MEGABYTE);
  });

  test('a function that goes on after it was left is not waited for', async () => {
    const model: ModelFunction = (_request, { onChunk }) =>
      new Promise(() => {
        try {
          for (;;) onChunk({ kind: 'text', delta: 'word '.repeat(1_000) });
        } catch {
          // It does not end.
        }
      });

    expect(await fail({ model })).toMatchObject({ message: LONG_REPLY, retryable: false });
  });

  test('what it keeps for logs is not counted', async () => {
    const outcome = await callEntry(
      { id: 'm', model: async () => ({ content: 'done', raw: 'x'.repeat(8 * MEGABYTE) }) },
      request,
      { signal: new AbortController().signal, onChunk: () => undefined, maxReplyBytes: MEGABYTE },
    );

    expect(outcome).toMatchObject({ kind: 'reply', reply: { finishReason: 'stop' } });
  });
});
