/** Fixed schedules. */
import type { ScheduleAnswer } from '../../../src/console/api-schedules.ts';
import type { ScheduleRow } from '../../../src/console/view/schedules.ts';
import { FIXTURE_NOW } from './fixture-data.ts';

const HOUR_MS = 3_600_000;

const NIGHTLY: ScheduleRow = {
  id: 'nightly-digest',
  agent: 'clerk',
  task: 'Digest of {{schedule.date}}. Yesterday: {{previous.value}}',
  times: { cron: ['0 6 * * MON-FRI'], every: [], calendars: 0 },
  timeZone: 'Europe/Vienna',
  overlap: 'skip',
  pauseOnFailure: true,
  previous: true,
  paused: false,
  note: null,
  next: [FIXTURE_NOW + 20 * HOUR_MS, FIXTURE_NOW + 44 * HOUR_MS],
  last: {
    run: 'nightly-digest-2026-03-10T05:00:00Z',
    at: FIXTURE_NOW - 4 * HOUR_MS,
    state: 'waiting',
  },
  running: ['nightly-digest-2026-03-10T05:00:00Z'],
  started: 12,
  skipped: 3,
  missed: 1,
};

/** The schedules of the server of fixtures; the second has hostile words. */
export const SCHEDULES: readonly ScheduleRow[] = [
  NIGHTLY,
  {
    ...NIGHTLY,
    id: 'a/<b>&\u202Ex',
    task: '<script>document.title=4</script>',
    times: { cron: [], every: [6 * HOUR_MS], calendars: 2 },
    timeZone: 'UTC',
    overlap: 'allow-all',
    pauseOnFailure: false,
    previous: false,
    paused: true,
    note: `<img src=x onerror="document.title=5">\u202Eyadiloh ${'long '.repeat(180)}`,
    last: { run: 'forgotten', at: FIXTURE_NOW - 90 * HOUR_MS, state: null },
    running: [],
    skipped: 0,
    missed: 0,
  },
  { ...NIGHTLY, id: 'once', next: [], last: null, running: [], started: 0, skipped: 0, missed: 0 },
];

/** The answer to GET `/schedules/:id`. */
export function scheduleAnswer(id: string): ScheduleAnswer | undefined {
  const schedule = SCHEDULES.find((one) => one.id === id);
  if (schedule === undefined) return undefined;
  const [run] = schedule.running;
  return {
    schedule,
    heldBy:
      run === undefined ? null : { run, skipped: 3, waits: true, since: FIXTURE_NOW - 4 * HOUR_MS },
  };
}
