import { afterEach, describe, expect, it } from 'vitest';
import { textMessage } from '../../src/core/base/message.ts';
import type { ModelRequest } from '../../src/core/contract/model.ts';
import { entryFor, type CalledEntry } from '../../src/define/model/model-entry.ts';
import { callEntry } from '../../src/models/model-adapter.ts';
import { classifyModelError } from '../../src/models/model-failures.ts';
import { modelAt } from '../support/aimock.ts';
import { slowProviders, type SlowProvider } from '../support/slow-provider.ts';

const providers = slowProviders();
afterEach(() => providers.stop());

/** What a provider says of a cap that its model cannot reach. */
const TOO_LARGE = { error: { message: 'max_tokens is too large', type: 'invalid_request_error' } };

/** A provider whose model writes 8,192 tokens at most, or that answers 400 whatever it is asked. */
function strictProvider(most = 8_192): Promise<SlowProvider> {
  return providers.start([
    (response, _request, body) => {
      const { max_tokens: cap } = JSON.parse(body) as { readonly max_tokens?: number };
      const isRefused = most === 0 || (cap ?? 0) > most;
      response.writeHead(isRefused ? 400 : 200, { 'content-type': 'application/json' });
      const message = { role: 'assistant', content: 'done' };
      const choices = [{ index: 0, message, finish_reason: 'stop' }];
      response.end(JSON.stringify(isRefused ? TOO_LARGE : { id: 'x', model: 'm', choices }));
    },
  ]);
}

function entryAt({ url }: SlowProvider, more: Partial<CalledEntry> = {}): CalledEntry {
  const model = modelAt(url, 'openai-compatible');
  return { id: 'm', model, ...more, settings: { stream: false, ...more.settings } };
}

/** Asks `entry` with what the budgets pay: its text, or the code of its failure. */
async function ask(entry: CalledEntry, maxOutputTokens: number): Promise<string> {
  const request: ModelRequest = {
    mode: 'text',
    agent: 'a',
    runId: 'r',
    iteration: 1,
    attempt: 1,
    cacheUpTo: 0,
    messages: [textMessage('user', 'Go')],
    settings: {},
  };
  const io = { signal: new AbortController().signal, onChunk: () => undefined };
  try {
    const outcome = await callEntry(entryFor(entry, { maxOutputTokens }), request, io);
    return outcome.kind === 'reply' ? outcome.reply.finishReason : outcome.kind;
  } catch (error) {
    return classifyModelError(error).code;
  }
}

function capsOf({ requests }: SlowProvider): readonly unknown[] {
  return requests.map((body) => (JSON.parse(body) as { max_tokens?: number }).max_tokens ?? null);
}

describe('what budgets pay of the output of a call [R8]', () => {
  it('is the cap that the provider gets', async () => {
    const provider = await strictProvider();
    expect(await ask(entryAt(provider), 700)).toBe('stop');
    expect(capsOf(provider)).toEqual([700]);
  });

  it.each([
    ['of its entry', { maxOutputTokens: 500 }],
    ['in the settings of its entry', { settings: { maxOutputTokens: 500 } }],
  ])('is never more than the maximum %s', async (_where, more) => {
    const provider = await strictProvider();
    const entry = entryAt(provider, more);
    await ask(entry, 700);
    await ask(entry, 300);
    expect(capsOf(provider)).toEqual([500, 300]);
  });

  it('is left out when the provider refuses it, and again for the same model', async () => {
    const provider = await strictProvider();
    const entry = entryAt(provider);
    for (const paid of [200_000, 300_000, 20_000, 8_000]) {
      expect(await ask(entry, paid)).toBe('stop');
    }
    expect(capsOf(provider)).toEqual([200_000, null, null, 20_000, null, 8_000]);
  });

  it('is not forgotten because a request is refused for another reason', async () => {
    const provider = await strictProvider(0);
    const entry = entryAt(provider);
    expect(await ask(entry, 20_000)).toBe('model_request_refused');
    expect(await ask(entry, 20_000)).toBe('model_request_refused');
    expect(capsOf(provider)).toEqual([20_000, null, 20_000, null]);
  });

  it('is kept when it is small: a provider that refuses that wants a larger one', async () => {
    const provider = await strictProvider(0);
    expect(await ask(entryAt(provider), 4_096)).toBe('model_request_refused');
    expect(await ask(entryAt(provider, { maxOutputTokens: 9_000 }), 8_000)).toBe(
      'model_request_refused',
    );
    expect(capsOf(provider)).toEqual([4_096, 8_000]);
  });
});
