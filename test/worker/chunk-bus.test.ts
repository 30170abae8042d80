import { describe, expect, it } from 'vitest';
import type { ChunkSubscription } from '../../src/client/streaming/chunk-queue.ts';
import type { Chunk, ChunkMarker } from '../../src/core/streaming/chunk.ts';
import { createChunkBus } from '../../src/worker/streaming/chunk-bus.ts';
import { chunk } from '../support/chunks.ts';

/** What a stream gives until it ends, as `seq` or the kind of a marker. */
async function drain(subscription: ChunkSubscription): Promise<readonly string[]> {
  const items: string[] = [];
  for await (const item of subscription) items.push(nameOf(item));
  return items;
}

function nameOf(item: Chunk | ChunkMarker): string {
  return 'delta' in item ? item.delta : `${item.kind}@${item.seq}`;
}

const child = { runId: 'child' };
const stranger = { runId: 'x', rootRunId: 'x' };

describe('createChunkBus [row 54]', () => {
  it.each([
    { name: 'one run', filter: { runId: 'r' }, got: ['root'] },
    { name: 'a tree', filter: { rootRunId: 'r' }, got: ['root', 'child'] },
    { name: 'all', filter: {}, got: ['root', 'child', 'stranger'] },
  ])('delivers $name in order', async ({ filter, got }) => {
    const bus = createChunkBus();
    const subscription = bus.subscribe(filter);

    bus.publish(chunk(0, 'root'));
    bus.publish(chunk(0, 'child', child));
    bus.publish(chunk(0, 'stranger', stranger));
    bus.close();

    expect(await drain(subscription)).toEqual(got);
  });

  it('delivers to a reader that already waits', async () => {
    const bus = createChunkBus();
    const reading = drain(bus.subscribe({ runId: 'r' }));

    bus.publish(chunk(0, 'a'));
    await Promise.resolve();
    bus.publish(chunk(1, 'b'));
    bus.endRun('r');

    expect(await reading).toEqual(['a', 'b']);
  });

  it('drops the oldest of a reader that is too slow, and says so once', async () => {
    const bus = createChunkBus({ maxQueued: 3 });
    const slow = bus.subscribe({});

    for (let seq = 0; seq < 10; seq++) bus.publish(chunk(seq, String(seq)));
    const iterator = slow[Symbol.asyncIterator]();
    const first = [await iterator.next(), await iterator.next()];
    bus.publish(chunk(10, '10'));
    bus.publish(chunk(11, '11'));
    bus.close();

    expect(first.map(({ value }) => nameOf(value as Chunk))).toEqual(['gap@0', '7']);
    expect(await drain(slow)).toEqual(['gap@8', '9', '10', '11']);
  });

  it('bounds what waits by its text too: models that do not stream send whole replies', async () => {
    const bus = createChunkBus();
    const slow = bus.subscribe({});
    const reply = 'x'.repeat(1_000_000);

    for (let seq = 1; seq <= 20; seq++) bus.publish(chunk(seq, reply));
    bus.close();
    const items = await drain(slow);

    expect(items).toHaveLength(9);
    expect(items[0]).toBe('gap@1');
  });

  it('loses nothing of a queue that is long but not full', async () => {
    const bus = createChunkBus();
    const subscription = bus.subscribe({});
    const all = Array.from({ length: 10_000 }, (_, seq) => String(seq));

    for (const [seq, delta] of all.entries()) bus.publish(chunk(seq, delta));
    bus.close();

    expect(await drain(subscription)).toEqual(all);
  });

  it('takes 100,000 pieces that nobody reads: the newest are kept, the rest is a gap', async () => {
    const bus = createChunkBus();
    bus.publish(chunk(0, 'without any subscriber', stranger));
    const asleep = bus.subscribe({ runId: 'r' });
    const last = Array.from({ length: 10_000 }, (_, index) => String(90_000 + index));

    for (let seq = 0; seq < 100_000; seq++) bus.publish(chunk(seq, String(seq)));
    bus.close();

    expect(await drain(asleep)).toEqual(['gap@0', ...last]);
  });

  it('ends the readers of a run that has ended, and drops what is late', async () => {
    const bus = createChunkBus();
    const ofRun = bus.subscribe({ runId: 'child' });
    const ofTree = bus.subscribe({ rootRunId: 'r' });

    bus.publish(chunk(0, 'child', child));
    bus.endRun('child');
    bus.publish(chunk(1, 'late', child));
    bus.publish(chunk(0, 'root'));
    bus.endRun('r');
    bus.publish(chunk(1, 'late'));

    expect(await drain(ofRun)).toEqual(['child']);
    expect(await drain(ofTree)).toEqual(['child', 'root']);
    expect(await drain(bus.subscribe({ runId: 'child' }))).toEqual([]);
  });

  it('lets a reader leave, twice if it likes, without disturbing others', async () => {
    const bus = createChunkBus();
    const leaving = bus.subscribe({});
    const staying = bus.subscribe({});
    bus.publish(chunk(0, 'a'));

    leaving.unsubscribe();
    leaving.unsubscribe();
    bus.publish(chunk(1, 'b'));
    bus.close();

    expect(await drain(leaving)).toEqual([]);
    expect(await drain(staying)).toEqual(['a', 'b']);
  });

  it('lets a reader leave by breaking out of its loop', async () => {
    const bus = createChunkBus();
    const subscription = bus.subscribe({});
    bus.publish(chunk(0, 'a'));
    bus.publish(chunk(1, 'b'));

    for await (const item of subscription) {
      expect(nameOf(item)).toBe('a');
      break;
    }
    bus.publish(chunk(2, 'c'));

    expect(await drain(subscription)).toEqual([]);
  });

  it('ends a reader that waits when the bus is closed, and later ones at once', async () => {
    const bus = createChunkBus();
    const reading = drain(bus.subscribe({}));

    bus.close();

    expect(await reading).toEqual([]);
    expect(await drain(bus.subscribe({}))).toEqual([]);
  });
});
