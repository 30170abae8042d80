import { describe, expect, it } from 'vitest';
import type { ModelRequest } from '../../src/core/contract/model.ts';
import { textMessage } from '../../src/core/base/message.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';

const request: ModelRequest = {
  mode: 'react',
  agent: 'tester',
  runId: 'run-1',
  iteration: 1,
  attempt: 1,
  messages: [textMessage('system', 'Be brief.'), textMessage('user', 'Why?')],
  settings: {},
  cacheUpTo: 1,
};
const io = { signal: new AbortController().signal, onChunk: () => undefined };
const usage = { inputTokens: 100, outputTokens: 10 };

describe('a scripted model', () => {
  it('plays its replies in order and keeps what it was asked', async () => {
    const script = scriptedModel(['a', { content: 'b', usage: null }, ({ agent }) => agent]);

    const replies = [
      await script.model(request, io),
      await script.model(request, io),
      await script.model(request, io),
    ];

    script.assertDone();
    expect(replies).toEqual([
      { content: 'a', usage },
      { content: 'b', usage: null },
      { content: 'tester', usage },
    ]);
    expect(script.requests).toEqual([request, request, request]);
  });

  it('throws an error of the script as it is', async () => {
    const error = new Error('busy');
    const script = scriptedModel([error]);

    await expect(script.model(request, io)).rejects.toBe(error);
    script.assertDone();
  });

  it('fails the test when it is asked too often, and shows the request', async () => {
    const script = scriptedModel([]);
    const message = 'Expected at most 0 requests, got one more:\nsystem: Be brief.\nuser: Why?';

    await expect(script.model(request, io)).rejects.toThrow(message);
    expect(() => script.assertDone()).toThrow(message);
  });

  it('is asked too often in a way that no retry hides', async () => {
    const script = scriptedModel([]);

    await expect(script.model(request, io)).rejects.toMatchObject({ statusCode: 400 });
  });

  it('fails the test when it is asked too rarely', async () => {
    const script = scriptedModel(['a', 'b']);
    await script.model(request, io);

    expect(() => script.assertDone()).toThrow(
      'Expected 2 requests, got 1. The script is not used up.',
    );
  });
});
