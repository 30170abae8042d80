/** What the service says of a schedule. */
import type { Client, ScheduleDescription } from '@temporalio/client';
import { optionalDateToTs, tsToDate } from '@temporalio/common/lib/time.js';
import { isPlainObject } from '../../core/base/json.ts';
import { AGENT_WORKFLOW } from '../../core/contract/messages.ts';
import { UNREADABLE_TEXT } from '../../protection/data-converter.ts';
import { tolerant } from '../connection/open-connection.ts';
import { notAnAgent } from '../connection/service-calls.ts';
import { OVERLAPS, type ScheduleOverlap } from './schedule-options.ts';

/**
 * What the service says of schedule `id`. What this process cannot decrypt reads as `(encrypted)`.
 *
 * @throws UsageError `not_an_agent` for a schedule that starts another workflow.
 */
export async function describeSchedule(client: Client, id: string): Promise<ScheduleDescription> {
  const description = await tolerant(client).schedule.getHandle(id).describe();
  if (!startsRuns(description)) throw notAnAgent(id);
  return description;
}

/** Whether a schedule starts runs of agents, and no workflow of another application. */
export function startsRuns({ action }: Pick<ScheduleDescription, 'action'>): boolean {
  if (action.workflowType !== AGENT_WORKFLOW) return false;
  const [input] = (action.args ?? []) as readonly unknown[];
  const isInput = isPlainObject(input) && typeof input['agent'] === 'string';
  return isInput || typeof action.memo?.['agent'] === 'string' || input === UNREADABLE_TEXT;
}

/** A policy of the service by our name for it. */
export function overlapOf(policy: ScheduleDescription['policies']['overlap']): ScheduleOverlap {
  const names = Object.keys(OVERLAPS) as readonly ScheduleOverlap[];
  return names.find((name) => OVERLAPS[name] === policy) ?? 'skip';
}

/** Between which times; both are included. */
export interface TimeRange {
  readonly from: Date;
  readonly until: Date;
}

/** When schedule `id` is due within a range, in order; the service gives the first thousand. */
export async function matchingTimes(
  client: Client,
  id: string,
  { from, until }: TimeRange,
): Promise<readonly Date[]> {
  if (from > until) return [];
  const { startTime } = await client.workflowService.listScheduleMatchingTimes({
    namespace: client.options.namespace,
    scheduleId: id,
    // The service leaves out the time at which a range begins, but not in a backfill.
    startTime: optionalDateToTs(new Date(from.getTime() - 1)) ?? null,
    endTime: optionalDateToTs(until) ?? null,
  });
  return (startTime ?? []).map(tsToDate);
}
