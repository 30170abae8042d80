/** The mocks of the suite refuse what real providers refuse: see `support/refusing/refuse-live.ts`. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startPlainServer } from '../support/aimock.ts';
import { expectTaken, refuseLive, UNCHECKED } from '../support/refusing/refuse-live.ts';

let folder: string;
let stop: () => void;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'everloop-refusing-'));
  // What follows is no request of the suite.
  stop = refuseLive(folder, '/never');
});
afterEach(async () => {
  stop();
  await rm(folder, { recursive: true, force: true });
});

async function post(url: string, body: object): Promise<readonly [number, unknown]> {
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  return [answer.status, await answer.json()];
}

const blank = { model: 'm', messages: [{ role: 'user', content: ' ' }] };
const tool = { type: 'function', function: { name: 'two words', parameters: {} } };

describe('a provider that a test plays', () => {
  test.each([
    {
      path: '/v1/messages',
      body: blank,
      error: {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: expect.stringContaining('non-whitespace'),
        },
      },
    },
    {
      path: '/v1/responses',
      body: { input: [{ role: 'user', content: ' ' }] },
      error: { error: { message: "Invalid 'input[0].content': empty." } },
    },
    {
      path: '/v1/chat/completions',
      body: { messages: [{ role: 'user', content: 'Go.' }], tools: [tool] },
      error: { error: { message: expect.stringContaining('does not match pattern') } },
    },
    {
      path: '/v1/chat/completions',
      body: { model: 'mistral-large', messages: [{ role: 'tool', content: 'Rain.' }] },
      error: { object: 'error', code: '3230', message: expect.any(String) },
    },
    {
      path: '/v1beta/models/gemini-2.5-pro:generateContent?alt=sse',
      body: { contents: [{ role: 'model', parts: [{ text: 'Hi.' }] }] },
      error: { error: { code: 400, status: 'INVALID_ARGUMENT' } },
    },
  ])('answers 400 as the real one does: $path', async ({ path, body, error }) => {
    let asked = 0;
    const server = await startPlainServer((_request, response) => {
      asked += 1;
      response.end('{}');
    });
    const long = { ...body, metadata: 'long '.repeat(50_000) };

    const answer = await post(`${server.url}${UNCHECKED}${path}`, long);
    await server.stop();

    expect(answer).toMatchObject([400, error]);
    expect(asked).toBe(0);
    expect(() => expectTaken(folder)).toThrow(/^Expected no request that a provider refuses, got:/);
  });

  test('answers itself what real ones take, and what is no request to a model', async () => {
    const server = await startPlainServer((_request, response, body) => response.end(body));
    const taken = { messages: [{ role: 'user', content: 'Go.' }] };

    expect(await post(`${server.url}/v1/chat/completions`, taken)).toEqual([200, taken]);
    expect(await post(`${server.url}/other`, blank)).toEqual([200, blank]);
    await server.stop();

    expect(() => expectTaken(folder)).not.toThrow();
  });
});
