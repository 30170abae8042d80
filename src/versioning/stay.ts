/** Why a run stays on a version that is drained, as far as the service knows it. */
import { WorkflowNotFoundError, type Client, type WorkflowExecutionInfo } from '@temporalio/client';
import { tolerant } from '../client/connection/open-connection.ts';

/** Why a run stays on its version. */
export type StayReason =
  /** Runs below it are alive; it hands over when they have ended. */
  | 'children'
  /** Calls are in flight; it hands over when they have ended. */
  | 'calls'
  /** No worker of the version takes its task, or each one fails. */
  | 'worker'
  /** An operator has pinned it there by an override. */
  | 'pinned'
  /** Nothing of this: it was asked again. */
  | 'asked';

/** A worker takes a task within seconds. */
const LATE_MS = 10_000;

/** Why a run stays; null if it has ended. */
export async function readStay(
  client: Client,
  { workflowId, runId }: WorkflowExecutionInfo,
): Promise<StayReason | null> {
  try {
    const { raw } = await tolerant(client).workflow.getHandle(workflowId, runId).describe();
    const { pendingActivities, pendingChildren, pendingWorkflowTask: task } = raw;
    const override = raw.workflowExecutionInfo?.versioningInfo?.versioningOverride;
    if (override?.pinned !== undefined && override.pinned !== null) return 'pinned';
    const since = Number((task?.originalScheduledTime?.seconds ?? 0).toString()) * 1_000;
    const isLate = Date.now() - since > LATE_MS;
    if (task !== undefined && task !== null && (isLate || (task.attempt ?? 1) > 1)) return 'worker';
    if ((pendingChildren?.length ?? 0) > 0) return 'children';
    return (pendingActivities?.length ?? 0) > 0 ? 'calls' : 'asked';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}
