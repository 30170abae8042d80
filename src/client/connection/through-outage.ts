/** Waits that outlive the service: they go on for as long as their owner does. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { UsageError } from '../../core/base/usage-error.ts';
import { shown } from '../../core/text/shown.ts';
import { isAway } from './service-errors.ts';

/** How long a wait may take. Without either, it goes on until what it waits for comes. */
export interface ResultOptions {
  /** Abort it to stop waiting; the run goes on. */
  readonly signal?: AbortSignal;
  /** How long to wait, in milliseconds. */
  readonly deadlineMs?: number;
}

/** Between two tries while the service is away. The SDK has repeated each for some 20 s. */
const PAUSE_MS = 1_000;

/** The longest time that a timer can take. */
const MAX_DELAY_MS = 2_147_483_647;

/**
 * What `ask` gives, asked again while the service is away.
 *
 * @throws UsageError `wait_over` when the owner stops waiting; `number` for an invalid `deadlineMs`;
 * else as `ask`.
 */
export async function throughOutage<Result>(
  client: Pick<Client, 'withAbortSignal'>,
  wait: ResultOptions,
  ask: () => Promise<Result>,
): Promise<Result> {
  const over = endOfWait(wait);
  const goOn = (): void => {
    if (over?.aborted === true) throw waitOver(over.reason);
  };
  for (;;) {
    goOn();
    try {
      return await (over === undefined ? ask() : client.withAbortSignal(over, ask));
    } catch (error) {
      goOn();
      if (!isAway(error)) throw error;
    }
    await sleep(PAUSE_MS, undefined, over && { signal: over }).catch(() => undefined);
  }
}

/**
 * Aborted when the owner stops waiting; undefined: it waits for ever.
 *
 * @throws UsageError `number` for an invalid `deadlineMs`.
 */
export function endOfWait({ signal, deadlineMs }: ResultOptions): AbortSignal | undefined {
  const late = deadlineMs === undefined ? undefined : AbortSignal.timeout(delayOf(deadlineMs));
  const ends = [signal, late].filter((end) => end !== undefined);
  return ends.length === 0 ? undefined : AbortSignal.any(ends);
}

function delayOf(deadlineMs: number): number {
  if (deadlineMs >= 0 && Number.isFinite(deadlineMs)) return Math.min(deadlineMs, MAX_DELAY_MS);
  const message = `Expected \`deadlineMs\` from 0 up, got ${shown(deadlineMs)}. Change it.`;
  throw new UsageError('number', message);
}

/** The error of a wait that its owner ended. */
export function waitOver(reason: unknown): UsageError {
  const error = new UsageError(
    'wait_over',
    'Expected what was waited for to come in time, got the end of the wait. The run goes on: wait again, or read its status.',
  );
  return Object.assign(error, { cause: reason });
}
