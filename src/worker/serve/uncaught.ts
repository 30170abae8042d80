/**
 * Errors that code of a user leaves uncaught. By Node's rule, such an error ends the process, and
 * with it the calls of all other runs. A process that belongs to Everloop logs it and goes on.
 *
 * I1  The call in whose code the error began is not touched: if it waits for what now never comes,
 *     its time ends it.
 */
import { callerText, currentCaller } from '../../tools/caller.ts';

/** The part of `process` that this file uses; tests replace it. */
export type UncaughtSource = Pick<NodeJS.Process, 'on' | 'off'>;

/**
 * Logs uncaught exceptions and unhandled rejections of this process, with the tool or validator
 * that ran, until the returned function is called.
 */
export function logUncaught(
  log: (text: string) => void,
  source: UncaughtSource = process,
): () => void {
  const listeners = {
    uncaughtException: (error: unknown) => log(textOf('Uncaught exception', error)),
    unhandledRejection: (error: unknown) => log(textOf('Unhandled rejection', error)),
  };
  source.on('uncaughtException', listeners.uncaughtException);
  source.on('unhandledRejection', listeners.unhandledRejection);
  return () => {
    source.off('uncaughtException', listeners.uncaughtException);
    source.off('unhandledRejection', listeners.unhandledRejection);
  };
}

function textOf(what: string, error: unknown): string {
  const caller = currentCaller();
  const whose =
    caller === undefined ? 'in code that no call of a run started' : `in ${callerText(caller)}`;
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `${what} ${whose}. The worker goes on. ${text}`;
}
