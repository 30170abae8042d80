import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Polls until `check` returns something other than undefined or false; fails after `withinMs`. A
 * minute is no claim on how long something takes: a machine with other work to do is that slow.
 */
export async function eventually<T>(
  what: string,
  check: () => Promise<T | undefined | false> | T | undefined | false,
  withinMs = 60_000,
): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const value = await check();
    if (value !== undefined && value !== false) return value;
    if (Date.now() > deadline) throw new Error(`Expected ${what} within ${withinMs} ms.`);
    await sleep(25);
  }
}
