/**
 * Provisional text and events of workers in other processes, as one stream. Any worker may take the
 * next call of a run, so a reader connects to all workers. Each sends only what matches the reader's filter.
 *
 * I1  A worker that is gone, is slow or refuses costs only its own chunks.
 * I2  Workers come and go. The reader looks for them periodically, and reconnects with a growing
 *     pause.
 * I3  Each wait has a deadline, and everything ends when the reader leaves.
 * I4  A stream fails only if every worker that answers refuses the reader's token.
 * I5  A reader of events gets a `feed` mark whenever it may have missed some: at its beginning, and
 *     whenever a worker comes or goes.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  Chunk,
  ChunkFilter,
  ChunkMarker,
  LiveFilter,
  LiveItem,
} from '../../core/streaming/chunk.ts';
import { defined } from '../../core/base/defined.ts';
import type { WorkerAgents } from '../../core/streaming/agent-description.ts';
import { WIRE_PATH, type WireMessage } from '../../core/streaming/chunk-wire.ts';
import { sharedFind, type EndpointAddress, type FindEndpoints } from './chunk-endpoints.ts';
import {
  createReaderQueue,
  type ChunkSubscription,
  type EventSubscription,
  type ReaderQueue,
  type ReaderSubscription,
} from './chunk-queue.ts';
import { askAgents, type AskedAgents } from './ask-agents.ts';
import { keyOf, RefusedToken, refusedToken, requestOf } from './endpoint-request.ts';
import { createEventFeeds, type EventFeeds } from '../events/event-feeds.ts';
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
  readonly beside?: {
    readonly subscribe: (filter: ChunkFilter) => ChunkSubscription;
    readonly subscribeEvents?: (filter: LiveFilter) => EventSubscription;
    /** The agents of this process. */
    readonly agents?: () => WorkerAgents;
  };
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
  /**
   * Events that match `filter`, as the workers record them; with `text`, also what `subscribe` gives.
   * Begins with a `feed` mark.
   */
  readonly subscribeEvents: (filter: LiveFilter) => EventSubscription;
  /**
   * The agents of all workers, within ten seconds. Rejects with a UsageError `stream_token` when all
   * workers refuse the token.
   */
  readonly agents: () => Promise<AskedAgents>;
}

/** Reads from all workers that `find` finds. */
export function followChunks(given: FollowChunksOptions): FollowedChunks {
  const { maxQueued = FOLLOW_DEFAULTS.maxQueued, findMs = FOLLOW_DEFAULTS.findMs, beside } = given;
  // Hundreds of readers would list a folder hundreds of times in each pause.
  const find = given.find.map((one) => sharedFind(one, findMs / 2));
  const options = { ...given, find };
  const open = <Item extends LiveItem>(
    near: ReaderSubscription<Item> | undefined,
    wanted: (queue: ReaderQueue<Item>) => Wanted & { readonly pushNear: (item: Item) => void },
  ): ReaderSubscription<Item> => {
    const left = new AbortController();
    const queue = createReaderQueue<Item>(maxQueued, () => left.abort());
    const { pushNear, ...reader } = wanted(queue);
    if (near !== undefined) {
      left.signal.addEventListener('abort', near.unsubscribe, { once: true });
      passOn(near, pushNear).catch((error: Error) => queue.fail(error));
    }
    const refuse = (address: EndpointAddress): void => {
      // The source beside the workers takes no token.
      if (beside === undefined) queue.fail(refusedToken(address));
    };
    void followAll(options, { ...reader, refuse }, left.signal);
    return queue.subscription;
  };
  return {
    agents: async () => {
      const { workers, ...others } = await askAgents(given.find, beside !== undefined);
      const near = beside?.agents?.();
      return { workers: near === undefined ? workers : [near, ...workers], ...others };
    },
    subscribe: (filter) =>
      open<Chunk | ChunkMarker>(beside?.subscribe(filter), ({ push }) => ({
        query: { ...filter },
        push,
        pushNear: push,
      })),
    subscribeEvents: ({ text = false, types, ...filter }) =>
      open<LiveItem>(
        beside?.subscribeEvents?.({ ...filter, ...defined({ types }), text }),
        ({ push }) => {
          const feeds = createEventFeeds(push);
          if (beside !== undefined) feeds.set(BESIDE, 'polled');
          return {
            query: {
              ...filter,
              events: text ? '1' : 'only',
              ...defined({ types: types?.join(',') }),
            },
            push: (item) => {
              if (text) push(item);
            },
            pushNear: (item) => (item.kind === 'feed' ? feeds.set(BESIDE, item.feed) : push(item)),
            events: { push, feeds },
          };
        },
      ),
  };
}

/** The source beside the workers, among the feeds. */
const BESIDE = 'beside';

/** What a reader asks of an endpoint, and where its items go. */
interface Wanted {
  readonly query: { readonly [name: string]: string };
  readonly push: (item: Chunk | ChunkMarker) => void;
  /** Absent for a reader of text alone. */
  readonly events?: { readonly push: (item: LiveItem) => void; readonly feeds: EventFeeds };
}

/** A reader of all endpoints. */
interface Reader extends Wanted {
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

async function passOn<Item>(
  from: ReaderSubscription<Item>,
  push: (item: Item) => void,
): Promise<void> {
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

/** Reads one endpoint and reconnects, until `signal` is aborted. Never rejects. */
async function followOne(
  address: EndpointAddress,
  { query, push, events, onAnswer }: Reader & { readonly onAnswer: (answer: Answer) => void },
  signal: AbortSignal,
  { silenceMs = FOLLOW_DEFAULTS.silenceMs }: FollowChunksOptions,
): Promise<void> {
  const seen = createSeen(push);
  const { pauseMs, maxPauseMs } = FOLLOW_DEFAULTS;
  const key = keyOf(address);
  let wait: number = pauseMs;
  while (!signal.aborted) {
    try {
      await readEndpoint(address, query, { signal, silenceMs }, (message) => {
        if (message.kind === 'hello') {
          onAnswer('accepted');
          // Otherwise a mark follows.
          if (!message.events) events?.feeds.set(key, 'polled');
        }
        if (message.kind === 'feed') events?.feeds.set(key, message.feed);
        if (message.kind === 'event') events?.push(message);
        // A worker that has nothing more for this reader is not asked ten times a second.
        if (message.kind === 'item' || message.kind === 'event') wait = pauseMs;
        return seen.take(message);
      });
    } catch (error) {
      // Provisional text is optional; the next attempt follows after a pause.
      if (!signal.aborted) onAnswer(error instanceof RefusedToken ? 'refused' : 'gone');
    }
    events?.feeds.remove(key);
    await pause(wait, signal);
    wait = Math.min(2 * wait, maxPauseMs);
  }
}

/** Reads one connection until it ends, fails, or `take` returns `leave`. */
async function readEndpoint(
  address: EndpointAddress,
  query: Wanted['query'],
  until: { readonly signal: AbortSignal; readonly silenceMs: number },
  take: (frame: WireMessage) => 'on' | 'leave',
): Promise<void> {
  const asked = { path: WIRE_PATH, query, accept: 'text/event-stream' };
  const response = await requestOf(address, asked, until);
  const read = createFrameReader();
  response.setEncoding('utf8');
  // Returning from the loop destroys the connection.
  for await (const text of response as AsyncIterable<string>) {
    for (const frame of read(text)) if (take(frame) === 'leave') return;
  }
}

/** Waits for `ms`, or until `signal` is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
