/**
 * Provisional text of workers in other processes, as one stream. Any worker may take the next call
 * of a run, so a reader connects to all workers. Each sends only what matches the reader's filter.
 *
 * I1  A worker that is gone, is slow or refuses costs only its own chunks.
 * I2  Workers come and go. The reader looks for them periodically, and reconnects with a growing
 *     pause.
 * I3  Each wait has a deadline, and everything ends when the reader leaves.
 * I4  A stream fails only if every worker that answers refuses the reader's token.
 */
import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { defined } from '../core/base/defined.ts';
import type { Chunk, ChunkFilter, ChunkMarker } from '../core/streaming/chunk.ts';
import { UsageError } from '../core/base/usage-error.ts';
import { WIRE_PATH, type WireMessage } from '../core/streaming/chunk-wire.ts';
import type { EndpointAddress, FindEndpoints } from './chunk-endpoints.ts';
import { createChunkQueue, type ChunkSubscription } from './chunk-queue.ts';
import { createFrameReader } from './frame-reader.ts';
import { createSeen } from './seen-chunks.ts';

/** Defaults of {@link followChunks}. */
const FOLLOW_DEFAULTS = {
  /** The same as for the bus of a worker. */
  maxQueued: 10_000,
  /** The pause between lookups of workers. A lookup lists a folder or resolves a name. */
  findMs: 500,
  /** The pause after a failed connection; doubles up to `maxPauseMs`. */
  pauseMs: 100,
  maxPauseMs: 2_000,
  /** After three missing pings (see `PING_MS`), the worker counts as gone. */
  silenceMs: 15_000,
} as const;

/** What {@link followChunks} takes. */
export interface FollowChunksOptions {
  /** Called periodically while there is a reader. */
  readonly find: readonly FindEndpoints[];
  /** Another source to read, such as the bus of this process. */
  readonly beside?: { readonly subscribe: (filter: ChunkFilter) => ChunkSubscription };
  readonly maxQueued?: number;
  readonly findMs?: number;
  readonly silenceMs?: number;
}

/** A source of provisional text that spans processes. */
export interface FollowedChunks {
  /**
   * Items that match `filter`: what the workers have of replies that are being written, then what
   * comes. Ends only when its reader leaves. Fails with a UsageError `stream_token` when all workers
   * refuse the token.
   */
  readonly subscribe: (filter: ChunkFilter) => ChunkSubscription;
}

/** Reads from all workers that `options.find` finds. */
export function followChunks(options: FollowChunksOptions): FollowedChunks {
  const { maxQueued = FOLLOW_DEFAULTS.maxQueued, beside } = options;
  return {
    subscribe: (filter) => {
      const left = new AbortController();
      const queue = createChunkQueue(maxQueued, () => left.abort());
      const near = beside?.subscribe(filter);
      if (near !== undefined) {
        left.signal.addEventListener('abort', near.unsubscribe, { once: true });
        passOn(near, queue.push).catch((error: Error) => queue.fail(error));
      }
      const refuse = (address: EndpointAddress): void => {
        // The source beside the workers takes no token.
        if (beside === undefined) queue.fail(refusedToken(address));
      };
      void followAll(options, { filter, push: queue.push, refuse }, left.signal);
      return queue.subscription;
    },
  };
}

/** A reader: which items it wants, and where they go. */
interface Reader {
  readonly filter: ChunkFilter;
  readonly push: (item: Chunk | ChunkMarker) => void;
  /** Called when all workers refuse the token, with the address of one of them. */
  readonly refuse: (address: EndpointAddress) => void;
}

/** How an endpoint answered last; `gone`: it could not be reached. */
type Answer = 'accepted' | 'refused' | 'gone';

/** A connection that is kept, and whether its endpoint has answered. */
interface Followed {
  readonly gone: AbortController;
  answer: 'none' | Answer;
}

async function passOn(from: ChunkSubscription, push: Reader['push']): Promise<void> {
  for await (const item of from) push(item);
}

/** Keeps a connection to each current endpoint until `left` is aborted. Never rejects. */
async function followAll(
  options: FollowChunksOptions,
  reader: Reader,
  left: AbortSignal,
): Promise<void> {
  const { find, findMs = FOLLOW_DEFAULTS.findMs } = options;
  const followed = new Map<string, Followed>();
  while (!left.aborted) {
    const found = await Promise.all(find.map((look) => look().catch(() => null)));
    const isWhole = found.every((some) => some !== null);
    const addresses = new Map(found.flatMap((some) => (some ?? []).map((it) => [keyOf(it), it])));
    for (const [key, address] of addresses) {
      if (followed.has(key) || left.aborted) continue;
      const one: Followed = { gone: new AbortController(), answer: 'none' };
      followed.set(key, one);
      const signal = AbortSignal.any([left, one.gone.signal]);
      const onAnswer = (answer: Answer): void => {
        if (one.answer !== 'accepted') one.answer = answer;
        const answers = [...followed.values()].map((each) => each.answer);
        const isOpen = answers.includes('none') || answers.includes('accepted');
        if (answer === 'refused' && !isOpen) reader.refuse(address);
      };
      void followOne(address, { ...reader, onAnswer }, signal, options);
    }
    for (const [key, { gone }] of followed) {
      // While a lookup fails, a worker that is missing from the list may still be there.
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

function refusedToken({ url, token }: EndpointAddress): UsageError {
  const got = token === '' ? 'none' : 'another one';
  return new UsageError(
    'stream_token',
    `Expected the token of the workers, got ${got}, which ${url} refuses. Set \`EVERLOOP_STREAM_TOKEN\` to the value that the workers have.`,
  );
}

/** Reads one endpoint and reconnects, until `signal` is aborted. Never rejects. */
async function followOne(
  address: EndpointAddress,
  { filter, push, onAnswer }: Reader & { readonly onAnswer: (answer: Answer) => void },
  signal: AbortSignal,
  { silenceMs = FOLLOW_DEFAULTS.silenceMs }: FollowChunksOptions,
): Promise<void> {
  const seen = createSeen(push);
  const { pauseMs, maxPauseMs } = FOLLOW_DEFAULTS;
  let wait: number = pauseMs;
  while (!signal.aborted) {
    try {
      await readEndpoint(address, filter, { signal, silenceMs }, (message) => {
        if (message.kind === 'hello') onAnswer('accepted');
        // A worker that has nothing more for this reader is not asked ten times a second.
        if (message.kind === 'item') wait = pauseMs;
        return seen.take(message);
      });
    } catch (error) {
      // Provisional text is optional; the next attempt follows after a pause.
      if (!signal.aborted) onAnswer(error instanceof RefusedToken ? 'refused' : 'gone');
    }
    await pause(wait, signal);
    wait = Math.min(2 * wait, maxPauseMs);
  }
}

class RefusedToken extends Error {}

/** Reads one connection until it ends, fails, or `take` returns `leave`. */
async function readEndpoint(
  address: EndpointAddress,
  filter: ChunkFilter,
  until: { readonly signal: AbortSignal; readonly silenceMs: number },
  take: (frame: WireMessage) => 'on' | 'leave',
): Promise<void> {
  const response = await connectTo(address, filter, until);
  const read = createFrameReader();
  response.setEncoding('utf8');
  // Returning from the loop destroys the connection.
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
    const asked = open(
      target,
      defined({
        signal,
        // A pooled connection would outlive its reader.
        agent: false,
        headers: { accept: 'text/event-stream', authorization: `Bearer ${token}` },
        lookup: ip === undefined ? undefined : lookupOf(ip),
      }),
    );
    asked.setTimeout(silenceMs, () => asked.destroy(new Error('The worker fell silent.')));
    asked.on('error', reject);
    asked.once('response', (response) => {
      if (response.statusCode === 200) return resolve(response);
      response.resume();
      if (response.statusCode === 401) return reject(new RefusedToken());
      reject(new Error(`Expected 200, got ${String(response.statusCode)}.`));
    });
    asked.end();
  });
}

/** A lookup that returns one address, in either form that Node asks for. */
function lookupOf({ address, family }: NonNullable<EndpointAddress['ip']>): LookupFunction {
  return (_host, options, answer) => {
    if (options.all === true) answer(null, [{ address, family }]);
    else answer(null, address, family);
  };
}

/** Waits for `ms`, or until `signal` is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
