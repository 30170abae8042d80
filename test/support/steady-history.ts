/**
 * A history as text that is the same whenever the same run is played: without workflow tasks, whose
 * number depends on how fast the worker is, and without ids and times.
 */
import type { History } from './replay.ts';

type HistoryEvent = NonNullable<History['events']>[number];

const isOfTask = (event: HistoryEvent): boolean =>
  [
    event.workflowTaskScheduledEventAttributes,
    event.workflowTaskStartedEventAttributes,
    event.workflowTaskCompletedEventAttributes,
    event.workflowTaskFailedEventAttributes,
    event.workflowTaskTimedOutEventAttributes,
  ].some((attributes) => attributes != null);

/** Fields that name or number something, or say when it was. */
const LEFT_OUT =
  /^(?:eventId|eventTime|taskId|identity|requestId|attempt|.*EventId|.*[rR]unId|.*Id|taskQueue)$/;

const UUID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g;
const TIME =
  /\b1[6-9]\d{11}\b|(?<=(?:seconds|nanos|durationMs|firstTokenMs|waitedMs|wall_clock_ms|active_ms)\W+)\d+/g;

/** The events of `history`, a text each. */
export function steadyHistory({ events }: History): readonly string[] {
  return (events ?? [])
    .filter((event) => !isOfTask(event))
    .map((event) => JSON.stringify(steady(event)).replace(UUID, 'id').replace(TIME, 'time'));
}

function steady(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (Array.isArray(value)) return value.map(steady);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !LEFT_OUT.test(name))
      .map(([name, part]) => [name, steady(part)] as const)
      // The service gives maps in any order.
      .toSorted(([left], [right]) => (left < right ? -1 : 1)),
  );
}
