/** What the checks read from the newest events of a run's history. */
import type { Client } from '@temporalio/client';
import type { HandoverAdvice } from './checks/doctor-service.ts';
import { millisecondsOf } from '../client/service-time.ts';

type HistoryEvent = NonNullable<
  NonNullable<
    Awaited<ReturnType<Client['workflowService']['getWorkflowExecutionHistoryReverse']>>['history']
  >['events']
>[number];

/** Events that are read at most, newest first. */
const MAX_SEARCHED = 1_000;

/** Events of one question: they may hold what models and tools have said. */
const PAGE = 50;

/** Why the last failed workflow task of a run failed; null: none did. */
export async function readTaskFailure(client: Client, id: string): Promise<string | null> {
  for await (const { workflowTaskFailedEventAttributes: failed } of newestEvents(client, id)) {
    if (failed !== undefined && failed !== null) return failed.failure?.message ?? '';
  }
  return null;
}

/** What the service tells a run about handing over; null: no task has begun. */
export async function readHandoverAdvice(
  client: Client,
  id: string,
): Promise<HandoverAdvice | null> {
  let since: number | null = null;
  for await (const event of newestEvents(client, id)) {
    const started = event.workflowTaskStartedEventAttributes;
    if (started === undefined || started === null) continue;
    const isDue =
      started.suggestContinueAsNew === true ||
      started.targetWorkerDeploymentVersionChanged === true;
    if (!isDue) return { isDue: since !== null, since };
    since = millisecondsOf(event.eventTime);
  }
  return since === null ? null : { isDue: true, since };
}

async function* newestEvents(client: Client, workflowId: string): AsyncGenerator<HistoryEvent> {
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
