import { createServer, type AddressInfo, type Socket } from 'node:net';
import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import type { CalledEntry } from '../../src/define/model/model-entry.ts';
import { modelEntryProblems } from '../../src/define/model/model-problems.ts';
import { callEntry } from '../../src/models/model-adapter.ts';
import { classifyModelError } from '../../src/models/model-failures.ts';
import type { ModelFunction, ModelRequest } from '../../src/core/contract/model.ts';
import { textMessage } from '../../src/core/base/message.ts';
import { modelAt, protocols, startPlainServer, type Protocol } from '../support/aimock.ts';
import { beginningOf } from '../support/partial-streams.ts';
import { passing } from '../support/passing.ts';

/** A busy machine notices a closed connection late. */
const SLOW = 10_000;

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const request: ModelRequest = {
  mode: 'chat',
  agent: 'tester',
  runId: 'run-1',
  iteration: 1,
  attempt: 1,
  messages: [textMessage('user', 'greet')],
  settings: {},
  cacheUpTo: 0,
};

interface Provider {
  readonly url: string;
  /** Requests that arrived. */
  readonly asked: () => number;
  /** Those whose connection has closed. */
  readonly closed: () => number;
}

/** A provider that answers each request with `answer`, and what became of its connections. */
async function provider(answer: (response: ServerResponse) => void): Promise<Provider> {
  let asked = 0;
  let closed = 0;
  const server = await startPlainServer((_request, response) => {
    asked += 1;
    response.on('close', () => (closed += 1));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    answer(response);
  });
  stops.push(() => server.stop());
  return { url: server.url, asked: () => asked, closed: () => closed };
}

/** As {@link failureOf}, of a call whose request arrived: a busy machine may end one before that. */
async function failureOfAsked(
  { asked }: Provider,
  entry: Omit<CalledEntry, 'id'>,
): ReturnType<typeof failureOf> {
  for (;;) {
    const failure = await failureOf(entry);
    if (asked() > 0) return failure;
  }
}

async function failureOf(
  entry: Omit<CalledEntry, 'id'>,
): Promise<{ readonly message: string; readonly retryable: boolean }> {
  const io = { signal: new AbortController().signal, onChunk: () => undefined };
  const failure = await callEntry({ id: 'm', ...entry }, request, io).then(
    (outcome) => Promise.reject(new Error(`Expected a failure, got ${outcome.kind}.`)),
    (error: unknown) => classifyModelError(error),
  );
  const { message, retryable } = failure;
  return { message, retryable };
}

describe('[R12] the deadlines of a model call', () => {
  it.each(protocols)('end a call whose provider sends nothing: %s', async (protocol) => {
    const silent = await provider((response) => response.flushHeaders());

    const model = modelAt(silent.url, protocol);
    const failure = await failureOfAsked(silent, { model, firstTokenMs: 300 });

    expect(failure).toMatchObject({
      message: 'The provider sent no token within 0.3 s (`firstTokenMs` of the model).',
      retryable: true,
    });
    await passing(() => expect(silent.closed()).toBe(silent.asked()), SLOW);
  });

  it.each<Protocol>(['openai-compatible', 'anthropic'])(
    'end a reply that stops in the middle: %s',
    async (protocol) => {
      const stalled = await provider((response) => response.write(beginningOf(protocol)));

      const failure = await failureOf({
        model: modelAt(stalled.url, protocol),
        firstTokenMs: 10_000,
        idleMs: 300,
      });

      expect(failure).toMatchObject({
        message: 'The provider sent nothing more for 0.3 s (`idleMs` of the model).',
        retryable: true,
      });
      await passing(() => expect(stalled.closed()).toBe(1), SLOW);
    },
  );

  it('end a call whose connection does not come about', async () => {
    const sockets: Socket[] = [];
    // Takes connections and never begins TLS.
    const mute = createServer((socket) => void sockets.push(socket));
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    stops.push(async () => {
      for (const socket of sockets) socket.destroy();
      mute.close();
    });
    const { port } = mute.address() as AddressInfo;

    const failure = await failureOf({
      model: modelAt(`https://127.0.0.1:${port}`, 'openai-compatible'),
      connectMs: 300,
    });

    expect(failure).toMatchObject({
      message: 'The provider could not be reached within 0.3 s (`connectMs` of the model).',
      retryable: true,
    });
  });

  it('leave a call alone whose first request failed and whose second is slow', async () => {
    const slow = await provider((response) => setTimeout(() => response.end('late'), 3_000));
    const gone = await startPlainServer(() => undefined);
    await gone.stop();
    const second: ModelFunction = async (_request, { signal }) => {
      await expect(fetch(gone.url)).rejects.toThrow();
      return await (await fetch(slow.url, { signal: signal as AbortSignal })).text();
    };
    const io = { signal: new AbortController().signal, onChunk: () => undefined };

    const outcome = await callEntry({ id: 'm', model: second, connectMs: 2_000 }, request, io);

    expect(outcome).toMatchObject({ kind: 'reply', reply: { parts: [{ text: 'late' }] } });
  });

  it('leave a slow provider alone that keeps sending', async () => {
    const slow = await provider((response) => {
      response.write(beginningOf('openai-compatible'));
      let sent = 0;
      const again = (): void => {
        const piece = { choices: [{ index: 0, delta: { content: 'x' }, finish_reason: null }] };
        const last = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
        sent += 1;
        response.write(`data: ${JSON.stringify(sent < 4 ? piece : last)}\n\n`);
        if (sent < 4) setTimeout(again, 1_000);
        else response.end('data: [DONE]\n\n');
      };
      setTimeout(again, 1_000);
    });
    const entry = { id: 'm', model: modelAt(slow.url, 'openai-compatible'), idleMs: 3_000 };
    const io = { signal: new AbortController().signal, onChunk: () => undefined };

    const outcome = await callEntry(entry, request, io);

    expect(outcome).toMatchObject({ kind: 'reply', reply: { finishReason: 'stop' } });
  });

  it('hold for a function only if its entry sets them', async () => {
    const never: ModelFunction = (_request, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('told to stop')));
      });

    const failure = await failureOf({ model: never, firstTokenMs: 50 });

    expect(failure.message).toBe(
      'The provider sent no token within 0.05 s (`firstTokenMs` of the model).',
    );
  });

  it('are numbers over 0', () => {
    const [problem, ...others] = modelEntryProblems([
      { id: 'm', model: async () => '', idleMs: 0, firstTokenMs: Infinity, connectMs: 5 },
    ]);

    expect(others).toEqual([]);
    expect(problem).toMatchObject({ code: 'model_time' });
    expect(problem?.message).toContain('idleMs');
    expect(problem?.message).toContain('Expected');
  });
});
