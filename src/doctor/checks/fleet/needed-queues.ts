/** The task queues of an environment. */
import type { WorkerConfig } from '../../../worker/config/config.ts';

/** A task queue, and the kind of task that runs put there. */
export type NeededQueue = readonly [queue: string, kind: 'workflows' | 'activities'];

/** The queues that need a worker. */
export function neededQueues(config: WorkerConfig): readonly NeededQueue[] {
  const { taskQueue, modelTaskQueue, toolTaskQueue } = config;
  const activities = [...new Set([taskQueue, modelTaskQueue, toolTaskQueue])];
  return [[taskQueue, 'workflows'], ...activities.map((queue) => [queue, 'activities'] as const)];
}
