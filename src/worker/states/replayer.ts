/**
 * Replays histories under the probe: one at a time in a process, in a thread of its own. Starting such
 * a replay takes a second, so the replaying worker stays for a minute after it was used last.
 *
 * I1  A replaying worker shows what it sees only to who asked it. One that took too long goes on for
 *     a while, and must not be seen by who asks the next one.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker, type InjectedSinks, type ReplayWorkerOptions } from '@temporalio/worker';
import { UsageError } from '../../core/base/usage-error.ts';
import { PROBE_QUEUE } from '../../core/contract/messages.ts';
import type { ProbedCall } from '../../core/run/host.ts';
import type { LinkAnswers } from '../../core/fork/link-answers.ts';
import type { RunState } from '../../core/run/run-state.ts';
import { workerConverter } from '../../protection/worker-converter.ts';
import type { Protection } from '../../protection/protection.ts';
import type { EverloopSinks } from '../../workflows/sinks.ts';
import type { LoadedBundle } from '../bundle/bundle.ts';

/** What a replay shows: of a run that is looked at for its states, or of one that is read. */
export interface ReplayWatch {
  boundary?(state: RunState, workflows: string | undefined): void;
  call?(call: ProbedCall): void;
  child?(child: { readonly callId: string; readonly agent: string }): void;
  answers?(answers: LinkAnswers, historyLength: number): void;
}

/** A history to replay: that of one link, whose type is that of the probe. */
export interface ProbedHistory {
  readonly workflowId: string;
  readonly history: unknown;
}

/** Replays one history after another. */
export interface Replayer {
  /**
   * Replays a history; returns why it did not go to its end, if it did not. Aborting `seen` says that
   * no more has to be seen of it.
   * @throws UsageError `replay_failed` if it takes longer than a minute.
   */
  replay(run: ProbedHistory, watch: ReplayWatch, seen?: AbortSignal): Promise<Error | undefined>;
  close(): Promise<void>;
}

/** A history of the largest size takes less. */
const REPLAY_MS = 60_000;

/** How long an idle one stays. */
const IDLE_MS = 60_000;

type Results = ReturnType<typeof Worker.runReplayHistories>;

/** A replaying worker that waits for the next history. */
interface OpenReplay {
  readonly results: Results;
  /** Who watches the replay that goes on (I1). */
  watch: ReplayWatch | null;
  readonly push: (run: ProbedHistory | null) => void;
}

/** A replayer of the workflows in `workflowBundle`; a history has `replayMs` to replay. */
export function createReplayer(
  workflowBundle: LoadedBundle,
  protection: Protection,
  replayMs: number = REPLAY_MS,
): Replayer {
  const kept: KeptReplay = { open: null, idle: undefined, replayMs };
  let queue: Promise<unknown> = Promise.resolve();
  const options: ReplayWorkerOptions & { readonly debugMode: boolean } = {
    workflowBundle,
    replayName: PROBE_QUEUE.slice(0, -1),
    dataConverter: workerConverter(protection),
    // In a thread: the workflow code of a replay must not hold the activities of this worker.
    debugMode: false,
    workflowThreadPoolSize: 1,
  };
  return {
    replay: (run, watch, seen) => {
      const replayed = queue.then(() => replayNow(kept, options, { run, watch, seen }));
      queue = replayed.catch(() => undefined);
      return replayed;
    },
    close: () => queue.then(() => closeReplay(kept)),
  };
}

/** The replaying worker that is kept. */
interface KeptReplay {
  open: OpenReplay | null;
  idle: NodeJS.Timeout | undefined;
  readonly replayMs: number;
}

interface WatchedReplay {
  readonly run: ProbedHistory;
  readonly watch: ReplayWatch;
  readonly seen: AbortSignal | undefined;
}

async function replayNow(
  kept: KeptReplay,
  options: ReplayWorkerOptions,
  { run, watch, seen }: WatchedReplay,
): Promise<Error | undefined> {
  clearTimeout(kept.idle);
  kept.open ??= openReplay(options);
  const { open } = kept;
  open.watch = watch;
  try {
    open.push(run);
    const late = sleep(kept.replayMs, null, { ref: false });
    const next = await Promise.race([open.results.next(), late, aborted(seen)]);
    if (next === null) {
      void closeReplay(kept);
      if (seen?.aborted === true) return undefined;
      throw new UsageError(
        'replay_failed',
        `Expected the history of run \`${run.workflowId}\` to replay within ${kept.replayMs / 1_000} s, got no end. Use a worker with less to do.`,
      );
    }
    return next.done === true ? new Error('the replay ended') : next.value.error;
  } catch (error) {
    kept.open = null;
    throw error;
  } finally {
    open.watch = null;
    kept.idle = setTimeout(() => void closeReplay(kept), IDLE_MS);
    kept.idle.unref();
  }
}

/** Null once `signal` is aborted; else never settles. */
function aborted(signal: AbortSignal | undefined): Promise<null> {
  return new Promise((resolve) => {
    signal?.addEventListener('abort', () => resolve(null), { once: true });
  });
}

async function closeReplay(kept: KeptReplay): Promise<void> {
  clearTimeout(kept.idle);
  const { open } = kept;
  kept.open = null;
  open?.push(null);
  // It ends when the generator of histories does.
  await open?.results.next().catch(() => undefined);
}

function openReplay(options: ReplayWorkerOptions): OpenReplay {
  const waiting: (ProbedHistory | null)[] = [];
  let wake = (): void => undefined;
  const histories = async function* (): AsyncGenerator<ProbedHistory> {
    for (;;) {
      while (waiting.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const next = waiting.shift() ?? null;
      if (next === null) return;
      yield next;
    }
  };
  // The types of the SDK want a class for each sink.
  const sinks = probeSinks(() => open.watch) as unknown as NonNullable<
    ReplayWorkerOptions['sinks']
  >;
  const open: OpenReplay = {
    results: Worker.runReplayHistories({ ...options, sinks }, histories()),
    watch: null,
    push: (run) => {
      waiting.push(run);
      wake();
    },
  };
  return open;
}

/** The probe's sinks; all others of the bundle do nothing. */
function probeSinks(watch: () => ReplayWatch | null): InjectedSinks<EverloopSinks> {
  const nothing = { fn: () => undefined, callDuringReplay: false };
  return {
    transcript: { append: nothing },
    archive: { write: nothing },
    waits: { changed: nothing },
    cancels: { tell: nothing },
    events: { publish: nothing },
    probe: {
      boundary: {
        callDuringReplay: true,
        fn: (_info, state, workflows) => watch()?.boundary?.(state, workflows),
      },
      call: { callDuringReplay: true, fn: (_info, call) => watch()?.call?.(call) },
      child: { callDuringReplay: true, fn: (_info, child) => watch()?.child?.(child) },
      answers: {
        callDuringReplay: true,
        fn: ({ historyLength }, answers) => watch()?.answers?.(answers, historyLength),
      },
    },
  };
}
