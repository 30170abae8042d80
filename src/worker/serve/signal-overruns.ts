/**
 * Tells a run that it computes too long. Only the worker notices that the SDK cuts its tasks off.
 *
 * I1  Only cut-offs of the same work of the same execution are counted together: a run that got on
 *     computes other work.
 * I2  A lost signal is sent again after three more cut-offs.
 */
import type { Client } from '@temporalio/client';
import { LRUCache } from 'lru-cache';
import { MESSAGE_NAMES, type Overrun } from '../../core/contract/messages.ts';
import { onCutOff, type CutOff } from '../threads/guard-workflow-threads.ts';

/** Number of cut-offs in a row after which the run is told. */
const TOLERATED = 3;

/** Runs whose cut-offs are counted at once. A run that is forgotten is counted anew. */
const MAX_COUNTED = 1_000;

/** Where a worker serves workflows. */
export interface ServedQueue {
  readonly client: Client;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly onError: (error: unknown) => void;
}

/** Signals `overrun` to runs of this queue, until the returned function is called. */
export function signalOverruns(queue: ServedQueue): () => void {
  const { client, namespace, taskQueue, onError } = queue;
  const counts = new LRUCache<string, { work: string; count: number }>({ max: MAX_COUNTED });
  return onCutOff((cutOff) => {
    if (cutOff.namespace !== namespace || cutOff.taskQueue !== taskQueue) return;
    const { runId, work } = cutOff;
    const known = counts.get(runId);
    const count = known?.work === work ? known.count + 1 : 1;
    if (count < TOLERATED) {
      counts.set(runId, { work, count });
      return;
    }
    counts.delete(runId);
    signal(client, cutOff).catch(onError);
  });
}

async function signal(client: Client, { workflowId, runId, work }: CutOff): Promise<void> {
  const [kind, seq] = work.split(' ');
  const overrun: Overrun = { work: kind as Overrun['work'], seq: Number(seq) };
  await client.workflow.getHandle(workflowId, runId).signal(MESSAGE_NAMES.overrun, overrun);
}
