import { describe, expect, it } from 'vitest';
import {
  createTranscriptSource,
  type PageQuery,
  type TranscriptKey,
} from '../../src/activities/transcript-source.ts';
import { headDigest, messagesDigest } from '../../src/core/run/run-state.ts';
import type { TranscriptReference } from '../../src/core/contract/host-order.ts';
import type { Json } from '../../src/core/base/json.ts';
import { textMessage, type Message } from '../../src/core/base/message.ts';
import { pageOf } from '../../src/core/contract/page.ts';
import type { TranscriptHead } from '../../src/core/contract/transcript.ts';
import {
  createTranscriptCache,
  type BoundedTranscriptCache,
} from '../../src/worker/serve/transcript-cache.ts';
import { reactSpec } from '../core/runs/spec-fixture.ts';
import { gate } from '../support/runs.ts';

const key: TranscriptKey = {
  namespace: 'default',
  workflowId: 'run',
  executionId: 'execution',
  epoch: 1,
};
const head: TranscriptHead = { spec: reactSpec(), task: { text: 'Go' } };
const messages: readonly Message[] = ['a', 'b', 'c'].map((text) => textMessage('user', text));
const items = [head, ...messages] as unknown as readonly Json[];

function referenceTo(length: number): TranscriptReference {
  const digest = messagesDigest(headDigest(head), messages.slice(0, length));
  return { epoch: 1, length, digest };
}

interface Rig {
  readonly cache: BoundedTranscriptCache;
  readonly source: ReturnType<typeof createTranscriptSource>;
  /** Index and offset of each page that was asked for. */
  readonly asked: string[];
}

function rig(query: PageQuery, maxBytes = 1_000_000): Rig {
  const asked: string[] = [];
  const cache = createTranscriptCache({ maxBytes });
  const source = createTranscriptSource({
    cache,
    query: (asking, from) => {
      asked.push(`${from.index}.${from.offset}`);
      return query(asking, from);
    },
  });
  return { cache, source, asked };
}

const answering =
  (list: readonly Json[], maxBytes?: number): PageQuery =>
  async (_key, from) => ({ page: pageOf(list, from, maxBytes), stale: false });

describe('the transcript source', () => {
  it('asks the workflow when nothing is kept, and not again', async () => {
    const { source, asked } = rig(answering(items));

    const first = await source.resolve(key, referenceTo(3));
    const second = await source.resolve(key, referenceTo(3));

    expect(first).toEqual({ head, messages });
    expect(second).toEqual(first);
    expect(asked).toEqual(['0.0']);
  });

  it('gives exactly as many messages as the order names', async () => {
    const { source } = rig(answering(items));

    const view = await source.resolve(key, referenceTo(1));

    expect(view).toEqual({ head, messages: messages.slice(0, 1) });
  });

  it('reads only what is missing behind what is kept', async () => {
    const { source, cache, asked } = rig(answering(items));
    cache.append(key, 0, items.slice(0, 2));

    const view = await source.resolve(key, referenceTo(3));

    expect(view.messages).toEqual(messages);
    expect(asked).toEqual(['2.0']);
  });

  it('remembers the message that a reply becomes', async () => {
    const { source, cache, asked } = rig(answering(items));
    cache.append(key, 0, items.slice(0, 3));
    source.remember(key, referenceTo(2), messages[2] as Message);

    const view = await source.resolve(key, referenceTo(3));

    expect(view.messages).toEqual(messages);
    expect(asked).toEqual([]);
  });

  it('puts pages together, of items in parts too', async () => {
    const { source, asked } = rig(answering(items, 300));

    const view = await source.resolve(key, referenceTo(3));

    expect(view).toEqual({ head, messages });
    expect(asked.length).toBeGreaterThan(3);
  });

  it('drops what does not fit the digest, and reads again', async () => {
    const { source, cache, asked } = rig(answering(items));
    cache.append(key, 0, [items[0] as Json, 'x', 'y', 'z']);

    const view = await source.resolve(key, referenceTo(3));

    expect(view.messages).toEqual(messages);
    expect(asked).toEqual(['0.0']);
    expect(cache.read(key)).toEqual(items);
  });

  it('fails when the workflow itself does not have what was named', async () => {
    const { source } = rig(answering([items[0] as Json, 'x', 'y', 'z']));

    const resolving = source.resolve(key, referenceTo(3));

    await expect(resolving).rejects.toMatchObject({
      name: 'OtherTranscriptError',
      retryable: true,
      message: `Expected a transcript of 3 messages with digest ${referenceTo(3).digest}, got another one each time.`,
    });
  });

  it('fails when the epoch is over', async () => {
    const { source } = rig(async () => ({ page: { items: [], next: null }, stale: true }));

    await expect(source.resolve(key, referenceTo(3))).rejects.toMatchObject({
      name: 'OtherTranscriptError',
      retryable: false,
      message: 'Expected epoch 1 of the transcript, got a later one.',
    });
  });

  it('sends one reader for each execution', async () => {
    const open = gate();
    const { source, asked } = rig(async (_key, from) => {
      await open.opened;
      return { page: pageOf(items, from), stale: false };
    });
    const resolving = [1, 2, 3].map((length) => source.resolve(key, referenceTo(length)));
    const other = source.resolve({ ...key, executionId: 'other' }, referenceTo(3));

    open.open();
    const views = await Promise.all(resolving);
    await other;

    expect(views.map((view) => view.messages.length)).toEqual([1, 2, 3]);
    expect(asked).toEqual(['0.0', '0.0']);
  });

  it('asks again after a query that failed', async () => {
    let fails = true;
    const { source } = rig(async (_key, from) => {
      if (fails) throw new Error('busy');
      return { page: pageOf(items, from), stale: false };
    });

    await expect(source.resolve(key, referenceTo(3))).rejects.toThrow('busy');
    fails = false;

    expect((await source.resolve(key, referenceTo(3))).messages).toEqual(messages);
  });

  it('works with a cache that keeps nothing', async () => {
    const { source, asked } = rig(answering(items), 0);

    const views = [
      await source.resolve(key, referenceTo(2)),
      await source.resolve(key, referenceTo(3)),
    ];

    expect(views.map((view) => view.messages.length)).toEqual([2, 3]);
    expect(asked).toEqual(['0.0', '0.0']);
  });

  it('keeps epochs apart', async () => {
    const { source, cache } = rig(answering(items));
    cache.append({ ...key, epoch: 2 }, 0, ['other']);

    expect((await source.resolve(key, referenceTo(3))).messages).toEqual(messages);
    expect(cache.read({ ...key, epoch: 2 })).toEqual(['other']);
  });
});
