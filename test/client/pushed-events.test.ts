/** Events from the bus of a worker, through its endpoint, to readers in other processes. */
import { afterEach, describe, expect, it } from 'vitest';
import type { EventSubscription } from '../../src/client/streaming/chunk-queue.ts';
import type { EndpointAddress } from '../../src/client/streaming/chunk-endpoints.ts';
import {
  followChunks,
  type FollowChunksOptions,
} from '../../src/client/streaming/follow-chunks.ts';
import type { LiveFilter, LiveItem } from '../../src/core/streaming/chunk.ts';
import { signStreamToken } from '../../src/protection/stream-token.ts';
import { createChunkBus, type ChunkBus } from '../../src/worker/streaming/chunk-bus.ts';
import {
  openChunkEndpoint,
  type ChunkEndpoint,
} from '../../src/worker/streaming/chunk-endpoint.ts';
import { chunk, marker, pushed } from '../support/chunks.ts';
import { eventually } from '../support/eventually.ts';

const TOKEN = 'a-token-of-sixteen';
const opened: ChunkEndpoint[] = [];
const streams: EventSubscription[] = [];

afterEach(async () => {
  for (const stream of streams.splice(0)) stream.unsubscribe();
  for (const endpoint of opened.splice(0)) await endpoint.close();
});

async function serve(
  source: Pick<ChunkBus, 'subscribe'> & Partial<ChunkBus>,
): Promise<ChunkEndpoint> {
  const endpoint = await openChunkEndpoint({ source, token: TOKEN });
  opened.push(endpoint);
  return endpoint;
}

const addressOf = ({ url }: ChunkEndpoint, token = TOKEN): EndpointAddress => ({ url, token });

/** What `stream` gives, as it comes. */
function reading(stream: EventSubscription): string[] {
  streams.push(stream);
  const items: string[] = [];
  const read = async (): Promise<void> => {
    for await (const item of stream) items.push(nameOf(item));
  };
  read().catch((error: { readonly code: string }) => items.push(error.code));
  return items;
}

function nameOf(item: LiveItem): string {
  if (item.kind === 'feed') return item.feed;
  if (item.kind === 'event') return `${item.event.runId}${item.event.seq}`;
  return 'delta' in item ? item.delta : item.kind;
}

function follow(
  find: () => readonly EndpointAddress[],
  filter: LiveFilter = { runId: 'r' },
  options: Partial<FollowChunksOptions> = {},
): string[] {
  const source = followChunks({ find: [async () => find()], findMs: 10, ...options });
  return reading(source.subscribeEvents(filter));
}

const child = pushed(1, { runId: 'child' });
const stranger = pushed(1, { runId: 'x' }, 'x');

/** What a reader has been sent, as soon as it ends in `last`. */
const until = (items: readonly string[], last: string): Promise<readonly string[]> =>
  eventually(last, () => (items.at(-1) === last ? items : undefined));

describe('the events of a bus', () => {
  it.each([
    { name: 'of a run', filter: { runId: 'r' }, got: ['r1'] },
    { name: 'of a tree', filter: { rootRunId: 'r' }, got: ['r1', 'child1'] },
    { name: 'of all, with text', filter: { text: true }, got: ['word', 'r1', 'child1', 'x1'] },
  ])('come to those who want them: $name', async ({ filter, got }) => {
    const bus = createChunkBus();
    const items = reading(bus.subscribeEvents(filter));
    const textOnly: string[] = [];
    const text = bus.subscribe({});

    bus.publish(chunk(1, 'word'));
    for (const item of [pushed(1), child, stranger]) bus.publishEvent(item);
    bus.close();
    for await (const item of text) textOnly.push(nameOf(item));

    await until(items, got.at(-1) ?? '');
    expect(items).toEqual(['pushed', ...got]);
    expect(textOnly).toEqual(['word']);
  });

  it('survive much text; of too many, the oldest are lost and a mark says so', async () => {
    const bus = createChunkBus({ maxQueued: 10 });
    const slow = bus.subscribeEvents({ runId: 'r', text: true });

    bus.publishEvent(pushed(1));
    for (let seq = 1; seq <= 1_000; seq++) bus.publish(chunk(seq, `t${seq}`));
    bus.publishEvent(pushed(2));
    const few = reading(slow);
    expect(await until(few, 'r2')).toEqual(['gap', 'pushed', 'r1', ...few.slice(3, 13), 'r2']);
    expect(few.slice(3, 13)).toEqual(Array.from({ length: 10 }, (_, at) => `t${991 + at}`));

    const stuck = bus.subscribeEvents({ runId: 'r' });
    for (let seq = 3; seq < 5_000; seq++) bus.publishEvent(pushed(seq));
    const many = await until(reading(stuck), 'r4999');
    expect(many.slice(0, 2)).toEqual(['pushed', 'r4000']);
    expect(many).toHaveLength(1_001);
  });

  it('go on after an end that the service has not taken', async () => {
    const bus = createChunkBus();
    bus.publishEvent(pushed(9, { type: 'agent:execution:after', status: 'success', reason: '' }));
    bus.endRun('r');
    bus.publishEvent(pushed(9));
    const items = reading(bus.subscribeEvents({ runId: 'r', text: true }));

    bus.publishEvent(pushed(10));
    bus.publish(chunk(1, 'word'));

    expect(await until(items, 'word')).toEqual(['pushed', 'r10', 'word']);
  });
});

describe('the events of an endpoint', () => {
  it('come to those who ask for them, and an older reader skips what it does not know', async () => {
    const bus = createChunkBus();
    bus.publish(chunk(1, 'early'));
    const { url } = await serve(bus);
    const headers = { authorization: `Bearer ${TOKEN}` };
    const responses = await Promise.all(
      ['', '&events=1', '&events=only', '&events=yes'].map((query) =>
        fetch(`${url}/chunks?runId=r${query}`, { headers }),
      ),
    );
    bus.publishEvent(pushed(1));
    bus.publish(marker(2, 'end'));
    bus.close();
    const answers = await Promise.all(responses.map((response) => response.text()));

    const names = answers.map((text) =>
      [...text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name),
    );
    expect(names).toEqual([
      ['hello', 'end'],
      ['hello', 'feed', 'event', 'end'],
      ['hello', 'feed', 'event', 'end'],
      ['hello', 'end'],
    ]);
    expect(answers.map((text) => text.includes('early'))).toEqual([true, true, false, true]);
    expect(answers[0]).toContain('"events":false');
    expect(answers[1]).toContain(`{"rootRunId":"r","event":${JSON.stringify(pushed(1).event)}}`);
  });

  it('are those of the wanted types, of all runs', async () => {
    const bus = createChunkBus();
    const endpoint = await serve(bus);
    const items = follow(() => [addressOf(endpoint)], { types: ['agent:paused', 'agent:resumed'] });
    await until(items, 'pushed');

    bus.publishEvent(pushed(1));
    bus.publishEvent(pushed(2, { type: 'agent:paused' }));
    bus.publishEvent(pushed(7, { type: 'agent:resumed', runId: 'x' }, 'x'));

    expect(await until(items, 'x7')).toEqual(['polled', 'pushed', 'r2', 'x7']);
  });

  it('stay in the tree of a scoped token', async () => {
    const bus = createChunkBus();
    const endpoint = await serve(bus);
    const { token } = signStreamToken({ rootRunId: 'r', ttlMs: 60_000, readers: TOKEN });
    const guest = follow(() => [addressOf(endpoint, token)], {});
    const other = follow(() => [addressOf(endpoint, token)], { rootRunId: 'x' });
    await until(guest, 'pushed');

    for (const item of [stranger, pushed(1), child]) bus.publishEvent(item);

    expect(await until(guest, 'child1')).toEqual(['polled', 'pushed', 'r1', 'child1']);
    expect(other).toEqual(['polled', 'stream_token']);
  });
});

describe('a reader of events', () => {
  it('is told when workers come and go, and goes on with the next', async () => {
    const [a, b] = [createChunkBus(), createChunkBus()];
    const first = await serve(a);
    const found = [addressOf(first)];
    const items = follow(() => found);
    await until(items, 'pushed');
    a.publishEvent(pushed(1));
    await until(items, 'r1');

    await first.close();
    await until(items, 'polled');
    found.push(addressOf(await serve(b)));
    await until(items, 'pushed');
    b.publishEvent(pushed(2));

    expect(await until(items, 'r2')).toEqual(['polled', 'pushed', 'r1', 'polled', 'pushed', 'r2']);
  });

  it('polls while any endpoint sends no events, whose text it leaves out', async () => {
    const [mute, other] = [createChunkBus(), createChunkBus()];
    const endpoints = [await serve({ subscribe: mute.subscribe }), await serve(other)];
    const items = follow(() => endpoints.map((each) => addressOf(each)));
    await eventually('three marks', () => items.length === 3);

    mute.publish(chunk(1, 'word'));
    other.publishEvent(pushed(1));

    expect((await until(items, 'r1')).slice(2)).toEqual(['polled', 'r1']);
  });

  it('reads those of this process too, and through a relay', async () => {
    const [far, near] = [createChunkBus(), createChunkBus()];
    const worker = await serve(far);
    const fleet = followChunks({ find: [async () => [addressOf(worker)]], findMs: 10 });
    const relay = await serve(fleet);
    const items = follow(() => [addressOf(relay)], { runId: 'r', text: true }, { beside: near });
    await eventually(
      'the marks of the relay',
      () => items.length >= 5 && items.at(-1) === 'pushed',
    );

    near.publishEvent(pushed(1));
    await until(items, 'r1');
    far.publish(chunk(1, 'word'));
    far.publishEvent(pushed(2));

    expect((await until(items, 'r2')).slice(-4)).toEqual(['pushed', 'r1', 'word', 'r2']);
  });
});
