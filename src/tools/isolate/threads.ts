/** Calls in worker threads, which are used again. */
import { createRequire } from 'node:module';
import { MessageChannel, receiveMessageOnPort, type Worker } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import { errorText } from '../../core/base/error-text.ts';
import type { IsolatedOrder } from './messages.ts';
import type { ThreadTask } from './thread-entry.ts';
import {
  entryPath,
  notStarted,
  sourceFlags,
  type OnMessage,
  type Transport,
  type TransportEnd,
} from './transport.ts';

/** A thread without calls ends after this time. */
const IDLE_MS = 30_000;

/** A thread that blocks in native code ends only when that does. */
const CLOSE_MS = 2_000;

/** The threads of a worker: pools by size of heap, since all threads of a pool have one. */
export interface Threads {
  readonly open: (order: IsolatedOrder, heapMb: number, onMessage: OnMessage) => Transport;
  readonly close: () => Promise<void>;
}

/**
 * Makes threads when they are needed, at most `max` of each size. Besides them, each call that was
 * ended has its thread until that blocks no more.
 */
export function createThreads(max: number): Threads {
  const pools = new Map<number, Piscina>();
  const poolOf = (heapMb: number): Piscina => {
    const known = pools.get(heapMb);
    if (known !== undefined) return known;
    const pool = createPool(max, heapMb);
    pools.set(heapMb, pool);
    return pool;
  };
  return {
    open: (order, heapMb, onMessage) => openThread(poolOf(heapMb), order, heapMb, onMessage),
    close: async () => {
      const all = [...pools.values()];
      pools.clear();
      const late = new Promise<void>((resolve) => void setTimeout(resolve, CLOSE_MS).unref());
      await Promise.race([Promise.all(all.map((pool) => pool.destroy())), late]);
    },
  };
}

/** The package is loaded with the first pool: few workers have tools that run in threads. */
const load = createRequire(import.meta.url);

function createPool(max: number, heapMb: number): Piscina {
  const flags = sourceFlags();
  const { Piscina: Pool } = load('piscina') as typeof import('piscina');
  const pool = new Pool({
    filename: entryPath('thread-entry'),
    name: 'runInThread',
    minThreads: 0,
    maxThreads: max,
    idleTimeout: IDLE_MS,
    // Otherwise a thread without calls blocks, and connections that it keeps cannot be served.
    atomics: 'disabled',
    recordTiming: false,
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
    ...(flags.length > 0 && { execArgv: [...flags] }),
  });
  // A thread that ends between calls is replaced by the next.
  pool.on('error', () => undefined);
  return pool;
}

function openThread(
  pool: Piscina,
  order: IsolatedOrder,
  heapMb: number,
  onMessage: OnMessage,
): Transport {
  const { port1, port2 } = new MessageChannel();
  const kill = new AbortController();
  port1.on('message', onMessage);
  let exited: Promise<unknown> = Promise.resolve();
  const end = async (): Promise<TransportEnd> => {
    const result = await run(pool, { order, port: port2 }, kill.signal, heapMb);
    // The two ports deliver independently of each other.
    for (let next = receiveMessageOnPort(port1); next; next = receiveMessageOnPort(port1)) {
      onMessage(next.message);
    }
    port1.close();
    await exited;
    return result;
  };
  return {
    stop: (name, message) => port1.postMessage({ name, message }),
    kill: () => {
      const removed = removedBy(pool, () => kill.abort());
      exited = Promise.all([exited, ...removed.map(exitOf)]);
    },
    ended: end(),
  };
}

/** Runs the task in a thread of the pool. Resolves before a thread that is ended has ended. */
function run(
  pool: Piscina,
  task: NonNullable<ThreadTask>,
  signal: AbortSignal,
  heapMb: number,
): Promise<TransportEnd> {
  const given: { task: ThreadTask } = { task };
  const transferList = [task.port];
  try {
    return pool.run(given, { transferList, signal }).then(
      () => ({ how: 'ended without a result', started: true }),
      (error: unknown) => ({ how: endText(error, heapMb), started: true }),
    );
  } catch (error) {
    // The pool has the task all the same, and gives it to its next thread.
    given.task = null;
    transferList.length = 0;
    return Promise.resolve(notStarted(error));
  }
}

function exitOf(thread: Worker): Promise<unknown> {
  return new Promise((resolve) => void thread.once('exit', resolve));
}

/** The threads that leave the pool by `act`. The pool does not wait until they have ended. */
function removedBy(pool: Piscina, act: () => void): readonly Worker[] {
  const before = pool.threads;
  act();
  const after = new Set(pool.threads);
  return before.filter((thread) => !after.has(thread));
}

function endText(error: unknown, heapMb: number): string {
  const { code, name } = Object(error) as { readonly code?: unknown; readonly name?: unknown };
  if (name === 'AbortError') return 'was ended';
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') return `needed more than its heap of ${heapMb} MB`;
  const text = errorText(error);
  const exit = /^worker exited with code: (\d+)$/.exec(text);
  return exit === null ? `failed: ${text}` : `ended with exit code ${exit[1]}`;
}
