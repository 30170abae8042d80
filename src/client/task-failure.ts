/** Why the workflow task of a run fails, as its history has it. */
import type { Client } from '@temporalio/client';
import { newestEvents } from './newest-events.ts';

/** Why the last failed workflow task of a run failed; null: none did. */
export async function readTaskFailure(client: Client, id: string): Promise<string | null> {
  for await (const { workflowTaskFailedEventAttributes: failed } of newestEvents(client, id)) {
    if (failed !== undefined && failed !== null) return failed.failure?.message ?? '';
  }
  return null;
}

/** How long the service may take to say it. */
const ANSWER_MS = 5_000;

/**
 * Why no worker goes on with a run whose workflow task fails again and again; null: it does not, or
 * the service does not say.
 */
export async function failingTask(client: Client, id: string): Promise<string | null> {
  try {
    return await client.withDeadline(Date.now() + ANSWER_MS, async () => {
      const { raw } = await client.workflow.getHandle(id).describe();
      const attempt = raw.pendingWorkflowTask?.attempt ?? 1;
      return attempt > 1 ? await readTaskFailure(client, id) : null;
    });
  } catch {
    // The caller has an error already, which this would only explain.
    return null;
  }
}
