/**
 * Errors that no code catches. By Node's rule, such an error ends the process, and with it the calls
 * of all other runs. A process that belongs to Everloop logs it and goes on, if a run's call of a
 * user's code started what failed. After any other error nothing is known of the process, so it
 * stops in order.
 *
 * I1  The call in whose code the error began is not touched: if it waits for what now never comes,
 *     its time ends it.
 * I2  Output that nobody reads any more (a closed pipe) ends no process and is not logged: the log
 *     would be written into the same pipe.
 */
import { asyncLocalStorage } from '@temporalio/activity';
import { callerText, currentCaller, type Caller } from '../../tools/caller.ts';

/** The part of `process` that this file uses; tests replace it. */
export type UncaughtSource = Pick<NodeJS.Process, 'on' | 'off'>;

/** What {@link watchUncaught} does with errors. */
export interface UncaughtOptions {
  /** Gets the text of each error: whose it is, and its stack. */
  readonly log: (text: string) => void;
  /** Gets each error that no call of a run started. */
  readonly stop: (error: unknown) => void;
  /** Default: `process`. */
  readonly source?: UncaughtSource;
  /** Default: stdout and stderr of the process. */
  readonly outputs?: readonly Pick<NodeJS.WriteStream, 'on' | 'off'>[];
}

/**
 * Handles uncaught exceptions and unhandled rejections of this process, until the returned function
 * is called.
 */
export function watchUncaught({
  log,
  stop,
  source = process,
  outputs = [process.stdout, process.stderr],
}: UncaughtOptions): () => void {
  const onError = (what: string, error: unknown): void => {
    const caller = currentCaller() ?? activityCaller();
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    if (caller === undefined) {
      log(`${what} in code that no call of a run started. The worker stops. ${text}`);
      stop(error);
    } else log(`${what} in ${callerText(caller)}. The worker goes on. ${text}`);
  };
  const listeners = {
    uncaughtException: (error: unknown) => onError('Uncaught exception', error),
    unhandledRejection: (error: unknown) => onError('Unhandled rejection', error),
  };
  source.on('uncaughtException', listeners.uncaughtException);
  source.on('unhandledRejection', listeners.unhandledRejection);
  for (const output of outputs) output.on('error', ignore);
  return () => {
    for (const output of outputs) output.off('error', ignore);
    source.off('uncaughtException', listeners.uncaughtException);
    source.off('unhandledRejection', listeners.unhandledRejection);
  };
}

function ignore(): void {
  // Nobody reads it any more.
}

/** The activity that runs now: it calls models, conditions and other code of a user. */
function activityCaller(): Caller | undefined {
  const info = asyncLocalStorage.getStore()?.info;
  const run = info?.workflowExecution?.workflowId;
  return info === undefined || run === undefined
    ? undefined
    : { name: `activity ${info.activityType}`, run };
}
