/**
 * How fast the messages of one server are read. A server that sends more is read more slowly, so that
 * it cannot take the whole time of a worker.
 */
import { setImmediate } from 'node:timers/promises';

/**
 * Messages and bytes that are read in a second; a busy server sends a hundredth of it. To read that
 * many bytes of JSON takes a fifth of the second.
 */
const MAX_MESSAGES = 4_000;
const MAX_BYTES = 16_777_216;

const SECOND_MS = 1_000;

/** Counts what was read in the current second. */
export class Pace {
  private since = performance.now();
  private messages = 0;
  private bytes = 0;

  /** Counts, and returns the milliseconds to wait before more is read; mostly 0. */
  count(messages: number, bytes: number): number {
    const now = performance.now();
    if (now - this.since >= SECOND_MS) [this.since, this.messages, this.bytes] = [now, 0, 0];
    this.messages += messages;
    this.bytes += bytes;
    const isTooFast = this.messages > MAX_MESSAGES || this.bytes > MAX_BYTES;
    return isTooFast ? Math.max(1, this.since + SECOND_MS - now) : 0;
  }
}

/** Messages that are read before others have their turn. */
export const MESSAGES_AT_ONCE = 32;

/** Lets everything run that waits in this process. */
export async function othersTurn(): Promise<void> {
  await setImmediate();
}
