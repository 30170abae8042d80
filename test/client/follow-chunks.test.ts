import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  announcedEndpoints,
  endpointNotesDir,
  namedEndpoints,
  type EndpointAddress,
} from '../../src/client/streaming/chunk-endpoints.ts';
import type { ChunkSubscription } from '../../src/client/streaming/chunk-queue.ts';
import { followChunks } from '../../src/client/streaming/follow-chunks.ts';
import { collect, type Chunk, type ChunkMarker } from '../../src/core/streaming/chunk.ts';
import { createCleanup } from '../../src/worker/config/cleanup.ts';
import { announceEndpoint, openStreaming } from '../../src/worker/streaming/streaming.ts';
import { createChunkBus, type ChunkBus } from '../../src/worker/streaming/chunk-bus.ts';
import {
  openChunkEndpoint,
  type ChunkEndpoint,
} from '../../src/worker/streaming/chunk-endpoint.ts';
import { chunk, marker } from '../support/chunks.ts';
import { eventually } from '../support/eventually.ts';

const TOKEN = 'a-token-of-sixteen';

/** A worker's streaming half: its bus, and how many read it. */
interface FakeWorker extends ChunkEndpoint {
  readonly bus: ChunkBus;
  readonly readers: () => number;
}

const workers: FakeWorker[] = [];
const streams: ChunkSubscription[] = [];
let dataDir = '';

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'everloop-follow-'));
});
afterEach(async () => {
  for (const stream of streams.splice(0)) stream.unsubscribe();
  for (const worker of workers.splice(0)) await worker.close();
  await rm(dataDir, { recursive: true, force: true });
});

async function startWorker(port = 0): Promise<FakeWorker> {
  const bus = createChunkBus();
  const readers = new Set<ChunkSubscription>();
  const source = {
    subscribe: (filter: Parameters<ChunkBus['subscribe']>[0]): ChunkSubscription => {
      const subscription = bus.subscribe(filter);
      readers.add(subscription);
      const unsubscribe = (): void => {
        readers.delete(subscription);
        subscription.unsubscribe();
      };
      return { ...subscription, unsubscribe };
    },
  };
  const endpoint = await openChunkEndpoint({ source, token: TOKEN, port });
  const worker = { ...endpoint, bus, readers: () => readers.size };
  workers.push(worker);
  return worker;
}

const addressOf = ({ url }: ChunkEndpoint): EndpointAddress => ({ url, token: TOKEN });

/** Follows whatever `find` gives, and keeps what comes. */
function follow(
  find: () => readonly EndpointAddress[] | Promise<readonly EndpointAddress[]>,
  options: Partial<Parameters<typeof followChunks>[0]> = {},
): { readonly stream: ChunkSubscription; readonly items: (Chunk | ChunkMarker)[] } {
  const stream = followChunks({ find: [async () => find()], findMs: 10, ...options }).subscribe({
    rootRunId: 'r',
  });
  streams.push(stream);
  const items: (Chunk | ChunkMarker)[] = [];
  void (async () => {
    for await (const item of stream) items.push(item);
  })();
  return { stream, items };
}

const shown = (items: readonly (Chunk | ChunkMarker)[]): readonly string[] =>
  items.map((item) => ('delta' in item ? item.delta : `${item.kind}@${item.attempt}.${item.seq}`));

describe('followChunks', () => {
  it('reads all workers as one, each piece where it was asked for', async () => {
    const [a, b] = [await startWorker(), await startWorker()];
    const { items } = follow(() => [addressOf(a), addressOf(b)]);
    await eventually('two readers', () => a.readers() + b.readers() === 2);

    a.bus.publish(chunk(1, 'one'));
    await eventually('a piece', () => items.length === 1);
    b.bus.publish(chunk(1, 'two', { runId: 'child' }));
    b.bus.publish(chunk(1, 'other', { runId: 'x', rootRunId: 'x' }));

    await eventually('another', () => items.length === 2);
    expect(shown(items)).toEqual(['one', 'two']);
  });

  it('goes on with another worker after one has died, and its text is void', async () => {
    const a = await startWorker();
    const found = [addressOf(a)];
    const { items } = follow(() => found);
    await eventually('a reader', () => a.readers() === 1);
    a.bus.publish(chunk(1, 'lost '));
    a.bus.publish(chunk(2, 'words'));
    await eventually('two pieces', () => items.length === 2);

    await a.close();
    const b = await startWorker();
    found.push(addressOf(b));
    await eventually('a reader of the other', () => b.readers() === 1);
    b.bus.publish(marker(1, 'restart', { attempt: 2 }));
    b.bus.publish(chunk(2, 'found', { attempt: 2 }));
    b.bus.publish(marker(3, 'end', { attempt: 2 }));

    await eventually('the end', () => items.length === 5);
    expect(shown(items)).toEqual(['lost ', 'words', 'restart@2.1', 'found', 'end@2.3']);
    expect(collect(items)).toEqual({ text: 'found', reasoning: '', complete: true });
  });

  it('has the whole reply after a break, each piece once', async () => {
    const worker = await startWorker();
    const { items } = follow(() => [addressOf(worker)], { silenceMs: 150 });
    await eventually('a reader', () => worker.readers() === 1);
    worker.bus.publish(chunk(1, 'one '));
    await eventually('a piece', () => items.length === 1);

    // No ping comes within the time that the reader waits, so it takes the worker for gone.
    await eventually('no reader', () => worker.readers() === 0);
    worker.bus.publish(chunk(2, 'two '));
    worker.bus.publish(chunk(3, 'three'));
    await eventually('what was missed', () => collect(items).text === 'one two three');
    worker.bus.publish(marker(4, 'end'));
    await eventually('the end', () => items.at(-1)?.kind === 'end');

    expect(collect(items)).toEqual({ text: 'one two three', reasoning: '', complete: true });
    expect(items.filter(({ kind }) => kind === 'gap')).toEqual([]);
  });

  it('fails with the reason when all workers refuse the token', async () => {
    const [a, b] = [await startWorker(), await startWorker()];
    const stream = followChunks({
      find: [async () => [a, b].map(({ url }) => ({ url, token: 'guessed' }))],
    }).subscribe({ runId: 'r' });
    streams.push(stream);

    const first = stream[Symbol.asyncIterator]().next();

    await expect(first).rejects.toMatchObject({
      code: 'stream_token',
      message: expect.stringMatching(
        /^Expected the token of the workers, got another one, which http:\S+ refuses\. Set `EVERLOOP_STREAM_TOKEN`/,
      ),
    });
  });

  it('is not held up by a worker that refuses, is gone, or cannot be looked up', async () => {
    const worker = await startWorker();
    const gone = await startWorker();
    await gone.close();
    const { items } = follow(
      () => [addressOf(gone), { url: worker.url, token: 'another-token' }, addressOf(worker)],
      {},
    );
    // Two addresses with one url are one endpoint: the last one counts.
    await eventually('a reader', () => worker.readers() === 1);

    worker.bus.publish(chunk(1, 'one'));

    await eventually('a piece', () => items.length === 1);
    expect(shown(items)).toEqual(['one']);
  });

  it('keeps its connections while it cannot be known which workers there are', async () => {
    const worker = await startWorker();
    let fails = false;
    let looks = 0;
    const { items } = follow(() => {
      looks += 1;
      if (fails) throw new Error('no such name');
      return [addressOf(worker)];
    });
    await eventually('a reader', () => worker.readers() === 1);
    fails = true;
    const before = looks;
    await eventually('more looks', () => looks > before + 2);

    worker.bus.publish(chunk(1, 'one'));

    await eventually('a piece', () => items.length === 1);
  });

  it('lets go of a worker that is not there any more, and of all when its reader leaves', async () => {
    const [a, b] = [await startWorker(), await startWorker()];
    let found = [addressOf(a), addressOf(b)];
    const { stream } = follow(() => found);
    await eventually('two readers', () => a.readers() + b.readers() === 2);

    found = [addressOf(b)];
    await eventually('one reader', () => a.readers() === 0);
    expect(b.readers()).toBe(1);

    stream.unsubscribe();
    stream.unsubscribe();
    await eventually('no reader', () => b.readers() === 0);
  });

  it('reads the bus of this process beside the others', async () => {
    const worker = await startWorker();
    const bus = createChunkBus();
    const { items, stream } = follow(() => [addressOf(worker)], { beside: bus });
    await eventually('a reader', () => worker.readers() === 1);

    bus.publish(chunk(1, 'near'));
    await eventually('a piece', () => items.length === 1);
    worker.bus.publish(chunk(2, 'far'));
    await eventually('another', () => items.length === 2);
    stream.unsubscribe();

    expect(shown(items)).toEqual(['near', 'far']);
  });

  it('keeps no more than it was allowed when its reader is slow', async () => {
    const worker = await startWorker();
    const stream = followChunks({
      find: [async () => [addressOf(worker)]],
      maxQueued: 3,
    }).subscribe({});
    streams.push(stream);
    await eventually('a reader', () => worker.readers() === 1);
    for (let seq = 1; seq <= 50; seq++) worker.bus.publish(chunk(seq, `${seq}`));
    worker.bus.publish(marker(51, 'end'));
    // The pieces have come when a second reader, which asked later, has its own.
    const { items } = follow(() => [addressOf(worker)]);
    await eventually('a second reader', () => worker.readers() === 2);
    worker.bus.publish(chunk(1, 'later', { iteration: 2 }));
    await eventually('its piece', () => shown(items).includes('later'));

    const iterator = stream[Symbol.asyncIterator]();
    const first = await iterator.next();

    expect(first.value).toMatchObject({ kind: 'gap' });
  });
});

describe('endpoints', () => {
  it('are found by notes that only their user can read, and that go with their worker', async () => {
    const find = announcedEndpoints(dataDir);
    const before = await find();
    const address = { url: 'http://127.0.0.1:1', token: TOKEN };

    const remove = await announceEndpoint(dataDir, address);
    const [name = ''] = await readdir(endpointNotesDir(dataDir));
    const mode = (await stat(join(endpointNotesDir(dataDir), name))).mode & 0o777;
    const during = await find();
    await remove();

    expect(before).toEqual([]);
    expect(during).toEqual([address]);
    expect(mode).toBe(0o600);
    expect(await find()).toEqual([]);
  });

  it('of a worker with several tokens open its streams with the first', async () => {
    const cleanup = createCleanup();
    const { bus } = await openStreaming({ dataDir, streamToken: `${TOKEN}, another` }, cleanup);
    try {
      const { items } = follow(announcedEndpoints(dataDir));
      await eventually('a piece', () => {
        bus.publish(chunk(1, 'one'));
        return items.length > 0;
      });
    } finally {
      await cleanup.run();
    }
  });

  it('of processes that died are forgotten by the next worker; those of other machines are left', async () => {
    const remove = await announceEndpoint(dataDir, { url: 'http://127.0.0.1:1', token: TOKEN });
    const dir = endpointNotesDir(dataDir);
    const note = { v: 1, url: 'http://127.0.0.1:2', token: TOKEN, pid: 2 ** 22 + 1 };
    await writeFile(join(dir, 'dead.json'), JSON.stringify({ ...note, host: hostname() }));
    await writeFile(join(dir, 'other.json'), JSON.stringify({ ...note, host: 'elsewhere' }));
    await writeFile(join(dir, 'odd.json'), '{"v":1');

    const removeSecond = await announceEndpoint(dataDir, {
      url: 'http://127.0.0.1:3',
      token: TOKEN,
    });

    const names = await readdir(dir);
    expect(names).not.toContain('dead.json');
    expect(names).toEqual(expect.arrayContaining(['odd.json', 'other.json']));
    const urls = (await announcedEndpoints(dataDir)()).map(({ url }) => url);
    expect(urls.toSorted()).toEqual(['http://127.0.0.1:1', 'http://127.0.0.1:3']);
    await remove();
    await removeSecond();
  });

  it('are as many as a name has addresses', async () => {
    const find = namedEndpoints(['http://127.0.0.1:7244', 'http://[::1]:7244'], TOKEN);

    expect(await find()).toEqual([
      { url: 'http://127.0.0.1:7244', token: TOKEN, ip: { address: '127.0.0.1', family: 4 } },
      { url: 'http://[::1]:7244', token: TOKEN, ip: { address: '::1', family: 6 } },
    ]);
    expect(await namedEndpoints(['http://no-such-host.invalid'], TOKEN)()).toEqual([]);
  });

  it('are connected to at the address that was looked up', async () => {
    const worker = await startWorker();
    const { port } = new URL(worker.url);
    const { items } = follow(() => [
      {
        url: `http://workers.invalid:${port}`,
        token: TOKEN,
        ip: { address: '127.0.0.1', family: 4 },
      },
    ]);
    await eventually('a reader', () => worker.readers() === 1);

    worker.bus.publish(chunk(1, 'one'));

    await eventually('a piece', () => items.length === 1);
  });
});
