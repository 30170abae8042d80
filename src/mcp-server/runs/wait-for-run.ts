/** Waits for a run within bounds: until it ends, waits for a person, or the time is up. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isUsageError, UsageError } from '../../core/base/usage-error.ts';
import type { RunHandle } from '../../client/run-handle.ts';
import { forPeople, readView, type SeenRun } from './run-view.ts';

/** Milliseconds of a wait. Clients give up a call after 60 s. */
export const MAX_WAIT_MS = 50_000;

/** How often the run is read: soon at first, then each second. */
const FIRST_POLL_MS = 100;
const POLL_MS = 1_000;

/** How to wait. */
export interface WaitOptions {
  /** At most {@link MAX_WAIT_MS}. */
  readonly waitMs: number;
  /** Ends the wait: the caller is gone, or the server stops. */
  readonly signal: AbortSignal;
  /** Called once a second while the run goes on. */
  readonly onSecond?: (seconds: number, view: SeenRun) => void;
}

/**
 * The run as it is at its end, when something waits for a person, or when the time is up. Keeps
 * waiting while no worker answers.
 *
 * @throws UsageError as the methods of the handle; `no_worker` if no worker answered at all.
 */
export async function waitForRun(
  run: RunHandle,
  { waitMs, signal, onSecond }: WaitOptions,
): Promise<SeenRun> {
  const began = performance.now();
  const elapsedMs = (): number => performance.now() - began;
  const leftMs = (): number => Math.max(0, waitMs - elapsedMs());
  let last: SeenRun | undefined;
  let failure: UsageError | undefined;
  let saidSeconds = 0;
  for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(2 * pollMs, POLL_MS)) {
    const read = await within(tryRead(run), Math.max(leftMs(), FIRST_READ_MS), signal);
    if (read?.kind === 'failed') failure = read.error;
    else if (read !== undefined) last = read;
    if (last !== undefined && isSettled(last)) return last;
    if (leftMs() === 0) break;
    const seconds = Math.floor(elapsedMs() / 1_000);
    if (last !== undefined && seconds > saidSeconds) onSecond?.(seconds, last);
    saidSeconds = seconds;
    await sleep(Math.min(pollMs, leftMs()), undefined, { signal });
  }
  if (last !== undefined) return last;
  throw failure ?? silence(run.id);
}

/** Even a call with `waitMs: 0` gets an answer, if a worker is there. */
const FIRST_READ_MS = 2_000;

/** Whether there is nothing to wait for. */
function isSettled(view: SeenRun): boolean {
  return view.kind !== 'live' || forPeople(view.pending).length > 0;
}

interface FailedRead {
  readonly kind: 'failed';
  readonly error: UsageError;
}

/** Workers come and go while a fleet is deployed; any other error ends the wait. */
async function tryRead(run: RunHandle): Promise<SeenRun | FailedRead> {
  try {
    return await readView(run);
  } catch (error) {
    if (!isUsageError(error) || error.code !== 'no_worker') throw error;
    return { kind: 'failed', error };
  }
}

/** Undefined: `work` takes longer. */
async function within<Result>(
  work: Promise<Result>,
  ms: number,
  signal: AbortSignal,
): Promise<Result | undefined> {
  const over = new AbortController();
  const late = sleep(ms, undefined, { signal: AbortSignal.any([over.signal, signal]) });
  // The wait may have ended before the work fails.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    late.catch(() => undefined);
    over.abort();
  }
}

function silence(id: string): UsageError {
  return new UsageError(
    'no_worker',
    `Expected a worker that answers for run \`${id}\` in time, got silence. The run waits meanwhile and loses nothing; call wait_run again.`,
  );
}
