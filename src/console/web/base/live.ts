/**
 * The live feed of this tab: one stream, read with `fetch`.
 *
 * I1  Frames reach listeners once per animation frame, in the order in which they came.
 * I2  A tab streams only while it holds one of four locks, since a browser allows six connections
 *     per host over all tabs. Without a lock, and while no stream is open, listeners are told to
 *     poll. Without Web Locks every visible tab streams.
 * I3  A hidden tab lets its stream go after two seconds.
 */
import { signal, type Signal } from '@preact/signals';
import { createParser } from 'eventsource-parser';
import type { LiveFrame, LiveWants } from '../../live-frames.ts';
import { open, put } from './api.ts';
import { isOffline } from './connection.ts';

/** Hears frames; null: no stream is open, or it is a new one, so it is time to ask. */
export type LiveListener = (frames: readonly LiveFrame[] | null) => void;

/** How this tab hears of news. */
export const liveMode: Signal<'connecting' | 'live' | 'polling'> = signal('connecting');

const LOCKS = 4;
const POLL_MS = 2_000;
const HIDDEN_MS = 2_000;
/** A ping comes every 5 s; after so long a stream is dead. */
const DEAD_MS = 15_000;
const RETRY_MS = { first: 500, most: 8_000 };

const listeners = new Map<LiveListener, LiveWants>();
let connection: string | null = null;
let stream: AbortController | null = null;
let hadStream = false;
let waiting: LiveFrame[] = [];
let retryMs = RETRY_MS.first;

/** Hears what `wants` names until the returned function is called. */
export function listen(wants: LiveWants, listener: LiveListener): () => void {
  listeners.set(listener, wants);
  void tellWants();
  return () => {
    listeners.delete(listener);
    void tellWants();
  };
}

/** Begins to stream while the tab is visible. */
export function startLive(): void {
  let hidden: ReturnType<typeof setTimeout> | undefined;
  document.addEventListener('visibilitychange', () => {
    clearTimeout(hidden);
    if (document.visibilityState === 'visible') void hold();
    else hidden = setTimeout(() => stream?.abort(), HIDDEN_MS);
  });
  setInterval(() => {
    const isPolling = liveMode.value === 'polling' && document.visibilityState === 'visible';
    if (isPolling) for (const listener of listeners.keys()) listener(null);
  }, POLL_MS);
  void hold();
}

let isHolding = false;

/** Streams while a lock is held; returns when the tab is hidden. */
async function hold(): Promise<void> {
  if (isHolding) return;
  isHolding = true;
  try {
    while (document.visibilityState === 'visible') {
      if (!('locks' in navigator)) await streamOnce();
      else await withAnyLock(streamOnce);
      if (document.visibilityState !== 'visible') break;
      liveMode.value = 'polling';
      await new Promise((resolve) => setTimeout(resolve, retryMs));
      retryMs = Math.min(retryMs * 2, RETRY_MS.most);
    }
  } finally {
    isHolding = false;
  }
}

/** Calls `work` with the first lock that is free; without one, returns at once. */
async function withAnyLock(work: () => Promise<void>): Promise<void> {
  for (let index = 1; index <= LOCKS; index++) {
    const name = `everloop-live-${index}`;
    const isDone = await navigator.locks.request(name, { ifAvailable: true }, async (lock) => {
      if (lock === null) return false;
      await work();
      return true;
    });
    if (isDone) return;
  }
}

async function streamOnce(): Promise<void> {
  const mine = new AbortController();
  stream = mine;
  let dead = setTimeout(() => mine.abort(), DEAD_MS);
  try {
    const answer = await open('/live', mine.signal);
    if (answer.body === null) return;
    const parser = createParser({ onEvent: ({ event, data }) => take(event, data) });
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      clearTimeout(dead);
      dead = setTimeout(() => mine.abort(), DEAD_MS);
      parser.feed(value);
    }
  } catch {
    // The stream ended; the caller decides whether to open another.
  } finally {
    clearTimeout(dead);
    connection = null;
    if (stream === mine) stream = null;
  }
}

function take(kind: string | undefined, data: string): void {
  if (kind === undefined) return;
  let body: object;
  try {
    body = JSON.parse(data) as object;
  } catch {
    return;
  }
  const frame = { ...body, kind } as LiveFrame;
  if (frame.kind === 'hello') {
    connection = frame.connection;
    liveMode.value = 'live';
    isOffline.value = false;
    retryMs = RETRY_MS.first;
    void tellWants();
    // Between two streams there were news that nobody heard.
    if (hadStream) for (const listener of listeners.keys()) listener(null);
    hadStream = true;
    return;
  }
  if (frame.kind === 'ping') return;
  if (waiting.length === 0) requestAnimationFrame(flush);
  waiting.push(frame);
}

function flush(): void {
  const frames = waiting;
  waiting = [];
  for (const listener of listeners.keys()) listener(frames);
}

let telling: Promise<void> | null = null;

/** Tells the server what all listeners want, at most one request at a time. */
async function tellWants(): Promise<void> {
  if (telling !== null) await telling;
  if (connection === null) return;
  const name = connection;
  const wants = [...listeners.values()].reduce<LiveWants>((all, one) => ({ ...all, ...one }), {});
  telling = put(`/live/${encodeURIComponent(name)}`, wants)
    .catch(() => undefined)
    .then(() => {
      telling = null;
    });
  await telling;
}
