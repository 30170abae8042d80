/**
 * Runs that have ended, without a worker: the service refuses their queries at once, and their Step
 * says what a query would. Otherwise a worker would replay the last link for each answer.
 */
import { QueryRejectedError, type Client, type WorkflowHandle } from '@temporalio/client';
import { isUsageError } from '../../core/base/usage-error.ts';
import type { Step } from '../../core/contract/step.ts';
import { refusingEnded } from '../connection/open-connection.ts';
import { querying, readStep } from '../connection/service-calls.ts';

/**
 * What `query` gives for a run that is open; null for one that is closed.
 *
 * @throws UsageError as `querying`.
 */
export async function queryOpen<Result>(
  client: Client,
  id: string,
  query: (handle: WorkflowHandle) => Promise<Result>,
): Promise<{ readonly answer: Result } | null> {
  const handle = refusingEnded(client).workflow.getHandle(id);
  try {
    return { answer: await querying(id, client, () => query(handle)) };
  } catch (error) {
    if (error instanceof QueryRejectedError) return null;
    throw error;
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
