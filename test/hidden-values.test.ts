/** The suite's proof that nothing hidden reaches a model would notice it: see `support/hidden-values.ts`. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineAgent } from '../src/define/agent/define-agent.ts';
import { startInMemory } from '../src/testing/run-in-memory.ts';
import { AI_SDK, modelAt, protocols, startAimock, startPlainServer } from './support/aimock.ts';
import {
  expectHidden,
  HIDDEN_VALUE,
  recordRequests,
  REQUESTS_FOLDER,
  requestsWith,
  withHiddenValue,
} from './support/hidden-values.ts';

let folder: string;
let stop: () => void;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'everloop-hidden-'));
  stop = recordRequests(folder);
});
afterAll(async () => {
  stop();
  await rm(folder, { recursive: true, force: true });
});

describe('a value in a request [sub 19]', () => {
  it.each(protocols)('is found, whatever is spoken: %s', async (protocol) => {
    const mock = await startAimock();
    mock.onMessage(/./, { content: 'done', usage: { prompt_tokens: 1, completion_tokens: 1 } });
    const model = { id: 'm', model: modelAt(mock.url, protocol) };
    const agent = defineAgent({ name: 'teller', mode: 'text', model });
    const shown = `shown-${AI_SDK}-${protocol}`;

    const step = await startInMemory({
      agent,
      task: 'Tell.',
      context: { shown, _hidden: `hidden-${protocol}` },
    }).result;
    await mock.stop();

    expect(step.status).toBe('success');
    expect(requestsWith(folder, shown).found).toEqual([expect.stringContaining(shown)]);
    expect(() => expectHidden(folder, shown)).toThrow(
      /^Expected no model to see what is hidden, got 1 of \d+ requests with it:\n\/v1/,
    );
    expect(() => expectHidden(folder, `hidden-${protocol}`)).not.toThrow();
    // The recorder of the suite has heard the same.
    expect(requestsWith(process.env[REQUESTS_FOLDER] ?? '', shown).found).toHaveLength(1);
  });

  it('is found at a plain server, and the server reads all of the body', async () => {
    const bodies: string[] = [];
    const server = await startPlainServer((_request, response, body) => {
      bodies.push(body);
      response.end();
    });
    const body = `${'long '.repeat(50_000)}plain-value\nend`;

    await fetch(`${server.url}/ask`, { method: 'POST', body });
    await server.stop();

    expect(bodies).toEqual([body]);
    expect(requestsWith(folder, 'plain-value').found).toEqual([
      `/ask: …${'long '.repeat(40)}plain-value end…`,
    ]);
  });
});

describe('the context of a start', () => {
  it.each([
    { name: 'none', given: undefined, hidden: { _hidden: HIDDEN_VALUE } },
    { name: 'an object', given: { a: 1 }, hidden: { a: 1, _hidden: { deep: [HIDDEN_VALUE] } } },
    { name: 'a mistake', given: [1], hidden: [1] },
  ])('$name gets the hidden value', ({ given, hidden }) => {
    expect(withHiddenValue(given)).toEqual(hidden);
  });
});
