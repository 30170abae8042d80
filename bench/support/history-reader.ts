/**
 * What a run wrote into the service's history, link by link and iteration by iteration.
 *
 * Sizes are the service's own: `historySizeBytes` of a whole link, and the copy of that number in
 * each WorkflowTaskStarted. The difference of two copies is the size of everything between two
 * workflow tasks. The payload is read from the decoded results of activities.
 */
import type { Client, WorkflowHandle } from '@temporalio/client';

/** The history of one link, as the client decodes it. */
export type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>;

type HistoryEvent = NonNullable<History['events']>[number];

/** One link of a chain. */
export interface Link {
  readonly runId: string;
  /** `historySizeBytes` of the service. */
  readonly bytes: number;
  readonly history: History;
}

/** What one iteration added: from the scheduling of one model call to that of the next. */
export interface IterationCost {
  readonly events: number;
  readonly bytes: number;
  /** Bytes of the texts, names and arguments of the model and of the outputs of tools. */
  readonly payloadBytes: number;
  /** Milliseconds by the service's clock. */
  readonly ms: number;
}

/** Every link of the run `workflowId`, first to last. */
export async function readLinks(client: Client, workflowId: string): Promise<readonly Link[]> {
  const links: Link[] = [];
  const newest = client.workflow.getHandle(workflowId);
  const { raw } = await newest.describe();
  let runId = raw.workflowExecutionInfo?.firstRunId ?? '';
  while (runId !== '') {
    const handle = client.workflow.getHandle(workflowId, runId);
    const { historySize = Number.NaN } = await handle.describe();
    const history = await handle.fetchHistory();
    links.push({ runId, bytes: historySize, history });
    const last = history.events?.at(-1);
    runId = last?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? '';
  }
  return links;
}

/**
 * The iterations of a link in order, without the last one: no later model call ends it, and the
 * hand-over or the end of the run follows it.
 */
export function iterationsOf({ history }: Link): readonly IterationCost[] {
  const events = history.events ?? [];
  const starts = events.flatMap((event, index) => (isModelOrder(event) ? [index] : []));
  return starts.slice(1).map((end, place) => {
    const start = starts[place] ?? 0;
    return {
      events: end - start,
      bytes: sizeBefore(events, end) - sizeBefore(events, start),
      payloadBytes: events.slice(start, end).reduce((sum, event) => sum + payloadIn(event), 0),
      ms: timeOf(events[end]) - timeOf(events[start]),
    };
  });
}

function isModelOrder(event: HistoryEvent): boolean {
  const name = event.activityTaskScheduledEventAttributes?.activityType?.name;
  return name === 'callModel' || name === 'bareModel';
}

/** Size of the history when the workflow task began that scheduled event `index`. */
function sizeBefore(events: readonly HistoryEvent[], index: number): number {
  const started = events
    .slice(0, index)
    .findLast((event) => event.workflowTaskStartedEventAttributes != null);
  return Number(started?.workflowTaskStartedEventAttributes?.historySizeBytes ?? Number.NaN);
}

function timeOf(event: HistoryEvent | undefined): number {
  const { seconds, nanos } = event?.eventTime ?? {};
  return Number(seconds ?? 0) * 1_000 + (nanos ?? 0) / 1e6;
}

/** Bytes of the reply or result in `event`, without the record around it; 0 for most events. */
function payloadIn(event: HistoryEvent): number {
  const payloads = [
    ...(event.activityTaskCompletedEventAttributes?.result?.payloads ?? []),
    // A local activity leaves its result in a marker.
    ...(event.markerRecordedEventAttributes?.details?.['result']?.payloads ?? []),
  ];
  return payloads.reduce((sum, { data }) => sum + contentBytes(data), 0);
}

function contentBytes(data: Uint8Array | null | undefined): number {
  if (data == null || data.length === 0) return 0;
  const value: unknown = JSON.parse(Buffer.from(data).toString());
  const { reply, output } = value as {
    readonly output?: unknown;
    readonly reply?: {
      readonly parts: readonly {
        readonly text?: string;
        readonly tool?: string;
        readonly args?: unknown;
      }[];
    };
  };
  if (reply === undefined) return output === undefined ? 0 : bytesOf(output);
  const written = reply.parts.map(({ text, tool, args }) => text ?? { tool, args });
  return written.reduce((sum: number, part) => sum + bytesOf(part), 0);
}

function bytesOf(value: unknown): number {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return Buffer.byteLength(text);
}
