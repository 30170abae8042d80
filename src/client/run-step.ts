/** Reads the Step of a run from its result, or from the failure that ended it. */
import { ApplicationFailure, type Client, WorkflowFailedError } from '@temporalio/client';
import { CancelledFailure } from '@temporalio/common';
import type { Step } from '../core/contract/step.ts';
import { UsageError } from '../core/base/usage-error.ts';
import { statusQuery } from '../workflows/messages.ts';
import { asking, querying } from './service-calls.ts';

/**
 * The Step of run `id`; waits for its end.
 *
 * @throws UsageError `no_step` for a run that ended without one, for example by termination.
 */
export async function readStep(client: Client, id: string): Promise<Step> {
  const handle = client.workflow.getHandle(id);
  try {
    return (await handle.result()) as Step;
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) return asking(id, () => Promise.reject(error));
    const { cause } = error;
    const step = cause instanceof ApplicationFailure ? cause.details?.[0] : undefined;
    if (step !== undefined && step !== null) return step as Step;
    if (cause instanceof CancelledFailure) {
      const ended = await querying(id, client, () => handle.query(statusQuery));
      if (ended.step !== undefined) return ended.step;
    }
    const got = (cause?.message ?? error.message).replace(/\.$/, '');
    throw new UsageError('no_step', `Expected run \`${id}\` to end with a Step, got: ${got}.`);
  }
}
