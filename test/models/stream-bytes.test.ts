/**
 * A network cuts a stream anywhere: in a line, in a name, in the bytes of one character. Whatever it
 * does, each provider's reply is the same. A server between mock and model cuts what it passes on.
 */
import type { LLMock } from '@copilotkit/aimock';
import fc from 'fast-check';
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callEntry } from '../../src/models/model-adapter.ts';
import { textMessage } from '../../src/core/base/message.ts';
import type { ModelChunk, Reply } from '../../src/core/contract/model.ts';
import {
  modelAt,
  protocols,
  startAimock,
  startPlainServer,
  type PlainServer,
  type Protocol,
} from '../support/aimock.ts';
import { extent } from '../support/extent.ts';

const SAID = {
  content: 'Grüße 😀 aus Köln: <answer>"x"</answer>\n\ndata: no event',
  toolCalls: [{ id: 'call_a', name: 'look', arguments: { city: 'Tōkyō 🗼' } }],
};
const usage = {
  prompt_tokens: 20,
  completion_tokens: 7,
  input_tokens: 20,
  output_tokens: 7,
  promptTokenCount: 20,
  candidatesTokenCount: 7,
};

let mock: LLMock;
let cutter: PlainServer;
/** Lengths of the pieces in bytes, in turn; none: all at once. */
let sizes: readonly number[] = [];

beforeAll(async () => {
  mock = await startAimock();
  cutter = await startPlainServer((request, response, body) => {
    void passOn(request.url ?? '', request.headers as Record<string, string>, body, response);
  });
});
afterAll(async () => {
  await cutter.stop();
  await mock.stop();
});

async function passOn(
  path: string,
  headers: Record<string, string>,
  body: string,
  response: ServerResponse,
): Promise<void> {
  const {
    host,
    connection,
    'content-length': length,
    'transfer-encoding': coding,
    ...kept
  } = headers;
  void [host, connection, length, coding];
  const answer = await fetch(`${mock.url}${path}`, { method: 'POST', headers: kept, body });
  const bytes = Buffer.from(await answer.arrayBuffer());
  response.writeHead(answer.status, {
    'content-type': answer.headers.get('content-type') ?? 'text/event-stream',
  });
  response.socket?.setNoDelay(true);
  for (let at = 0, place = 0; at < bytes.length; place++) {
    const size = sizes[place % sizes.length] ?? bytes.length;
    response.write(bytes.subarray(at, at + size));
    at += size;
    await nextTurn();
  }
  response.end();
}

/** The reply over `protocol`, ids left out, and what was streamed of it, joined by kind. */
async function replyOver(protocol: Protocol): Promise<object> {
  const chunks: ModelChunk[] = [];
  const outcome = await callEntry(
    { id: 'm', model: modelAt(cutter.url, protocol) },
    {
      mode: 'chat',
      agent: 'tester',
      runId: 'run-1',
      iteration: 1,
      attempt: 1,
      messages: [textMessage('user', 'greet')],
      tools: [{ name: 'look', description: 'Looks.', parameters: { type: 'object' } }],
      settings: {},
      cacheUpTo: 0,
    },
    { signal: new AbortController().signal, onChunk: (chunk) => chunks.push(chunk) },
  );
  if (outcome.kind !== 'reply') throw new Error(`Expected a reply, got ${outcome.kind}.`);
  const joined = (kind: ModelChunk['kind']): string =>
    chunks.map((chunk) => (chunk.kind === kind ? chunk.delta : '')).join('');
  return { ...withoutIds(outcome.reply), text: joined('text'), args: joined('tool_args') };
}

function withoutIds({ parts, usage: used, finishReason }: Reply): object {
  return {
    parts: parts.map((part) => ({
      type: part.type,
      ...('text' in part ? { text: part.text } : {}),
      ...('args' in part ? { tool: part.tool, args: part.args } : {}),
    })),
    used,
    finishReason,
  };
}

test.each(protocols)(
  '[row 53] [row 54] %s: any cut of the bytes gives the same reply',
  async (protocol) => {
    mock.clearFixtures();
    const isGoogle = protocol === 'google';
    mock.onMessage(
      /^greet$/,
      { ...SAID, usage, ...(isGoogle ? { finishReason: 'stop' } : {}) },
      { chunkSize: 5 },
    );
    sizes = [];
    const whole = await replyOver(protocol);

    expect(whole).toMatchObject({
      text: SAID.content,
      args: JSON.stringify(SAID.toolCalls[0]?.arguments),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 }),
        async (cuts) => {
          sizes = cuts;
          expect(await replyOver(protocol)).toEqual(whole);
        },
      ),
      { numRuns: extent(12, 4) },
    );
  },
);
