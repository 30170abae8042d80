/**
 * The threads and processes in which a worker runs isolated tools.
 *
 * I1  A bounded number of calls runs at once. Others wait; the worker's slots for activities bound
 *     how many.
 * I2  A place is given back once its thread is free or its process has ended.
 */
import { availableParallelism } from 'node:os';
import { UsageError } from '../../core/base/usage-error.ts';
import { shown } from '../../core/text/shown.ts';
import type { Isolation, IsolatedCall, IsolatedPlace } from '../isolation.ts';
import { converse } from './converse.ts';
import { createProcesses } from './processes.ts';
import { createThreads } from './threads.ts';

/**
 * Creates them; nothing is started before the first call. `calls`: how many run at once, from 1;
 * default: the number of cores, at least 2.
 */
export function createIsolation(calls: number = Math.max(2, availableParallelism())): Isolation {
  if (!Number.isSafeInteger(calls) || calls < 1) {
    const got = shown(calls);
    throw new UsageError('number', `Expected \`isolatedCalls\` from 1 up, got ${got}. Change it.`);
  }
  const threads = createThreads(calls);
  const processes = createProcesses();
  const waiting = new Set<() => void>();
  let free = calls;
  let isClosed = false;
  const give = (): void => {
    const [next] = waiting;
    if (next === undefined) free += 1;
    else next();
  };
  const begin = (call: IsolatedCall): ReturnType<typeof converse> => {
    const place = call.tool.place === 'thread' ? threads : processes;
    const { heapMb } = call.tool;
    return converse(call, (order, onMessage) => place.open(order, heapMb, onMessage));
  };
  return {
    enter: async (signal, waitMs) => {
      if (isClosed || signal.aborted) return 'stopped';
      if (free === 0) {
        const outcome = await turn(waiting, signal, waitMs);
        if (outcome !== 'free') return outcome;
      } else free -= 1;
      return placeOf(begin, give);
    },
    close: async () => {
      isClosed = true;
      await Promise.all([threads.close(), processes.close()]);
    },
  };
}

function placeOf(
  begin: (call: IsolatedCall) => ReturnType<typeof converse>,
  give: () => void,
): IsolatedPlace {
  const ends: Promise<unknown>[] = [];
  return {
    run: async (call) => {
      const { value, ended } = begin(call);
      ends.push(ended);
      return value;
    },
    leave: () => void Promise.all(ends).then(give),
  };
}

/** Waits for a place that is given back. */
function turn(
  waiting: Set<() => void>,
  signal: AbortSignal,
  waitMs: number,
): Promise<'free' | 'busy' | 'stopped'> {
  return new Promise((resolve) => {
    const settle = (outcome: 'free' | 'busy' | 'stopped'): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      waiting.delete(onFree);
      resolve(outcome);
    };
    const onFree = (): void => settle('free');
    const onAbort = (): void => settle('stopped');
    const timer = setTimeout(() => settle('busy'), waitMs);
    signal.addEventListener('abort', onAbort, { once: true });
    waiting.add(onFree);
  });
}
