/**
 * A worker on a connection: registry, caches and archive put together, one Temporal worker for each
 * task queue that this process serves.
 */
import { Worker, type NativeConnection, type WorkerOptions } from '@temporalio/worker';
import type { Archive } from '../../activities/archive-transcript.ts';
import { createActivities } from '../../activities/create-activities.ts';
import type { AgentDefinition } from '../../define/definition/definitions.ts';
import type { ModelEntry } from '../../define/definition/model-entry.ts';
import { DEFAULT_TASK_QUEUE } from '../../client/everloop-client.ts';
import type { ChunkPublisher } from '../../core/streaming/chunk-stream.ts';
import type { ActivityRuntime } from '../../activities/activity-types.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import { loadWorkflowBundle } from '../bundle/bundle.ts';
import { createRegistry } from '../../registry/registry.ts';
import { guardWorkflowThreads } from './guard-workflow-threads.ts';
import { createTranscriptCache } from './transcript-cache.ts';
import { createSinks, type EventListener } from './worker-sinks.ts';

/** Which kinds of work a process takes on. */
export type WorkerRole = 'workflows' | 'models' | 'tools';

/** Numbers of a worker, each with its reason. */
export const WORKER_DEFAULTS = {
  /** A worker that is silent for so long is given up; shorter costs heartbeats, longer recovery. */
  heartbeatMs: 5_000,
  /** 128 MB: transcripts of some hundred agents of 100 KB to 1 MB. */
  cacheBytes: 134_217_728,
  /** A model call that runs when a deploy comes gets so long to end; the SDK's default is none. */
  shutdownGraceMs: 30_000,
  /** A run whose worker died waits so long before another worker gets it; the SDK's default is 10 s. */
  stickyMs: 2_000,
  /** A cancellation reaches an activity in the answer to a heartbeat; the SDK's default is 60 s. */
  heartbeatThrottleMs: 1_000,
  /** A slot costs little while a call waits for a provider. */
  workflowSlots: 100,
  activitySlots: 200,
  localActivitySlots: 100,
} as const;

/** What a worker is made of. */
export interface WorkerParts {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly agents: readonly AgentDefinition[];
  /** Entries that agents name by id; entries that stand in a definition need not be here. */
  readonly models?: readonly ModelEntry[];
  /** Default `everloop`. */
  readonly taskQueue?: string;
  /** Where model activities run; default: the task queue. */
  readonly modelQueue?: string;
  /** Where tool activities run; default: the task queue. */
  readonly toolQueue?: string;
  /** What this process takes on; default: everything. */
  readonly roles?: readonly WorkerRole[];
  readonly archive: Archive;
  readonly chunks: ChunkPublisher;
  readonly listeners?: readonly EventListener[];
  readonly heartbeatMs?: number;
  readonly cacheBytes?: number;
  readonly maxCachedWorkflows?: number;
  readonly shutdownGraceMs?: number;
  /** Folder of the workflow bundle's cache. */
  readonly bundleDir: string;
  /**
   * Absolute path of a module that exports the workflow `agent` in place of Everloop's own: the way
   * to a loop of your own, see `everloop/workflow`. Default: Everloop's.
   */
  readonly workflowsPath?: string;
  readonly onListenerError?: (error: unknown) => void;
}

/** A worker that polls from `run` on. */
export interface EverloopWorker {
  /** Serves until `shutdown`; rejects when the worker cannot go on. */
  run(): Promise<void>;
  /** Begins an ordered stop: no new work, running work gets its grace. */
  shutdown(): void;
}

/**
 * A queue gives its work to whoever polls it, so a process can only leave models or tools to others
 * that have a queue of their own.
 */
function checkRoles({
  roles,
  taskQueue = DEFAULT_TASK_QUEUE,
  modelQueue,
  toolQueue,
}: WorkerParts): void {
  if (roles === undefined || !roles.includes('workflows')) return;
  const queues = { models: modelQueue ?? taskQueue, tools: toolQueue ?? taskQueue };
  for (const role of ['models', 'tools'] as const) {
    if (roles.includes(role) || queues[role] !== taskQueue) continue;
    const option = role === 'models' ? 'modelQueue' : 'toolQueue';
    throw new UsageError(
      'worker_roles',
      `Expected \`${option}\` of a worker without the role \`${role}\` to be a queue of its own, got that of the workflows. Set it, or take on the role.`,
    );
  }
}

/** Connects agents and models to task queues. Throws a UsageError for unfit definitions. */
export async function createWorker(parts: WorkerParts): Promise<EverloopWorker> {
  checkRoles(parts);
  const { taskQueue = DEFAULT_TASK_QUEUE, modelQueue, toolQueue } = parts;
  const registry = createRegistry({ agents: parts.agents, models: parts.models ?? [] });
  const cache = createTranscriptCache({ maxBytes: parts.cacheBytes ?? WORKER_DEFAULTS.cacheBytes });
  const runtime: ActivityRuntime = {
    heartbeatMs: parts.heartbeatMs ?? WORKER_DEFAULTS.heartbeatMs,
    ...(modelQueue === undefined ? {} : { modelQueue }),
    ...(toolQueue === undefined ? {} : { toolQueue }),
  };
  const { archive, chunks } = parts;
  const activities = createActivities({ registry, runtime, cache, chunks, archive });
  const sinks = createSinks({
    cache,
    listeners: [...(parts.listeners ?? []), endStreams(chunks)],
    onListenerError: parts.onListenerError ?? (() => undefined),
  });
  const common = { ...tuning(parts), activities };
  const roles = parts.roles ?? ['workflows', 'models', 'tools'];
  const workers: Worker[] = [];
  if (roles.includes('workflows')) {
    guardWorkflowThreads();
    const { bundleDir: cacheDir, workflowsPath } = parts;
    const workflowBundle = await loadWorkflowBundle({
      cacheDir,
      ...(workflowsPath === undefined ? {} : { workflowsPath }),
    });
    workers.push(await Worker.create({ ...common, taskQueue, workflowBundle, sinks }));
  }
  const others = [
    ...(roles.includes('models') ? [modelQueue ?? taskQueue] : []),
    ...(roles.includes('tools') ? [toolQueue ?? taskQueue] : []),
  ];
  for (const queue of new Set(others)) {
    // The worker of the workflows serves its own queue already.
    if (queue === taskQueue && roles.includes('workflows')) continue;
    workers.push(await Worker.create({ ...common, taskQueue: queue }));
  }
  return {
    run: async () => {
      await Promise.all(workers.map((worker) => worker.run()));
    },
    shutdown: () => {
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
    },
  };
}

/** Ends the streams of a run with the run, whoever reads them. */
function endStreams(chunks: ChunkPublisher): EventListener {
  return ({ type, runId }) => {
    if (type === 'agent:execution:after') chunks.endRun?.(runId);
  };
}

function tuning(parts: WorkerParts): Omit<WorkerOptions, 'taskQueue'> {
  const { connection, namespace, maxCachedWorkflows } = parts;
  return {
    connection,
    namespace,
    shutdownGraceTime: parts.shutdownGraceMs ?? WORKER_DEFAULTS.shutdownGraceMs,
    stickyQueueScheduleToStartTimeout: WORKER_DEFAULTS.stickyMs,
    maxHeartbeatThrottleInterval: WORKER_DEFAULTS.heartbeatThrottleMs,
    maxConcurrentWorkflowTaskExecutions: WORKER_DEFAULTS.workflowSlots,
    maxConcurrentActivityTaskExecutions: WORKER_DEFAULTS.activitySlots,
    maxConcurrentLocalActivityExecutions: WORKER_DEFAULTS.localActivitySlots,
    workflowTaskPollerBehavior: { type: 'autoscaling', initial: 5, minimum: 1, maximum: 100 },
    activityTaskPollerBehavior: { type: 'autoscaling', initial: 5, minimum: 1, maximum: 100 },
    ...(maxCachedWorkflows === undefined ? {} : { maxCachedWorkflows }),
  };
}
