/**
 * A process with one worker and nothing else, so that its heaps can be measured. It runs with
 * `--expose-gc --import workflow-thread.mjs`. Its argument is an {@link IdleOrder}, its last
 * message an {@link IdleReport}.
 */
import './quiet.ts';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { setTimeout as sleep } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import { BroadcastChannel } from 'node:worker_threads';
import { createEverloop, type Everloop } from '../../src/client/everloop-client.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { createChunkBus } from '../../src/worker/streaming/chunk-bus.ts';
import { createWorker } from '../../src/worker/serve/create-worker.ts';
import { bareBundle } from './bare-worker.ts';
import { instantAgent } from './instant-agent.ts';

const LANES = 10;

/** The task of the process. */
export interface IdleOrder {
  readonly address: string;
  readonly side: 'agent' | 'conversation' | 'bare';
  /** Workflows that wait at the end. */
  readonly count: number;
}

/** What the process measured. */
export interface IdleReport {
  /** Growth of the workflow thread's heap for each workflow. */
  readonly threadBytes: number;
  /** Growth of the main thread's heap: the worker's own record of the workflow, cached messages. */
  readonly mainBytes: number;
  readonly firstActivationsMs: readonly number[];
}

/** What `workflow-thread.mjs` answers. */
interface ThreadReport {
  readonly heapBytes: number;
  readonly firstActivationsMs: readonly number[];
}

/** Workflows that run and end before measuring, because code compiled on first use is not theirs. */
const WARM_UPS = 20;

const TASK_QUEUE = 'idle';

if (process.send !== undefined) {
  const order = JSON.parse(process.argv[2] ?? '') as IdleOrder;
  const report = await (order.side === 'bare' ? weighBare(order) : weighAgents(order));
  process.send(report);
  process.disconnect();
}

async function weighAgents({ address, count, side }: IdleOrder): Promise<IdleReport> {
  const connection = await NativeConnection.connect({ address });
  const client = new Client({ connection: await Connection.connect({ address }) });
  const gate = { isOpen: true };
  const agent = instantAgent('waiting', {
    beforeReply: async () => {
      while (!gate.isOpen) await sleep(50);
    },
  });
  const worker = await createWorker({
    connection,
    namespace: 'default',
    taskQueue: TASK_QUEUE,
    agents: [agent],
    archive: { write: async () => undefined, read: async () => [] },
    chunks: createChunkBus(),
    bundleDir: '.everloop/bundles',
  });
  const running = worker.run();
  const everloop = createEverloop({ client, taskQueue: TASK_QUEUE });

  const warm = await startAgents(everloop, WARM_UPS);
  await Promise.all(warm.map((run) => run.result()));
  const talks = (): Promise<void> => startTalks(everloop, count);
  const report = await weigh(
    count,
    side === 'conversation'
      ? talks
      : async () => {
          // Each is paused in its first model call, ends that iteration and waits.
          gate.isOpen = false;
          const runs = await startAgents(everloop, count);
          for (const run of runs) await run.pause();
          gate.isOpen = true;
          for (const run of runs) await untilWaiting(run);
        },
  );
  worker.shutdown();
  await running;
  await client.connection.close();
  return report;
}

/** One by one, each after the first steps of the one before, so that they do not delay each other. */
async function startAgents(everloop: Everloop, count: number): Promise<readonly RunHandle[]> {
  const runs: RunHandle[] = [];
  while (runs.length < count) {
    const run = await everloop.start('waiting', { task: '5' });
    await run.status();
    runs.push(run);
  }
  return runs;
}

/** Ten at a time; each has answered once, and waits. */
async function startTalks(everloop: Everloop, count: number): Promise<void> {
  const talk = async (lane: number): Promise<void> => {
    for (let number = lane; number < count; number += LANES) {
      const chat = everloop.conversation('waiting', { id: `talk-${number}` });
      await (await chat.say('0')).result();
    }
  };
  await Promise.all(Array.from({ length: LANES }, (_, lane) => talk(lane)));
}

async function untilWaiting(run: RunHandle): Promise<void> {
  for (;;) {
    const { iteration, state, waitsFor } = await run.status();
    if (iteration === 1 && state === 'paused' && waitsFor.length === 0) return;
    await sleep(100);
  }
}

async function weighBare({ address, count }: IdleOrder): Promise<IdleReport> {
  const connection = await NativeConnection.connect({ address });
  const client = new Client({ connection: await Connection.connect({ address }) });
  const worker = await Worker.create({
    connection,
    namespace: 'default',
    taskQueue: TASK_QUEUE,
    workflowBundle: await bareBundle(),
  });
  const running = worker.run();
  const start = (number: number): Promise<{ query(name: string): Promise<unknown> }> =>
    client.workflow.start('bareIdle', {
      workflowId: `idle-${number}`,
      taskQueue: TASK_QUEUE,
      workflowTaskTimeout: '10s',
    });

  for (let number = 0; number < WARM_UPS; number++) {
    await start(number);
    await client.workflow.getHandle(`idle-${number}`).signal('go');
    await client.workflow.getHandle(`idle-${number}`).result();
  }
  const report = await weigh(count, async () => {
    for (let number = WARM_UPS; number < WARM_UPS + count; number++) {
      const handle = await start(number);
      // Answered when the first workflow task is done.
      await handle.query('__stack_trace');
    }
  });
  worker.shutdown();
  await running;
  await client.connection.close();
  return report;
}

/** Measures both heaps before and after `fill`. */
async function weigh(count: number, fill: () => Promise<void>): Promise<IdleReport> {
  const before = await weighOnce();
  await fill();
  const after = await weighOnce();
  return {
    threadBytes: (after.thread.heapBytes - before.thread.heapBytes) / count,
    mainBytes: (after.mainBytes - before.mainBytes) / count,
    firstActivationsMs: after.thread.firstActivationsMs.slice(-count),
  };
}

async function weighOnce(): Promise<{ readonly mainBytes: number; readonly thread: ThreadReport }> {
  // Give pending replies and finished runs a moment to disappear.
  await sleep(2_000);
  const thread = await askThread();
  return { mainBytes: collectedHeapBytes(), thread };
}

async function askThread(): Promise<ThreadReport> {
  const channel = new BroadcastChannel('everloop-bench-thread');
  const answered = new Promise<ThreadReport>((resolve) => {
    channel.onmessage = ({ data }: { readonly data: unknown }) => resolve(data as ThreadReport);
  });
  channel.postMessage('ask');
  const report = await answered;
  channel.close();
  return report;
}

function collectedHeapBytes(): number {
  const { gc } = globalThis;
  if (gc === undefined) throw new Error('Expected Node to run with --expose-gc.');
  gc();
  gc();
  return getHeapStatistics().used_heap_size;
}
