/** Schedules, and what they are in words. Times are milliseconds since 1970. */
import type { HoldingRun, ScheduleSummary } from '../../client/schedule-view.ts';
import { agoText, durationText } from './amounts.ts';

/** A run that a schedule has started, and how it ended. */
export interface ScheduledRunRow {
  readonly run: string;
  /** When it was due. */
  readonly at: number;
  /** As the list of runs names it, or the status of its Step; null: it could not be read. */
  readonly state: string | null;
}

/** One schedule. */
export interface ScheduleRow extends Pick<
  ScheduleSummary,
  | 'id'
  | 'agent'
  | 'task'
  | 'times'
  | 'timeZone'
  | 'overlap'
  | 'pauseOnFailure'
  | 'previous'
  | 'paused'
  | 'note'
  | 'running'
  | 'started'
  | 'skipped'
  | 'missed'
> {
  /** The next times, in order; of a paused schedule, those that pass without a start. */
  readonly next: readonly number[];
  /** Its last start; null: there was none. */
  readonly last: ScheduledRunRow | null;
}

/** The run that holds up the starts of a schedule. */
export interface HeldBy extends Omit<HoldingRun, 'since'> {
  readonly since: number | null;
}

/** `0 6 * * MON-FRI or every 6 h (Europe/Vienna)` */
export function whenText({ times, timeZone }: Pick<ScheduleRow, 'times' | 'timeZone'>): string {
  const { cron, every, calendars } = times;
  const parts = [
    ...cron,
    ...every.map((ms) => `every ${durationText(ms)}`),
    ...(calendars === 0 ? [] : [`${calendars} ${calendars === 1 ? 'calendar' : 'calendars'}`]),
  ];
  const all = parts.join(' or ');
  return timeZone === 'UTC' ? all : `${all} (${timeZone})`;
}

/** `paused`, `running`, `over` if it starts nothing any more, else `active`. */
export function scheduleState({
  paused,
  running,
  next,
}: Pick<ScheduleRow, 'paused' | 'running' | 'next'>): string {
  if (paused) return 'paused';
  if (running.length > 0) return 'running';
  return next.length === 0 ? 'over' : 'active';
}

/** When the next run begins: `in 3 h`. */
export function inText(at: number, now: number): string {
  return at <= now ? 'now' : `in ${agoText(at - now)}`;
}

/** What happens when a run is due while another goes on. */
const OVERLAP: Readonly<Record<ScheduleRow['overlap'], string>> = {
  skip: 'starts nothing',
  'buffer-one': 'starts one after it',
  'buffer-all': 'starts all after it',
  'cancel-other': 'cancels it',
  'terminate-other': 'terminates it',
  'allow-all': 'starts the next beside it',
};

/** The rules of a schedule: `starts nothing, pauses when a run fails`. */
export function rulesText({
  overlap,
  pauseOnFailure,
  previous,
}: Pick<ScheduleRow, 'overlap' | 'pauseOnFailure' | 'previous'>): string {
  return [
    `${overlap}: ${OVERLAP[overlap]}`,
    ...(pauseOnFailure ? ['pauses when a run fails'] : []),
    ...(previous ? ['reads how the run before ended'] : []),
  ].join(', ');
}

/** `12 started, 3 skipped, 1 missed` */
export function startsText({
  started,
  skipped,
  missed,
}: Pick<ScheduleRow, 'started' | 'skipped' | 'missed'>): string {
  return [
    `${started} started`,
    ...(skipped === 0 ? [] : [`${skipped} skipped`]),
    ...(missed === 0 ? [] : [`${missed} missed`]),
  ].join(', ');
}

/** `The last 3 starts were skipped, because a run has waited for an answer for 2 h.` */
export function heldText({ skipped, waits, since }: HeldBy, now: number): string {
  const starts = skipped === 1 ? 'The last start was' : `The last ${skipped} starts were`;
  const what = waits ? 'has waited for an answer' : 'has been running';
  return `${starts} skipped, because a run ${what}${since === null ? '' : ` for ${agoText(now - since)}`}.`;
}
