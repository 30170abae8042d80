/**
 * One run as one stream of updates: text as it is written, what waits for a person, the status, and
 * the Step at the end. For user interfaces.
 *
 * I1  The Step comes last, exactly once, even if other parts of the stream failed.
 * I2  Text is provisional and may be missing. Everything else is queried from the run itself.
 * I3  A slow reader affects only itself, because text is fetched as it is read.
 * I4  The stream of text opens first. The run is asked afterwards, one query at a time: a server
 *     with its own settings refuses a second query that waits for the same workflow task.
 */
import type { PendingItem, RunStatus } from '../core/contract/messages.ts';
import type { Step } from '../core/contract/step.ts';
import { isChunk, type Chunk, type ChunkMarker } from '../core/streaming/chunk.ts';
import { defined } from '../core/base/defined.ts';
import type { Json } from '../core/base/json.ts';
import type { EventPart } from '../core/contract/outcome.ts';
import { createPartialReader } from './streaming/partial-json.ts';
import { parsedJson } from './streaming/parsed-json.ts';
import { isUsageError } from '../core/base/usage-error.ts';
import { pause } from './streaming/follow-chunks.ts';
import { leavable } from './streaming/run-stream.ts';

/** One update of `run.follow()`. */
export type RunUpdate<Value = Json> =
  /** The model wrote text; append it to the text of this iteration. Provisional. */
  | { readonly kind: 'text' | 'reasoning'; readonly iteration: number; readonly delta: string }
  /** What is there of the JSON that the model writes; replaces the one before. Provisional. */
  | { readonly kind: 'partial'; readonly iteration: number; readonly value: Json }
  /** A tool, a validator or a loop emitted an event, as `topic`. */
  | (EventPart & {
      readonly kind: 'topic';
      readonly iteration: number;
      readonly topic: string;
      readonly data: Json;
      /** The call of the tool that emitted it. */
      readonly callId?: string;
    })
  /** Another attempt begins: discard the text of this iteration. */
  | { readonly kind: 'restart'; readonly iteration: number }
  /** Text of this iteration is missing here. */
  | { readonly kind: 'gap'; readonly iteration: number }
  /** The status changed. */
  | { readonly kind: 'status'; readonly status: RunStatus }
  /**
   * Neither a worker nor the service answers for the run at the moment; the next `status` means that
   * one does again.
   */
  | { readonly kind: 'silent' }
  /** Something began to wait for a person or for outside work. */
  | { readonly kind: 'pending'; readonly item: PendingItem }
  /** The item no longer waits: it was answered, timed out or was given up. */
  | { readonly kind: 'settled'; readonly id: string }
  /** The run has ended. The last update. */
  | { readonly kind: 'step'; readonly step: Step<Value> };

/** Options of `follow`. */
export interface FollowRunOptions {
  /** Abort it to stop following; the run goes on. */
  readonly signal?: AbortSignal;
  /** True: updates of kind `partial` for text that is JSON, as it grows. Default false. */
  readonly partial?: boolean;
}

/** The part of a `RunHandle` that following uses. */
export interface FollowedRun<Value = Json> {
  readonly status: () => Promise<RunStatus>;
  readonly pending: () => Promise<readonly PendingItem[]>;
  readonly result: (options: { readonly signal: AbortSignal }) => Promise<Step<Value>>;
  readonly stream: () => AsyncIterable<Chunk | ChunkMarker>;
}

/** How often the status is queried: soon after a change, then less and less often. */
const FIRST_POLL_MS = 100;
const MAX_POLL_MS = 1_000;

/** How long the rest of the text may take after the Step, before the Step is given without it. */
const TEXT_GRACE_MS = 1_500;

/** The updates of `run` from now on. The first ones show the items that already wait. */
export function followRun<Value>(
  run: FollowedRun<Value>,
  { signal, partial = false }: FollowRunOptions = {},
): AsyncIterable<RunUpdate<Value>> {
  return leavable((left) =>
    readUpdates(run, signal === undefined ? left : AbortSignal.any([signal, left]), partial),
  );
}

async function* readUpdates<Value>(
  run: FollowedRun<Value>,
  left: AbortSignal,
  partial: boolean,
): AsyncGenerator<RunUpdate<Value>, undefined> {
  if (left.aborted) return;
  const over = new AbortController();
  const signal = AbortSignal.any([left, over.signal]);
  const bell = createBell();
  let outcome: Outcome<Value> | undefined;
  let isTextOver = false;
  const endText = (): void => {
    isTextOver = true;
    bell.ring();
  };
  const end = (ending: Outcome<Value>): void => {
    outcome = ending;
    const timer = setTimeout(endText, 'step' in ending ? TEXT_GRACE_MS : 0);
    signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
    bell.ring();
  };
  run.result({ signal }).then(
    (step) => end({ step }),
    (error: unknown) => end({ error }),
  );
  signal.addEventListener('abort', () => bell.ring(), { once: true });
  const heard = { ring: () => bell.ring(), onEnd: endText };
  const text = readText(run, signal, heard, partial ? withPartial() : (updates) => updates);
  const watched = watchRun(run, signal, () => bell.ring());
  try {
    for (;;) {
      if (left.aborted) return;
      const isOver = outcome !== undefined && isTextOver;
      const next = watched.take() ?? (isOver ? undefined : text.take());
      if (next !== undefined) {
        // The end of a reply usually changes the status, so query it soon.
        if (next === 'end') watched.look();
        else yield next;
      } else if (outcome === undefined || !isOver) await bell.rung();
      else if ('error' in outcome) throw outcome.error;
      else {
        // A reader that has the Step may never read on.
        over.abort();
        return void (yield { kind: 'step', step: outcome.step });
      }
    }
  } finally {
    over.abort();
  }
}

/** An update before the last. */
type Told = Exclude<RunUpdate, { readonly kind: 'step' }>;

type Outcome<Value> = { readonly step: Step<Value> } | { readonly error: unknown };

/** Wakes the waiting reader. Remembers a ring that comes while none waits. */
function createBell(): { readonly ring: () => void; readonly rung: () => Promise<void> } {
  let hasRung = false;
  let wake = (): void => undefined;
  return {
    ring: () => {
      hasRung = true;
      wake();
    },
    rung: () =>
      new Promise((resolve) => {
        wake = () => {
          hasRung = false;
          wake = () => undefined;
          resolve();
        };
        if (hasRung) wake();
      }),
  };
}

/** Polls the status of the run and its pending items. Never rejects. */
function watchRun(
  run: Omit<FollowedRun, 'result'>,
  signal: AbortSignal,
  ring: () => void,
): { readonly take: () => Told | undefined; readonly look: () => void } {
  const updates: Told[] = [];
  let known: readonly PendingItem[] = [];
  let version = -1;
  let isSilent = false;
  let hurry = new AbortController();
  const add = (one: Told): void => {
    // A slow reader needs only the newest status.
    const last = updates.at(-1);
    if (one.kind === 'status' && last?.kind === 'status') updates.pop();
    updates.push(one);
    ring();
  };
  const fallSilent = (): void => {
    isSilent = true;
    add({ kind: 'silent' });
  };
  /** Queries the run; returns whether anything changed. */
  const ask = async (): Promise<boolean> => {
    const status = await run.status();
    const isBack = isSilent && status.asOf === undefined;
    if (isBack) isSilent = false;
    const isRead = !isSilent && status.asOf !== undefined;
    if (isRead) fallSilent();
    if (!isBack && status.version === version) return isRead;
    const items = status.state === 'ended' ? [] : await run.pending();
    version = status.version;
    for (const { id } of known) if (!has(items, id)) add({ kind: 'settled', id });
    add({ kind: 'status', status });
    for (const item of items) if (!has(known, item.id)) add({ kind: 'pending', item });
    known = items;
    return true;
  };
  const watch = async (): Promise<void> => {
    for (let waitMs = FIRST_POLL_MS; !signal.aborted; waitMs = Math.min(2 * waitMs, MAX_POLL_MS)) {
      try {
        if (await ask()) waitMs = FIRST_POLL_MS / 2;
      } catch (error) {
        // A permanent failure comes from `result()`; a failed query is repeated.
        if (isUsageError(error) && SILENT.has(error.code) && !isSilent) fallSilent();
      }
      hurry = new AbortController();
      const early = AbortSignal.any([signal, hurry.signal]);
      await pause(waitMs, early);
      if (hurry.signal.aborted) waitMs = FIRST_POLL_MS / 2;
    }
  };
  void watch();
  return { take: () => updates.shift(), look: () => hurry.abort() };
}

/** The codes of a run that is waited for. */
const SILENT: ReadonlySet<string> = new Set(['no_worker', 'service_unavailable']);

function has(items: readonly PendingItem[], id: string): boolean {
  return items.some((item) => item.id === id);
}

/** The text of the run, chunk by chunk; `end` marks the end of a reply. Never rejects. */
function readText(
  run: Omit<FollowedRun, 'result'>,
  signal: AbortSignal,
  { ring, onEnd }: { readonly ring: () => void; readonly onEnd: () => void },
  widen: (updates: readonly (Told | 'end')[]) => readonly (Told | 'end')[],
): { readonly take: () => Told | 'end' | undefined } {
  const items = run.stream()[Symbol.asyncIterator]();
  const toUpdates = createTextReader();
  const ready: (Told | 'end')[] = [];
  let isFetching = false;
  const fetch = (): void => {
    if (isFetching || signal.aborted) return;
    isFetching = true;
    items.next().then(
      (next) => {
        // Text is optional, so a stream that ended or failed is not opened again.
        if (next.done === true) return onEnd();
        isFetching = false;
        ready.push(...widen(toUpdates(next.value)));
        ring();
      },
      (error: unknown) => {
        warnOfText(error);
        onEnd();
      },
    );
  };
  // Opens the stream.
  fetch();
  signal.addEventListener('abort', () => void items.return?.(), { once: true });
  return {
    take: () => {
      const next = ready.shift();
      if (next === undefined) fetch();
      return next;
    },
  };
}

/** Adds the partial value after text of an iteration whose text so far is JSON. */
function withPartial(): (updates: readonly (Told | 'end')[]) => readonly (Told | 'end')[] {
  const reader = createPartialReader();
  let at = 0;
  return (updates) =>
    updates.flatMap((update): readonly (Told | 'end')[] => {
      if (update === 'end' || !('iteration' in update)) return [update];
      const { iteration, kind } = update;
      if (iteration !== at || kind === 'restart' || kind === 'gap') reader.reset();
      at = iteration;
      const value = kind === 'text' ? reader.add(update.delta) : undefined;
      return value === undefined ? [update] : [update, { kind: 'partial', iteration, value }];
    });
}

function topicUpdate({ iteration, topic, delta, callId, id, keep }: Chunk): readonly Told[] {
  const data = parsedJson(delta);
  if (topic === undefined || data === undefined) return [];
  const from = defined({ callId, id, keep });
  return [{ kind: 'topic', iteration, topic, data: data as Json, ...from }];
}

/** A mistake in the settings must not look like a model that is silent. */
function warnOfText(error: unknown): void {
  if (!isUsageError(error) || error.code !== 'stream_token') return;
  process.emitWarning(`No provisional text: ${error.message}`, 'EverloopWarning');
}

/** Turns chunks into updates. Drops duplicates and late chunks of earlier attempts. */
function createTextReader(): (item: Chunk | ChunkMarker) => readonly (Told | 'end')[] {
  let last = { iteration: 0, attempt: 0, seq: 0 };
  return (item) => {
    const { iteration, attempt, seq, kind } = item;
    const isSame = iteration === last.iteration;
    if (kind === 'gap') return [{ kind, iteration }];
    if (kind === 'topic') return topicUpdate(item);
    const isOld =
      iteration < last.iteration ||
      (isSame && (attempt < last.attempt || (attempt === last.attempt && seq <= last.seq)));
    if (isOld) return [];
    // The `restart` marker may have been lost; a higher attempt means the same.
    const restart: readonly Told[] =
      isSame && attempt > last.attempt ? [{ kind: 'restart', iteration }] : [];
    last = { iteration, attempt, seq };
    if (kind === 'end') return [...restart, 'end'];
    if (!isChunk(item) || (item.kind !== 'text' && item.kind !== 'reasoning')) return restart;
    return [...restart, { kind: item.kind, iteration, delta: item.delta }];
  };
}
