/** The workers of a fleet, as the service has heard of them. */
import type { Client } from '@temporalio/client';
import { millisecondsOf } from './connection/service-time.ts';

/** One worker process. */
export interface WorkerSummary {
  /** `PID@HOST/node-22/everloop-0.1.0/BUILD/DIGEST`; equal digests serve equal agents. */
  readonly identity: string;
  /** What it asks the service for. */
  readonly takes: readonly ('workflows' | 'activities')[];
  /**
   * When it last asked, in milliseconds since 1970. A worker asks at least once a minute, and the
   * service lists one that died for five minutes more.
   */
  readonly lastContactAt: number;
}

/** Kinds of task queues, as the service numbers them. */
const KINDS = [
  [1, 'workflows'],
  [2, 'activities'],
] as const;

/** The workers of task queue `name`, those that asked last first. */
export async function readWorkers(client: Client, name: string): Promise<readonly WorkerSummary[]> {
  const { namespace } = client.options;
  const workers = new Map<string, WorkerSummary>();
  for (const [taskQueueType, kind] of KINDS) {
    const taskQueue = { name };
    const { pollers } = await client.workflowService.describeTaskQueue({
      namespace,
      taskQueue,
      taskQueueType,
    });
    for (const { identity, lastAccessTime } of pollers ?? []) {
      if (!identity) continue;
      const { takes = [], lastContactAt = 0 } = workers.get(identity) ?? {};
      const at = Math.max(lastContactAt, millisecondsOf(lastAccessTime));
      workers.set(identity, { identity, takes: [...takes, kind], lastContactAt: at });
    }
  }
  return [...workers.values()].toSorted((a, b) => b.lastContactAt - a.lastContactAt);
}
