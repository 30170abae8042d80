/**
 * Whether a schedule still hands on the Step of a run. The service gives each new run the result of
 * the last one that completed. If that lies in a blob store, the new run cannot begin without it.
 */
import { ScheduleNotFoundError, WorkflowNotFoundError, type Client } from '@temporalio/client';
import { tolerant } from '../../client/connection/open-connection.ts';
import { isNotFound } from '../../client/connection/service-errors.ts';

/** The id of a scheduled run: that of its schedule, and when it was due. */
const SCHEDULED_ID = /^([^]+)-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** The id of the schedule that still hands on the Step of run `id`; undefined if none does. */
export async function scheduleKeeping(client: Client, id: string): Promise<string | undefined> {
  const [, schedule] = SCHEDULED_ID.exec(id) ?? [];
  if (schedule === undefined) return undefined;
  const runs = await recentRuns(client, schedule);
  const at = runs.lastIndexOf(id);
  if (at < 0) return undefined;
  for (const later of runs.slice(at + 1)) if (await hasCompleted(client, later)) return undefined;
  return schedule;
}

/** The last starts of a schedule, oldest first; none if there is no such schedule. */
async function recentRuns(client: Client, schedule: string): Promise<readonly string[]> {
  try {
    const { info } = await tolerant(client).schedule.getHandle(schedule).describe();
    return info.recentActions.map(({ action }) => action.workflow.workflowId);
  } catch (error) {
    if (error instanceof ScheduleNotFoundError || isNotFound(error)) return [];
    throw error;
  }
}

async function hasCompleted(client: Client, id: string): Promise<boolean> {
  try {
    const { status } = await tolerant(client).workflow.getHandle(id).describe();
    return status.name === 'COMPLETED';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
