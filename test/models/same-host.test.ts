/** Redirects: keys and conversations stay at the host of the provider. */
import { describe, expect, it } from 'vitest';
import { textMessage } from '../../src/core/base/message.ts';
import { callEntry } from '../../src/models/model-adapter.ts';
import { classifyModelError } from '../../src/models/model-failures.ts';
import { modelAt, protocols, sse, startPlainServer } from '../support/aimock.ts';

const request = {
  mode: 'chat',
  agent: 'tester',
  runId: 'run-1',
  iteration: 1,
  attempt: 1,
  messages: [textMessage('user', 'Hi')],
  settings: {},
  cacheUpTo: 0,
} as const;
const io = { signal: new AbortController().signal, onChunk: () => undefined };

describe('a provider that redirects', () => {
  it.each(protocols)('to another host is not followed: %s', async (protocol) => {
    let reached = 0;
    const other = await startPlainServer((_request, response) => {
      reached += 1;
      response.end();
    });
    const server = await startPlainServer(({ url }, response) => {
      response.writeHead(307, {
        location: `${other.url.replace('127.0.0.1', 'localhost')}${url ?? ''}`,
      });
      response.end();
    });

    const entry = { id: 'provider/model', model: modelAt(server.url, protocol) };
    const failure = await callEntry(entry, request, io).then(
      () => undefined,
      (error: unknown) => classifyModelError(error),
    );

    expect(reached).toBe(0);
    expect([failure?.code, failure?.retryable]).toEqual(['model_request_refused', false]);
    expect(failure?.message).toContain('The provider redirects to http://localhost:');
  });

  it('within its host is followed', async () => {
    const event = {
      id: 'c1',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [{ index: 0, delta: { content: 'Hello.' }, finish_reason: 'stop' }],
    };
    const server = await startPlainServer(({ url = '' }, response) => {
      const isMoved = url.startsWith('/new');
      response.writeHead(isMoved ? 200 : 308, {
        'content-type': 'text/event-stream',
        ...(isMoved ? {} : { location: `/new${url}` }),
      });
      response.end(isMoved ? sse([event]) : '');
    });

    const entry = { id: 'provider/model', model: modelAt(server.url, 'openai-chat') };
    const outcome = await callEntry(entry, request, io);

    if (outcome.kind !== 'reply') throw new Error('Expected a reply, got an abort.');
    expect(outcome.reply.parts).toEqual([{ type: 'text', text: 'Hello.' }]);
  });

  it('for ever costs its call', async () => {
    const server = await startPlainServer(({ url = '' }, response) => {
      response.writeHead(307, { location: url });
      response.end();
    });

    const entry = { id: 'provider/model', model: modelAt(server.url, 'openai-chat') };

    await expect(callEntry(entry, request, io)).rejects.toThrow('redirects');
  });
});
