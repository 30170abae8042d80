/** Schedules as text for a terminal. Pure. */
import type { ScheduleSummary, ScheduleView, UnreadSchedule } from '../../client/schedule-view.ts';
import {
  cellText,
  durationText,
  fieldsText,
  oneLine,
  pluralText,
  tableText,
} from '../terminal/text.ts';

/** Characters of a task; a line should fit on a terminal. */
const TASK_WIDTH = 50;

/** The list as a table. Of a schedule that could not be looked at it says why. */
export function schedulesText(schedules: readonly (ScheduleSummary | UnreadSchedule)[]): string {
  if (schedules.length === 0) return 'No schedules.';
  return tableText(
    ['ID', 'AGENT', 'WHEN', 'NEXT', 'STATE', 'TASK'],
    schedules.map((schedule) => {
      if ('problem' in schedule) return unreadCells(schedule);
      return [
        cellText(schedule.id),
        cellText(schedule.agent),
        whenText(schedule),
        schedule.paused ? '-' : (schedule.next[0]?.toISOString() ?? '-'),
        stateText(schedule),
        oneLine(schedule.task, TASK_WIDTH),
      ];
    }),
  );
}

function unreadCells({ id, problem }: UnreadSchedule): readonly string[] {
  return [cellText(id), '-', '-', '-', 'unread', oneLine(problem, PROBLEM_WIDTH)];
}

/** Characters of what hides a schedule; the id stands beside it. */
const PROBLEM_WIDTH = 200;

/** One schedule, with so many of its next times. */
export function scheduleText(schedule: ScheduleView, times = 5): string {
  const { id, agent, task, overlap, catchupWindowMs, paused, note, heldBy } = schedule;
  const { started, skipped, missed } = schedule;
  const next = schedule.next.slice(0, times).map((time) => time.toISOString());
  const told = schedule.previous ? ['previous'] : [];
  const failure = schedule.pauseOnFailure ? ['pauses when a run fails'] : [];
  const fields: readonly (readonly [string, string])[] = [
    ['id', cellText(id)],
    ['agent', cellText(agent)],
    ['task', oneLine(task, 200)],
    ['when', whenText(schedule)],
    [
      'rules',
      [`overlap ${overlap}`, `catch-up ${durationText(catchupWindowMs)}`, ...failure, ...told].join(
        ', ',
      ),
    ],
    ['state', paused && note !== null ? `paused (${oneLine(note, 200)})` : stateText(schedule)],
    ['starts', `${started} started, ${skipped} skipped, ${missed} missed`],
    ...(paused ? [] : next.map((time, at) => [at === 0 ? 'next' : '', time] as const)),
    ...schedule.recent
      .toReversed()
      .slice(0, 5)
      .map(({ run }, at) => [at === 0 ? 'last' : '', cellText(run)] as const),
  ];
  return [fieldsText(fields), ...(heldBy === null ? [] : [heldText(heldBy)])].join('\n');
}

function stateText({ paused, running, next }: ScheduleSummary): string {
  if (paused) return 'paused';
  if (running.length > 0) return `running ${running.length}`;
  return next.length === 0 ? 'over' : 'active';
}

function whenText({ times, timeZone }: ScheduleSummary): string {
  const calendars = times.calendars === 0 ? [] : [pluralText(times.calendars, 'calendar')];
  const all = [
    ...times.cron,
    ...times.every.map((ms) => `every ${durationText(ms)}`),
    ...calendars,
  ].join(' or ');
  return timeZone === 'UTC' ? oneLine(all, 100) : `${oneLine(all, 100)} (${timeZone})`;
}

/** `The last 3 starts were skipped, run nightly-2026-… has waited for an answer since …` */
function heldText({ run, skipped, waits, since }: NonNullable<ScheduleView['heldBy']>): string {
  const starts = skipped === 1 ? 'The last start was' : `The last ${skipped} starts were`;
  const from = since === null ? '' : ` since ${since.toISOString()}`;
  const what = waits ? `has waited for an answer${from}` : `has been running${from}`;
  return `${starts} skipped, run ${cellText(run)} ${what}.`;
}
