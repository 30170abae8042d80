/**
 * Runs that have ended, without a worker: the service refuses their queries at once, and their Step
 * says what a query would. Otherwise a worker would replay the last link for each answer.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { QueryRejectedError, type Client } from '@temporalio/client';
import { isUsageError } from '../../core/base/usage-error.ts';
import type { Step } from '../../core/contract/step.ts';
import { refusingEnded } from '../connection/open-connection.ts';
import { noWorker, querying, readStep } from '../connection/service-calls.ts';
import { answering, besideWorkers, type QueriedRun } from './run-reader.ts';

/** `CONTINUED_AS_NEW` of the service's own enumeration: a link that has handed over. */
const HANDED_OVER = 6;

/** Between two questions to a run that hands over. */
const NEXT_LINK_MS = 50;

/** For how long a run that hands over is asked again, unless it is to answer sooner. */
const HANDOVER_MS = 10_000;

/**
 * What `query` gives for a run that is open; null for one that is closed. A run
 * that hands over is open: the service refuses a query that meets the end of a link, and the next
 * link answers it.
 *
 * @throws UsageError as `querying`; `no_worker` for a run whose next link does not begin.
 */
export async function queryOpen<Result>(
  client: Client,
  id: string,
  query: (run: QueriedRun) => Promise<Result>,
): Promise<{ readonly answer: Result } | null> {
  return besideWorkers({
    client,
    id,
    ask: (left) => askOpen(client, id, query, { left }),
    read: async ({ isOpen, answers }) =>
      isOpen ? { answer: await query(answering(answers)) } : null,
  });
}

/** As {@link queryOpen}, of workers alone: for lists, in which a silent run is shown as such. */
export async function askOpen<Result>(
  client: Client,
  id: string,
  query: (run: QueriedRun) => Promise<Result>,
  { withinMs, left }: { readonly withinMs?: number; readonly left?: AbortSignal } = {},
): Promise<{ readonly answer: Result } | null> {
  const handle = refusingEnded(client).workflow.getHandle(id);
  const until = Date.now() + (withinMs ?? HANDOVER_MS);
  for (;;) {
    const leftMs = withinMs === undefined ? undefined : Math.max(1, until - Date.now());
    try {
      return { answer: await querying(id, client, () => query(handle), leftMs, left) };
    } catch (error) {
      if (!(error instanceof QueryRejectedError)) throw error;
      if (Number(error.status) !== HANDED_OVER) return null;
      if (Date.now() > until) throw noWorker(id);
      await sleep(NEXT_LINK_MS);
    }
  }
}

/** The Step of an ended run; null for one that ended without. Waits for the end of a live run. */
export async function stepOrNull(client: Client, id: string): Promise<Step | null> {
  try {
    return await readStep(client, id);
  } catch (error) {
    if (isUsageError(error) && error.code === 'no_step') return null;
    throw error;
  }
}
