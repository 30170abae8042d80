/** The newest events of a run's history, and why its workflow task fails. */
import type { Client } from '@temporalio/client';
import { decodeOptionalFailureToOptionalError } from '@temporalio/common/lib/internal-non-workflow/index.js';
import { unreadableError } from '../../protection/key-errors.ts';
import { tolerant } from './open-connection.ts';
import { millisecondsOf } from './service-time.ts';

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

/** Why no worker goes on with a run. */
export type StalledTask =
  /** Its workers fail its workflow task again and again. */
  | { readonly kind: 'fails'; readonly reason: string }
  /** A worker has its workflow task and says nothing; until when the service waits for it, at most. */
  | { readonly kind: 'held'; readonly until: number; readonly attempt: number };

/** Why no worker goes on with run `id`; null: nothing of that, or the service does not say. */
export async function stalledTask(client: Client, id: string): Promise<StalledTask | null> {
  try {
    return await client.withDeadline(Date.now() + ANSWER_MS, async () => {
      const { raw } = await tolerant(client).workflow.getHandle(id).describe();
      const task = raw.pendingWorkflowTask;
      const attempt = task?.attempt ?? 1;
      if (task?.state === STARTED) {
        const least = millisecondsOf(raw.executionConfig?.defaultWorkflowTaskTimeout);
        const until = millisecondsOf(task.startedTime) + taskTimeoutMs(attempt, least);
        if (until > Date.now() && !(await hasFailed(client, id))) {
          return { kind: 'held', until, attempt };
        }
      }
      const reason = attempt > 1 ? await readTaskFailure(client, id) : null;
      return reason === null ? null : { kind: 'fails', reason };
    });
  } catch {
    // The caller has an error already, which this would only explain.
    return null;
  }
}

/** The value of the service for a workflow task that a worker has. */
const STARTED = 2;

/** Whether the last workflow task that did not complete failed: else its worker was lost. */
async function hasFailed(client: Client, id: string): Promise<boolean> {
  for await (const event of newestEvents(client, id)) {
    if (event.workflowTaskFailedEventAttributes != null) return true;
    if (event.workflowTaskTimedOutEventAttributes != null) return false;
    if (event.workflowTaskCompletedEventAttributes != null) return false;
  }
  return false;
}

/** How long the service waits at first for a worker that has a workflow task, unless it says it. */
const TASK_TIMEOUT_MS = 10_000;

/** After how many attempts it waits longer, by how much, and by how much at most. */
const EVEN_ATTEMPTS = 3;
const FIRST_MORE_MS = 5_000;
const MOST_MORE_MS = 600_000;

/** How long the service waits at most for attempt `attempt`: from the fourth on, ever twice as long. */
function taskTimeoutMs(attempt: number, leastMs: number): number {
  const least = leastMs === 0 ? TASK_TIMEOUT_MS : leastMs;
  if (attempt <= EVEN_ATTEMPTS) return least;
  return least + Math.min(MOST_MORE_MS, FIRST_MORE_MS * 2 ** (attempt - EVEN_ATTEMPTS - 1));
}
