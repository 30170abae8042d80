/** The baseline of a comparison: a worker for workflows that only call activities. */
import {
  NativeConnection,
  Worker,
  type WorkerOptions,
  type WorkflowBundle,
} from '@temporalio/worker';
import { randomUUID } from 'node:crypto';
import workerThreads from 'node:worker_threads';
import { fileURLToPath } from 'node:url';
import { loadWorkflowBundle } from '../../src/worker/bundle/bundle.ts';
import { createSlots } from '../../src/worker/serve/slots.ts';
import type { BareActivities, BareInput } from '../workflows/bare.ts';
import type { Stage } from './bench-stage.ts';
import { REPLY_BYTES } from './instant-agent.ts';

/** Workflows of `workflows/bare.ts`, bundled once and kept. */
export function bareBundle(): Promise<WorkflowBundle> {
  return loadWorkflowBundle({
    cacheDir: '.everloop/bundles',
    workflowsPath: fileURLToPath(new URL('../workflows/bare.ts', import.meta.url)),
    preloadModules: [],
  });
}

/** A worker for bare workflows. */
export interface BareSide {
  /** Runs `turns` turns; returns the id of the workflow. */
  readonly run: (turns: number) => Promise<string>;
  /** Runs a workflow with the given number of children of `turns` turns each; returns its id. */
  readonly runTree: (children: number, turns: number) => Promise<string>;
  readonly stop: () => Promise<void>;
}

/** The activities of a bare workflow; the default is {@link bareActivities}. */
export interface BareWork {
  readonly activities: BareActivities;
  readonly inputOf: (turns: number) => BareInput;
}

/** The SDK's own threads: those of an agent are guarded, see `worker/threads/guarded-thread.ts`. */
const { Worker: StockThread } = workerThreads;

/** Makes what starts threads, as the SDK starts them without us. */
export async function withStockThreads<T>(make: () => Promise<T>): Promise<T> {
  const { Worker: guarded } = workerThreads;
  workerThreads.Worker = StockThread;
  try {
    return await make();
  } finally {
    workerThreads.Worker = guarded;
  }
}

/** The slots and pollers of `createWorker`. */
export const BARE_TUNING: Pick<
  WorkerOptions,
  'tuner' | 'workflowTaskPollerBehavior' | 'activityTaskPollerBehavior'
> = {
  tuner: createSlots(),
  workflowTaskPollerBehavior: { type: 'autoscaling', initial: 5, minimum: 1, maximum: 100 },
  activityTaskPollerBehavior: { type: 'autoscaling', initial: 5, minimum: 1, maximum: 100 },
};

/** Serves bare workflows with {@link BARE_TUNING}, on a connection as the SDK makes it. */
export async function serveBare(
  stage: Stage,
  resultBytes = 1_024,
  work: BareWork = { activities: bareActivities(resultBytes), inputOf: bareInput },
): Promise<BareSide> {
  const taskQueue = `bare-${randomUUID()}`;
  const workflowBundle = await bareBundle();
  const connection = await NativeConnection.connect({ address: stage.address });
  const options = {
    connection,
    namespace: 'default',
    taskQueue,
    workflowBundle,
    activities: { ...work.activities },
    ...BARE_TUNING,
  } as const;
  const worker = await withStockThreads(() => Worker.create(options));
  const running = worker.run();
  let runs = 0;
  return {
    run: async (turns) => {
      const workflowId = `${taskQueue}-${(runs += 1)}`;
      const args: [BareInput] = [work.inputOf(turns)];
      await stage.client.workflow.execute('bare', { workflowId, taskQueue, args });
      return workflowId;
    },
    runTree: async (children, turns) => {
      const workflowId = `${taskQueue}-${(runs += 1)}`;
      const args = [{ ...work.inputOf(turns), children }];
      await stage.client.workflow.execute('bareTree', { workflowId, taskQueue, args });
      return workflowId;
    },
    stop: async () => {
      worker.shutdown();
      await running;
      await connection.close();
    },
  };
}

/** The two activities, which return at once what those of the instant agent return. */
export function bareActivities(
  resultBytes: number,
): Readonly<Record<'bareModel' | 'bareTool', () => Promise<unknown>>> {
  const output = 'r'.repeat(resultBytes);
  return {
    bareModel: async () => REPLY,
    bareTool: async () => ({ outcome: 'ok', output, attempts: 1, started: true }),
  };
}

/** The input of a bare workflow: the orders that an agent sends. */
export function bareInput(turns: number, heartbeatMs = 5_000): BareInput {
  return { turns, heartbeatMs, modelOrder: ORDER, toolOrder: TOOL_ORDER, calls: 1 };
}

const ORDER = {
  agent: 'instant',
  runId: '00000000-0000-0000-0000-000000000000',
  agentPath: 'instant',
  model: 'instant/model',
  purpose: 'reply',
  iteration: 10,
  triesBefore: 0,
  lastTurn: false,
  time: 1_773_133_200_000,
  transcript: { epoch: 1, length: 20, digest: '0123456789abcdef' },
};

const TOOL_ORDER = {
  agent: 'instant',
  runId: '00000000-0000-0000-0000-000000000000',
  agentPath: 'instant',
  callId: '10.1',
  tool: 'read',
  args: { part: 10 },
};

const REPLY = {
  kind: 'reply',
  reply: {
    parts: [{ type: 'text', text: 'x'.repeat(REPLY_BYTES) }],
    finishReason: 'stop',
    usage: {
      inputTokens: 100,
      outputTokens: 10,
      cachedInputTokens: 0,
      cacheWriteTokens: 0,
      reasoningTokens: 0,
      costMicroUsd: 0,
    },
    usageKnown: true,
    model: 'instant/model',
  },
  attempts: 1,
};
