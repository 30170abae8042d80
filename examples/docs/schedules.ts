/** The examples of docs/schedules.md; test/e2e/schedules.test.ts runs them. */
import {
  unwrap,
  type Everloop,
  type Json,
  type RunSummary,
  type ScheduleHandle,
  type ScheduleView,
} from '../../src/index.ts';

/** Creates the schedule of the page. */
export async function createNightly(everloop: Everloop): Promise<ScheduleHandle> {
  // #region create
  const nightly = await everloop.schedules.create('nightly-digest', {
    agent: 'clerk',
    task: 'Digest of {{schedule.date}}. Yesterday: {{previous.value}}',
    cron: '0 6 * * MON-FRI',
    timeZone: 'Europe/Vienna',
    previous: true,
  });
  // #endregion
  return nightly;
}

/** Pauses it, goes on, and has it start runs. Returns what was answered. */
export async function steerNightly(nightly: ScheduleHandle): Promise<Json> {
  // #region steer
  await nightly.pause('holidays');
  await nightly.resume();
  const run = await nightly.trigger(); // now; null if another run goes on
  const answer = run === null ? null : unwrap(await run.result());
  await nightly.backfill({ from: '2026-05-04', until: '2026-05-06' }); // two runs of May
  await nightly.update({ cron: '0 7 * * *' }); // all else stays
  // #endregion
  return answer;
}

/** Looks at it. */
export async function lookAtNightly(
  everloop: Everloop,
): Promise<{ readonly view: ScheduleView; readonly runs: readonly RunSummary[] }> {
  // #region look
  const nightly = everloop.schedules.attach('nightly-digest');
  const view = await nightly.describe(); // next times, last starts, the run that holds it up
  const runs = await nightly.runs({ state: 'completed' });
  // #endregion
  return { view, runs };
}
