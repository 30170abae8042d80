import { describe, expect, it, vi } from 'vitest';
import { collect, type Chunk, type ChunkMarker } from '../../src/core/streaming/chunk.ts';
import { createChunkBus } from '../../src/worker/streaming/chunk-bus.ts';
import {
  createKeptReplies,
  KEPT_ENDED_MS,
  KEPT_REPLY_CHARACTERS,
} from '../../src/worker/streaming/kept-replies.ts';
import { chunk, marker } from '../support/chunks.ts';

const ofR = { runId: 'r' };

/** Items in short: `1.1.3 text Rom[1,2]`. */
function shown(items: readonly (Chunk | ChunkMarker)[]): readonly string[] {
  return items.map((item) => {
    const place = `${item.iteration}.${item.attempt}.${item.seq} ${item.kind}`;
    if (!('delta' in item)) return place;
    return `${place} ${item.delta}${item.lengths === undefined ? '' : `[${item.lengths.join()}]`}`;
  });
}

describe('createKeptReplies', () => {
  it('gives the open reply as it was written, joined by kind', () => {
    const kept = createKeptReplies();
    const pieces = [
      chunk(1, 'hm', { kind: 'reasoning' }),
      chunk(2, 'R'),
      chunk(3, 'om'),
      chunk(4, '{', { kind: 'tool_args' }),
    ];

    for (const piece of pieces) kept.add(piece);

    expect(shown(kept.itemsFor(ofR))).toEqual([
      '1.1.1 reasoning hm',
      '1.1.3 text Rom[1,2]',
      '1.1.4 tool_args {',
    ]);
  });

  it.each<{ name: string; after: readonly (Chunk | ChunkMarker)[]; left: readonly string[] }>([
    { name: 'an error', after: [marker(2, 'error')], left: [] },
    {
      name: 'another attempt',
      after: [marker(1, 'restart', { attempt: 2 }), chunk(2, 'new', { attempt: 2 })],
      left: ['1.2.1 restart', '1.2.2 text new'],
    },
    {
      name: 'another attempt after its end',
      after: [marker(2, 'end'), marker(1, 'restart', { attempt: 2 })],
      left: ['1.2.1 restart'],
    },
    {
      name: 'the next iteration',
      after: [chunk(1, 'next', { iteration: 2 })],
      left: ['2.1.1 text next'],
    },
  ])('drops a reply that is dead by $name', ({ after, left }) => {
    const kept = createKeptReplies();
    kept.add(chunk(1, 'dead'));

    for (const item of after) kept.add(item);

    expect(shown(kept.itemsFor(ofR))).toEqual(left);
  });

  it('drops the open reply of a run that ends', () => {
    const kept = createKeptReplies();
    kept.add(chunk(1, 'cut off'));

    kept.endRun('r');

    expect(kept.itemsFor({})).toEqual([]);
  });

  it('keeps complete replies for a while, also those of earlier iterations', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      const kept = createKeptReplies();
      for (const iteration of [1, 2]) {
        kept.add(chunk(1, 'said', { iteration }));
        kept.add(marker(2, 'end', { iteration }));
      }
      const before = shown(kept.itemsFor(ofR));

      vi.advanceTimersByTime(2 * KEPT_ENDED_MS);

      expect(before).toEqual(['1.1.1 text said', '1.1.2 end', '2.1.1 text said', '2.1.2 end']);
      expect(kept.itemsFor({})).toEqual([]);
    } finally {
      vi.useRealTimers();
    }
  });

  it.each([
    { name: 'pieces of four characters', count: 80_000, delta: 'abcd', kinds: ['text'] as const },
    { name: 'a megabyte', count: 2, delta: 'x'.repeat(1_048_576), kinds: ['text'] as const },
    { name: 'empty pieces', count: 200_000, delta: '', kinds: ['text'] as const },
    {
      name: 'kinds that alternate',
      count: 20_000,
      delta: 'a',
      kinds: ['text', 'reasoning'] as const,
    },
  ])('keeps the end of a long reply and marks the gap: $name', ({ count, delta, kinds }) => {
    const kept = createKeptReplies();

    for (let seq = 1; seq <= count; seq++) {
      kept.add(chunk(seq, delta, { kind: kinds[seq % kinds.length] ?? 'text' }));
    }

    const items = kept.itemsFor(ofR);
    const characters = items.reduce((sum, one) => sum + ('delta' in one ? one.delta.length : 0), 0);
    const pieces = items.reduce(
      (sum, one) => sum + ('delta' in one ? (one.lengths?.length ?? 1) : 0),
      0,
    );
    expect(items[0]).toMatchObject({ kind: 'gap', seq: 1 });
    expect(items.at(-1)?.seq).toBe(count);
    expect(characters).toBeLessThanOrEqual(KEPT_REPLY_CHARACTERS);
    expect(pieces).toBeLessThan(150_000);
    if (delta === 'abcd') expect(characters).toBeGreaterThan(KEPT_REPLY_CHARACTERS - 10_000);
  });

  it('lets the oldest runs go when all replies together are too long', () => {
    const kept = createKeptReplies({ maxBytes: 100_000 });
    const text = 'x'.repeat(10_000);

    for (let run = 1; run <= 50; run++) kept.add(chunk(1, text, { runId: `run-${run}` }));
    kept.add(chunk(2, ' more', { runId: 'run-1' }));

    const items = kept.itemsFor({});
    expect(items.length).toBeLessThan(10);
    expect(items.some(({ runId }) => runId === 'run-50')).toBe(true);
    // It began again, and says that its beginning is missing.
    const first = kept.itemsFor({ runId: 'run-1' });
    expect(first.map(({ kind, seq }) => `${kind}@${seq}`)).toEqual(['gap@1', 'text@2']);
  });
});

describe('a late reader of a bus', () => {
  it('has every word of the reply that is being written, once', async () => {
    const bus = createChunkBus();
    const words = Array.from({ length: 5_000 }, (_, index) => `word-${index} `);
    words.slice(0, 3_000).forEach((word, index) => bus.publish(chunk(index + 1, word)));

    const late = bus.subscribe(ofR);
    words.slice(3_000).forEach((word, index) => bus.publish(chunk(index + 3_001, word)));
    bus.publish(marker(5_001, 'end'));
    bus.endRun('r');

    const items: (Chunk | ChunkMarker)[] = [];
    for await (const item of late) items.push(item);
    expect(collect(items)).toEqual({ text: words.join(''), reasoning: '', complete: true });
  });

  it('of a run that has just ended has its replies, then the end', async () => {
    const bus = createChunkBus();
    bus.publish(chunk(1, 'done'));
    bus.publish(marker(2, 'end'));
    bus.endRun('r');

    const kinds: string[] = [];
    for await (const item of bus.subscribe(ofR)) kinds.push(item.kind);

    expect(kinds).toEqual(['text', 'end']);
  });
});
