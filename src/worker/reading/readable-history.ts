/**
 * A history as a reader replays it: up to the last task that a worker has finished, under the type of
 * the probe, with a memo that says from where on the run tells what it answers.
 */
import { defaultPayloadConverter } from '@temporalio/common';
import type { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { PROBE_WORKFLOW, READ_MEMO } from '../../core/contract/messages.ts';

type History = ReturnType<typeof historyFromJSON>;
type HistoryEvent = NonNullable<History['events']>[number];

/** A history to replay, and as of what it is read. */
export interface ReadableHistory {
  readonly history: History;
  /** Number of the last event that the replay reaches. */
  readonly asOf: number;
  /** The length of the history in its last finished task; null: no task was finished. */
  readonly until: number | null;
  /** Whether a last task is made up, which the code need not fit. */
  readonly isMade: boolean;
}

/** Tasks at the end in which the run tells its answers: a replay may join a task to the one after it. */
const TOLD_TASKS = 3;

/** What a reader replays of `history`. */
export function readableHistory({ events }: History): ReadableHistory {
  const all = events ?? [];
  const finished = all.flatMap(({ workflowTaskCompletedEventAttributes: done }, place) =>
    done == null ? [] : [{ place, begun: Number(String(done.startedEventId ?? 0)) }],
  );
  const last = finished.at(-1);
  if (last === undefined) return begunHistory(all);
  let end = last.place + 1;
  while (isOfTask(all[end])) end += 1;
  const { begun: from } = finished.at(-TOLD_TASKS) ?? { begun: 0 };
  const read = all.slice(0, end);
  // A replay joins a task without commands to the one after it, so one is made up.
  const begun = all.find(({ eventId }) => Number(String(eventId)) === last.begun);
  const next = end > last.place + 1 ? [] : madeTask(read, begun?.eventTime);
  const history = { events: probed([...read, ...next], from) };
  return { history, asOf: end, until: last.begun, isMade: next.length > 0 };
}

/** A task after these events, begun at that time, which is the time of the run in it. */
function madeTask(
  events: readonly HistoryEvent[],
  eventTime: HistoryEvent['eventTime'],
): readonly HistoryEvent[] {
  const after = events.length;
  const { taskQueue } = events[0]?.workflowExecutionStartedEventAttributes ?? {};
  const made = [
    { eventType: SCHEDULED, workflowTaskScheduledEventAttributes: { taskQueue, attempt: 1 } },
    { eventType: STARTED, workflowTaskStartedEventAttributes: { scheduledEventId: after + 1 } },
    {
      eventType: COMPLETED,
      workflowTaskCompletedEventAttributes: {
        scheduledEventId: after + 1,
        startedEventId: after + 2,
      },
    },
    { eventType: MARKER, markerRecordedEventAttributes: endedPatch(after + 3) },
  ].map((event, place) => ({ ...event, eventId: after + place + 1, eventTime }));
  return made as unknown as readonly HistoryEvent[];
}

/** Numbers of the service for kinds of events: of workflow tasks. */
const SCHEDULED = 5;
const STARTED = 6;
const COMPLETED = 7;
const MARKER = 25;

/**
 * A command that fits any code: the mark of a patch that is no more. A replay passes over a last task
 * without a command.
 */
function endedPatch(workflowTaskCompletedEventId: number): object {
  const data = { id: 'everloop-read', deprecated: true };
  return {
    markerName: 'core_patch',
    details: { 'patch-data': { payloads: [defaultPayloadConverter.toPayload(data)] } },
    workflowTaskCompletedEventId,
  };
}

/** Whether a finished task made the event that follows it. */
function isOfTask(event: HistoryEvent | undefined): boolean {
  if (event === undefined) return false;
  if (event.workflowExecutionUpdateAcceptedEventAttributes != null) return true;
  if (event.workflowExecutionUpdateCompletedEventAttributes != null) return true;
  return Object.values(event).some(
    (attributes: unknown) =>
      typeof attributes === 'object' &&
      attributes !== null &&
      'workflowTaskCompletedEventId' in attributes,
  );
}

/**
 * A link of which no task was finished: with a first task it tells what it begins with. What that task
 * does is not looked at.
 */
function begunHistory(events: readonly HistoryEvent[]): ReadableHistory {
  const [first] = events;
  if (first === undefined) return { history: { events: [] }, asOf: 0, until: null, isMade: true };
  const history = { events: probed([first, ...madeTask([first], first.eventTime)], Infinity) };
  return { history, asOf: 1, until: null, isMade: true };
}

function probed(events: readonly HistoryEvent[], from: number): HistoryEvent[] {
  const [first, ...rest] = events;
  const started = first?.workflowExecutionStartedEventAttributes;
  if (first === undefined || started == null) return [...events];
  const value = defaultPayloadConverter.toPayload(Math.min(from, Number.MAX_SAFE_INTEGER));
  const copy = {
    ...first,
    workflowExecutionStartedEventAttributes: {
      ...started,
      workflowType: { ...started.workflowType, name: PROBE_WORKFLOW },
      memo: { ...started.memo, fields: { ...started.memo?.fields, [READ_MEMO]: value } },
    },
  };
  return [copy, ...rest];
}
