import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { openAhead, streamOf, type StreamParts } from '../../src/client/streaming/run-stream.ts';
import { createReaderQueue } from '../../src/client/streaming/chunk-queue.ts';
import type { Chunk, ChunkMarker } from '../../src/core/streaming/chunk.ts';
import { chunk, marker } from '../support/chunks.ts';
import { gate } from '../support/runs.ts';

/** A source with one queue, a run that ends when the test says so, and what was asked of both. */
function fakes(over: Partial<StreamParts> = {}) {
  const asked: string[] = [];
  const ended = gate<unknown>();
  const queue = createReaderQueue<Chunk | ChunkMarker>(100, () => void asked.push('left'));
  const parts: StreamParts = {
    id: 'r',
    wholeTree: false,
    chunks: {
      subscribe: (filter) => {
        asked.push(`subscribe ${JSON.stringify(filter)}`);
        return queue.subscription;
      },
    },
    identify: async () => ({ runId: 'r', isRoot: true, endedAt: null }),
    result: () => ended.opened,
    ...over,
  };
  return { asked, queue, parts, end: (step: unknown) => ended.open(step) };
}

async function read(parts: StreamParts): Promise<readonly string[]> {
  const items: (Chunk | ChunkMarker)[] = [];
  for await (const item of streamOf(parts)) items.push(item);
  return items.map((item) => ('delta' in item ? item.delta : item.kind));
}

describe('streamOf', () => {
  it('waits after the end of the run for the rest of a reply', async () => {
    const { parts, queue, end } = fakes();
    const reading = read(parts);
    queue.push(chunk(1, 'half '));
    end({ iterations: 1 });

    await sleep(200);
    queue.push(chunk(2, 'whole'));
    queue.push(marker(3, 'end'));

    expect(await reading).toEqual(['half ', 'whole', 'end']);
  });

  it.each([
    { name: 'another iteration', items: [chunk(1, 'a'), marker(2, 'end')] },
    { name: 'a reply that failed', items: [chunk(1, 'a'), marker(2, 'error')] },
    { name: 'no text at all', items: [] },
    { name: 'a reply that never ends', items: [chunk(1, 'a')] },
  ])('ends by itself when the run ended after $name', async ({ items }) => {
    const { asked, parts, queue, end } = fakes();
    for (const item of items) queue.push(item);
    end({ iterations: 2 });

    expect(await read(parts)).toHaveLength(items.length);
    expect(asked.at(-1)).toBe('left');
  });

  it('gives nothing of a run that ended long ago, and subscribes to nothing', async () => {
    const { asked, parts } = fakes({
      identify: async () => ({ runId: 'r', isRoot: true, endedAt: Date.now() - 60_000 }),
    });

    expect(await read(parts)).toEqual([]);
    expect(asked).toEqual([]);
  });

  it('refuses the tree of a run that is no root', async () => {
    const { parts } = fakes({
      wholeTree: true,
      identify: async () => ({ runId: 'r', isRoot: false, endedAt: null }),
    });

    await expect(read(parts)).rejects.toMatchObject({ code: 'no_stream' });
  });
});

describe('openAhead', () => {
  it('subscribes at once, and gives what came to the first reader', async () => {
    const { asked, parts, queue, end } = fakes();
    const opened = openAhead(parts.chunks!, 'r');
    queue.push(chunk(1, 'early'));
    queue.push(marker(2, 'end'));
    end({ iterations: 1 });

    expect(asked).toEqual(['subscribe {"runId":"r"}']);
    expect(await read({ ...parts, opened })).toEqual(['early', 'end']);
    expect(opened()).toBeUndefined();
  });

  it('leaves after a minute without a reader', () => {
    vi.useFakeTimers();
    try {
      const { asked, parts } = fakes();
      const opened = openAhead(parts.chunks!, 'r');

      vi.advanceTimersByTime(60_000);

      expect(asked.at(-1)).toBe('left');
      expect(opened()).toBeUndefined();
    } finally {
      vi.useRealTimers();
    }
  });
});
