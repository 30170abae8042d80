/** The newest events of a run's history. */
import type { Client } from '@temporalio/client';

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
