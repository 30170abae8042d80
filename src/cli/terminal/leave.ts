/**
 * How the program ends: what a command has begun and is not over, such as a request that waits for
 * the end of a run, does not hold the process.
 */
import { EXIT_CODES } from './exit-codes.ts';
import type { CliIo } from './io.ts';

/** How long clients have to close, in ms. */
export const CLOSE_MS = 600;

/**
 * Ends the process with `exitCode` in a moment, if it has not ended by itself. `ms`: how long a worker
 * of its own has to stop.
 */
export function leaveSoon(
  { exit }: Pick<CliIo['signals'], 'exit'>,
  exitCode: number = EXIT_CODES.interrupted,
  ms: number = CLOSE_MS,
): void {
  // It does not hold the process itself.
  setTimeout(() => exit(exitCode), ms).unref();
}
