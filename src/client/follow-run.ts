/**
 * One run as one stream of news for whoever talks with it: text as it comes, what waits for a person,
 * where the run stands, and its Step at the end.
 *
 * - N1: the Step comes last, exactly once, whatever else broke off.
 * - N2: text is provisional and may be missing; everything else is asked of the run itself.
 * - N3: a slow reader costs itself alone: text is fetched piece by piece as it is read.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PendingItem, RunStatus } from '../core/contract/messages.ts';
import type { Step } from '../core/contract/step.ts';
import { isChunk, type Chunk, type ChunkMarker } from '../core/streaming/chunk.ts';
import { isUsageError } from '../core/base/usage-error.ts';

/** One piece of news of a run. */
export type RunNews =
  /** The model writes; to be added to what this iteration gave so far. Provisional. */
  | { readonly kind: 'text' | 'reasoning'; readonly iteration: number; readonly delta: string }
  /** Another attempt begins: what this iteration gave so far is void. */
  | { readonly kind: 'restart'; readonly iteration: number }
  /** Text of this iteration is missing from here on. */
  | { readonly kind: 'gap'; readonly iteration: number }
  /** Something happened: where the run stands now. */
  | { readonly kind: 'status'; readonly status: RunStatus }
  /** Nobody answers for the run at the moment; the next `status` says that somebody does again. */
  | { readonly kind: 'silent' }
  /** Something waits for a person or for the outside from now on. */
  | { readonly kind: 'pending'; readonly item: PendingItem }
  /** It does not any more: answered here or elsewhere, out of time, or given up. */
  | { readonly kind: 'settled'; readonly id: string }
  /** The run has ended. The last of all. */
  | { readonly kind: 'step'; readonly step: Step };

/** How to follow. */
export interface FollowRunOptions {
  /** Aborted to leave; the run goes on. */
  readonly signal?: AbortSignal;
}

/** What following asks of a run; a `RunHandle` has it. */
export interface FollowedRun {
  readonly status: () => Promise<RunStatus>;
  readonly pending: () => Promise<readonly PendingItem[]>;
  readonly result: () => Promise<Step>;
  readonly stream: () => AsyncIterable<Chunk | ChunkMarker>;
}

/** How often a run is asked where it stands: soon after something happened, then as is polite. */
const FIRST_POLL_MS = 100;
const MAX_POLL_MS = 1_000;

/** The news of `run` from now on; what waits already is told first. */
export function followRun(
  run: FollowedRun,
  { signal }: FollowRunOptions = {},
): AsyncIterable<RunNews> {
  return {
    [Symbol.asyncIterator]: () => {
      const left = new AbortController();
      const until = signal === undefined ? left.signal : AbortSignal.any([signal, left.signal]);
      const news = readNews(run, until);
      return {
        next: () => news.next(),
        return: () => {
          // A generator that waits for a silent run would hear of it at the next piece only.
          left.abort();
          return news.return(undefined);
        },
      };
    },
  };
}

async function* readNews(run: FollowedRun, left: AbortSignal): AsyncGenerator<RunNews, undefined> {
  if (left.aborted) return;
  const over = new AbortController();
  const signal = AbortSignal.any([left, over.signal]);
  const bell = createBell();
  let outcome: Outcome | undefined;
  const end = (ending: Outcome): void => {
    outcome = ending;
    bell.ring();
  };
  run.result().then(
    (step) => end({ step }),
    (error: unknown) => end({ error }),
  );
  signal.addEventListener('abort', () => bell.ring(), { once: true });
  const watched = watchRun(run, signal, () => bell.ring());
  const text = readText(run, signal, () => bell.ring());
  try {
    for (;;) {
      if (left.aborted) return;
      const next = watched.take() ?? (outcome === undefined ? text.take() : undefined);
      if (next !== undefined) {
        // What a whole reply leads to is seen soon.
        if (next === 'end') watched.look();
        else yield next;
      } else if (outcome === undefined) await bell.rung();
      else if ('error' in outcome) throw outcome.error;
      else {
        // A reader that knows the Step may never ask for more.
        over.abort();
        return void (yield { kind: 'step', step: outcome.step });
      }
    }
  } finally {
    over.abort();
  }
}

type Outcome = { readonly step: Step } | { readonly error: unknown };

/** Wakes one who waits; a ring that nobody hears is kept. */
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

/** Asks again and again where the run stands and what waits; never rejects. */
function watchRun(
  run: FollowedRun,
  signal: AbortSignal,
  ring: () => void,
): { readonly take: () => RunNews | undefined; readonly look: () => void } {
  const news: RunNews[] = [];
  let known: readonly PendingItem[] = [];
  let version = -1;
  let isSilent = false;
  let pause = new AbortController();
  const tell = (one: RunNews): void => {
    // Only the newest status matters to a reader that is slow.
    const last = news.at(-1);
    if (one.kind === 'status' && last?.kind === 'status') news.pop();
    news.push(one);
    ring();
  };
  /** Whether anything was new. */
  const ask = async (): Promise<boolean> => {
    const status = await run.status();
    const isNew = isSilent || status.version !== version;
    isSilent = false;
    if (!isNew) return false;
    const items = status.state === 'ended' ? [] : await run.pending();
    version = status.version;
    for (const { id } of known) if (!has(items, id)) tell({ kind: 'settled', id });
    tell({ kind: 'status', status });
    for (const item of items) if (!has(known, item.id)) tell({ kind: 'pending', item });
    known = items;
    return true;
  };
  const watch = async (): Promise<void> => {
    for (let waitMs = FIRST_POLL_MS; !signal.aborted; waitMs = Math.min(2 * waitMs, MAX_POLL_MS)) {
      try {
        if (await ask()) waitMs = FIRST_POLL_MS / 2;
      } catch (error) {
        // The result tells what is wrong for good; a look that fails is repeated.
        if (isUsageError(error) && error.code === 'no_worker' && !isSilent) {
          isSilent = true;
          tell({ kind: 'silent' });
        }
      }
      pause = new AbortController();
      const early = AbortSignal.any([signal, pause.signal]);
      await sleep(waitMs, undefined, { signal: early }).catch(() => undefined);
      if (pause.signal.aborted) waitMs = FIRST_POLL_MS / 2;
    }
  };
  void watch();
  return { take: () => news.shift(), look: () => pause.abort() };
}

function has(items: readonly PendingItem[], id: string): boolean {
  return items.some((item) => item.id === id);
}

/** The text of the run, one piece at a time; `end` stands for the end of a reply. Never rejects. */
function readText(
  run: FollowedRun,
  signal: AbortSignal,
  ring: () => void,
): { readonly take: () => RunNews | 'end' | undefined } {
  const items = run.stream()[Symbol.asyncIterator]();
  const toNews = createTextReader();
  const ready: (RunNews | 'end')[] = [];
  let isFetching = false;
  const fetch = (): void => {
    if (isFetching || signal.aborted) return;
    isFetching = true;
    items.next().then(
      (next) => {
        // A stream that ended or broke off is not asked again: text is a courtesy.
        if (next.done === true) return;
        isFetching = false;
        ready.push(...toNews(next.value));
        ring();
      },
      () => undefined,
    );
  };
  signal.addEventListener('abort', () => void items.return?.(), { once: true });
  return {
    take: () => {
      const next = ready.shift();
      if (next === undefined) fetch();
      return next;
    },
  };
}

/** Reads pieces and markers: drops duplicates and what an earlier attempt still sends. */
function createTextReader(): (item: Chunk | ChunkMarker) => readonly (RunNews | 'end')[] {
  let last = { iteration: 0, attempt: 0, seq: 0 };
  return (item) => {
    const { iteration, attempt, seq, kind } = item;
    const isSame = iteration === last.iteration;
    if (kind === 'gap') return [{ kind, iteration }];
    const isOld =
      iteration < last.iteration ||
      (isSame && (attempt < last.attempt || (attempt === last.attempt && seq <= last.seq)));
    if (isOld) return [];
    // The marker itself may be what was lost: a higher attempt says the same.
    const restart: readonly RunNews[] =
      isSame && attempt > last.attempt ? [{ kind: 'restart', iteration }] : [];
    last = { iteration, attempt, seq };
    if (kind === 'end') return [...restart, 'end'];
    if (!isChunk(item) || item.kind === 'tool_args') return restart;
    return [...restart, { kind: item.kind, iteration, delta: item.delta }];
  };
}
