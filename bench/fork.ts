/**
 * `fork`: runs that begin by the clock, and those that begin from the middle of another.
 *
 * - `schedule_delay_ms`: see `fork/schedule-delay.ts`.
 */
import { measureScheduleDelay } from './fork/schedule-delay.ts';
import { withStage } from './support/bench-stage.ts';
import type { Bench } from './support/figure.ts';

/** The benchmark `fork`. */
export const forkBench: Bench = {
  name: 'fork',
  about: 'how late schedules start runs',
  run: () => withStage(async (stage) => [await measureScheduleDelay(stage)]),
};
