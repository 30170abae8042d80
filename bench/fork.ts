/**
 * `fork`: runs that begin by the clock, and those that begin from the middle of another.
 *
 * - `schedule_delay_ms`: see `fork/schedule-delay.ts`.
 * - `at_ms_300_events`, `fork_to_first_call_ms`, `normal_run_bytes_added`: see `fork/moments.ts`.
 */
import { measureMoments } from './fork/moments.ts';
import { measureScheduleDelay } from './fork/schedule-delay.ts';
import { withStage } from './support/bench-stage.ts';
import type { Bench } from './support/figure.ts';

/** The benchmark `fork`. */
export const forkBench: Bench = {
  name: 'fork',
  about: 'moments of runs by replay, the start of forks, how late schedules start runs',
  run: async () => [
    ...(await withStage(measureMoments)),
    await withStage((stage) => measureScheduleDelay(stage)),
  ],
};
