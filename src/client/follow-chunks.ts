/**
 * Provisional text of workers in other processes, as one stream. Which worker answers a run next is
 * not known beforehand, so a reader is connected to all of them, and each sends only what it was asked
 * for.
 *
 * - F1: a worker that is gone, slow or refuses costs its own pieces; the others are read on.
 * - F2: workers come and go: they are looked for again and again, and tried again with a growing pause.
 * - F3: each wait has a deadline, and all of it ends when the reader leaves.
 */
import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Chunk, ChunkFilter, ChunkMarker } from '../core/streaming/chunk.ts';
import { WIRE_PATH, WIRE_VERSION, type WireMessage } from '../core/streaming/chunk-wire.ts';
import type { EndpointAddress, FindEndpoints } from './chunk-endpoints.ts';
import { createChunkQueue, type ChunkSubscription } from './chunk-queue.ts';
import { createFrameReader } from './frame-reader.ts';

/** What {@link followChunks} goes by when nothing else is said. */
const FOLLOW_DEFAULTS = {
  /** As the bus of a worker. */
  maxQueued: 10_000,
  /** A worker that starts is heard so soon; a look costs a list of a folder or a name's addresses. */
  findMs: 500,
  /** The first pause after a connection failed; doubles to `maxPauseMs`. */
  pauseMs: 100,
  maxPauseMs: 2_000,
  /** Three pings missed (see `PING_MS`): the worker is gone, though nobody said so. */
  silenceMs: 15_000,
} as const;

/** What {@link followChunks} takes. */
export interface FollowChunksOptions {
  /** Asked in turn, again and again, while somebody reads. */
  readonly find: readonly FindEndpoints[];
  /** Read beside them, such as the bus of this process. */
  readonly beside?: { readonly subscribe: (filter: ChunkFilter) => ChunkSubscription };
  readonly maxQueued?: number;
  readonly findMs?: number;
  readonly silenceMs?: number;
}

/** A source of provisional text that spans processes. */
export interface FollowedChunks {
  /** Whatever fits `filter` from now on. Ends when its reader leaves, and by itself never. */
  readonly subscribe: (filter: ChunkFilter) => ChunkSubscription;
}

/** Reads from all workers that `find` finds. */
export function followChunks(options: FollowChunksOptions): FollowedChunks {
  const { maxQueued = FOLLOW_DEFAULTS.maxQueued, beside } = options;
  return {
    subscribe: (filter) => {
      const left = new AbortController();
      const queue = createChunkQueue(maxQueued, () => left.abort());
      const near = beside?.subscribe(filter);
      if (near !== undefined) {
        left.signal.addEventListener('abort', near.unsubscribe, { once: true });
        void passOn(near, queue.push);
      }
      void followAll(options, filter, queue.push, left.signal);
      return queue.subscription;
    },
  };
}

type Push = (item: Chunk | ChunkMarker) => void;

async function passOn(from: ChunkSubscription, push: Push): Promise<void> {
  for await (const item of from) push(item);
}

/** Keeps a connection to each endpoint that there is, until `left`. Never rejects. */
async function followAll(
  options: FollowChunksOptions,
  filter: ChunkFilter,
  push: Push,
  left: AbortSignal,
): Promise<void> {
  const { find, findMs = FOLLOW_DEFAULTS.findMs } = options;
  const followed = new Map<string, AbortController>();
  while (!left.aborted) {
    const found = await Promise.all(find.map((look) => look().catch(() => null)));
    const isWhole = found.every((some) => some !== null);
    const addresses = new Map(found.flatMap((some) => (some ?? []).map((it) => [keyOf(it), it])));
    for (const [key, address] of addresses) {
      if (followed.has(key) || left.aborted) continue;
      const gone = new AbortController();
      followed.set(key, gone);
      const signal = AbortSignal.any([left, gone.signal]);
      void followOne(address, filter, push, signal, options);
    }
    for (const [key, gone] of followed) {
      // What could not be looked up may still be there.
      if (addresses.has(key) || !isWhole) continue;
      gone.abort();
      followed.delete(key);
    }
    await pause(findMs, left);
  }
}

function keyOf({ url, ip }: EndpointAddress): string {
  return `${url} ${ip?.address ?? ''}`;
}

/** Reads one endpoint, connection after connection, until `signal`. Never rejects. */
async function followOne(
  address: EndpointAddress,
  filter: ChunkFilter,
  push: Push,
  signal: AbortSignal,
  { silenceMs = FOLLOW_DEFAULTS.silenceMs }: FollowChunksOptions,
): Promise<void> {
  const seen = createSeen(push);
  const { pauseMs, maxPauseMs } = FOLLOW_DEFAULTS;
  let wait: number = pauseMs;
  while (!signal.aborted) {
    try {
      await readEndpoint(address, filter, { signal, silenceMs }, (frame) => {
        wait = pauseMs;
        return seen.take(frame);
      });
    } catch {
      // Provisional text is a courtesy: whoever does not answer is asked again later.
    }
    await pause(wait, signal);
    wait = Math.min(2 * wait, maxPauseMs);
  }
}

/** What was heard of one endpoint, to tell when a piece may have been missed. */
function createSeen(push: Push): { readonly take: (frame: WireMessage) => 'on' | 'leave' } {
  let instance: string | undefined;
  /** The last item of each reply that has not ended, by run. */
  const open = new Map<string, Chunk | ChunkMarker>();
  return {
    take: (frame) => {
      switch (frame.kind) {
        case 'hello':
          if (frame.v !== WIRE_VERSION) return 'leave';
          // Another process has lost its calls, and their next attempts begin with `restart`.
          if (frame.instance === instance) for (const item of open.values()) push(gapAfter(item));
          instance = frame.instance;
          open.clear();
          return 'on';
        case 'item': {
          const { item } = frame;
          if (item.kind === 'end' || item.kind === 'error') open.delete(item.runId);
          else open.set(item.runId, item);
          push(item);
          return 'on';
        }
        case 'end':
        case 'broken':
          return 'leave';
      }
    },
  };
}

function gapAfter(item: Chunk | ChunkMarker): ChunkMarker {
  const { rootRunId, runId, agentPath, iteration, attempt, seq } = item;
  return { rootRunId, runId, agentPath, iteration, attempt, seq: seq + 1, kind: 'gap' };
}

/** One connection: frames to `take` until it ends, fails, or `take` says to leave. */
async function readEndpoint(
  address: EndpointAddress,
  filter: ChunkFilter,
  until: { readonly signal: AbortSignal; readonly silenceMs: number },
  take: (frame: WireMessage) => 'on' | 'leave',
): Promise<void> {
  const response = await connectTo(address, filter, until);
  const read = createFrameReader();
  response.setEncoding('utf8');
  // Leaving the loop destroys the connection.
  for await (const text of response as AsyncIterable<string>) {
    for (const frame of read(text)) if (take(frame) === 'leave') return;
  }
}

function connectTo(
  { url, token, ip }: EndpointAddress,
  filter: ChunkFilter,
  { signal, silenceMs }: { readonly signal: AbortSignal; readonly silenceMs: number },
): Promise<IncomingMessage> {
  const target = new URL(`${url.replace(/\/+$/, '')}${WIRE_PATH}`);
  for (const [name, value] of Object.entries(filter)) target.searchParams.set(name, value);
  const open = target.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const asked = open(target, {
      signal,
      // A connection of its own: one that is shared would outlive its reader.
      agent: false,
      headers: { accept: 'text/event-stream', authorization: `Bearer ${token}` },
      ...(ip === undefined ? {} : { lookup: lookupOf(ip) }),
    });
    asked.setTimeout(silenceMs, () => asked.destroy(new Error('The worker fell silent.')));
    asked.on('error', reject);
    asked.once('response', (response) => {
      if (response.statusCode === 200) return resolve(response);
      response.resume();
      reject(new Error(`Expected 200, got ${String(response.statusCode)}.`));
    });
    asked.end();
  });
}

/** Answers with one address, in both forms that Node may ask for. */
function lookupOf({ address, family }: NonNullable<EndpointAddress['ip']>): LookupFunction {
  return (_host, options, answer) => {
    if (options.all === true) answer(null, [{ address, family }]);
    else answer(null, address, family);
  };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  // An abort ends the pause early and says nothing else.
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
