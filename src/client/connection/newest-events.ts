/** The newest events of a run's history, and why its workflow task fails. */
import type { Client } from '@temporalio/client';
import { decodeOptionalFailureToOptionalError } from '@temporalio/common/lib/internal-non-workflow/index.js';
import { unreadableError } from '../../protection/key-errors.ts';
import { tolerant } from './open-connection.ts';

type HistoryEvent = NonNullable<
  NonNullable<
    Awaited<ReturnType<Client['workflowService']['getWorkflowExecutionHistoryReverse']>>['history']
  >['events']
>[number];

/** Events that are read at most, newest first. */
const MAX_SEARCHED = 1_000;

/** Events of one question: they may hold what models and tools have said. */
const PAGE = 50;

/** The events of the newest link of a run, newest first; at most {@link MAX_SEARCHED}. */
export async function* newestEvents(
  client: Client,
  workflowId: string,
): AsyncGenerator<HistoryEvent> {
  let nextPageToken: Uint8Array | null = null;
  for (let read = 0; read < MAX_SEARCHED;) {
    const page: Awaited<
      ReturnType<typeof client.workflowService.getWorkflowExecutionHistoryReverse>
    > = await client.workflowService.getWorkflowExecutionHistoryReverse({
      namespace: client.options.namespace,
      execution: { workflowId },
      maximumPageSize: PAGE,
      nextPageToken,
    });
    const events = page.history?.events ?? [];
    yield* events;
    read += events.length;
    nextPageToken = page.nextPageToken;
    if (events.length === 0 || (nextPageToken?.length ?? 0) === 0) return;
  }
}

/**
 * Why the last failed workflow task of a run failed; null: none did. A worker with keys encrypts
 * that, perhaps with a key that this process does not have.
 */
export async function readTaskFailure(client: Client, id: string): Promise<string | null> {
  for await (const { workflowTaskFailedEventAttributes: failed } of newestEvents(client, id)) {
    if (failed !== undefined && failed !== null) return failureText(client, failed.failure);
  }
  return null;
}

async function failureText(
  client: Client,
  failure: Parameters<typeof decodeOptionalFailureToOptionalError>[1],
): Promise<string> {
  try {
    const { loadedDataConverter } = client.options;
    const error = await decodeOptionalFailureToOptionalError(loadedDataConverter, failure);
    return error?.message ?? '';
  } catch (error) {
    return unreadableError(error, 'to read why')?.message ?? failure?.message ?? '';
  }
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
      const { raw } = await tolerant(client).workflow.getHandle(id).describe();
      const attempt = raw.pendingWorkflowTask?.attempt ?? 1;
      return attempt > 1 ? await readTaskFailure(client, id) : null;
    });
  } catch {
    // The caller has an error already, which this would only explain.
    return null;
  }
}
