/**
 * Replays histories from nothing, one after another, in a worker that has loaded its bundle. That
 * is the cost of a cache miss. It runs in a workflow thread, as a worker's runs do, and not on the
 * main thread, as replay workers do.
 */
import { Worker, type ReplayWorkerOptions } from '@temporalio/worker';
import type { History } from './history-reader.ts';

/** Replays one history again and again. */
export interface Replayer {
  /** Milliseconds of one replay. Throws when the history does not fit the code. */
  replay(): Promise<number>;
  close(): Promise<void>;
}

/** A replayer of `history` with the code in `options`. Its thread has started. */
export async function openReplayer(
  options: ReplayWorkerOptions,
  history: History,
): Promise<Replayer> {
  const inThread = { ...options, debugMode: false };
  const results = Worker.runReplayHistories(inThread, repeat(history));
  const replay = async (): Promise<number> => {
    const startedAt = performance.now();
    const { value, done } = await results.next();
    if (done === true) throw new Error('Expected the replay worker to go on, got its end.');
    if (value.error !== undefined) throw value.error;
    return performance.now() - startedAt;
  };
  // The first one starts the worker.
  await replay();
  return {
    replay,
    close: async () => {
      await results.return?.();
    },
  };
}

function* repeat(history: History): Generator<{ workflowId: string; history: History }> {
  for (;;) yield { workflowId: 'replayed', history };
}
