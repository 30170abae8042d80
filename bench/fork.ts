/**
 * `fork`: runs that begin by the clock, and those that begin from the middle of another; tenants.
 *
 * - `schedule_delay_ms`: see `fork/schedule-delay.ts`.
 * - `at_ms_300_events`, `fork_to_first_call_ms`, `normal_run_bytes_added`: see `fork/moments.ts`.
 * - `fairness_ratio`: see `fork/fairness.ts`.
 * - `rate_over`, `rate_use`, `token_over`: see `fork/rates.ts`.
 *
 * `--small` runs the last two with a few runs, to see that they end. `--only` names one file.
 */
import { FAIRNESS_SIZES, measureFairness } from './fork/fairness.ts';
import { measureMoments } from './fork/moments.ts';
import { measureRates, RATES_SIZES } from './fork/rates.ts';
import { measureScheduleDelay } from './fork/schedule-delay.ts';
import { withStage } from './support/bench-stage.ts';
import type { Bench, Figure } from './support/figure.ts';

/** The benchmark `fork`. */
export const forkBench: Bench = {
  name: 'fork',
  about: 'moments of runs by replay, the start of forks, schedules, fairness of tenants, rates',
  run: async (words = []) => {
    const size = words.includes('--small') ? 'small' : 'whole';
    const parts: Readonly<Record<string, () => Promise<readonly Figure[]>>> = {
      moments: () => withStage(measureMoments),
      'schedule-delay': async () => [await withStage((stage) => measureScheduleDelay(stage))],
      fairness: async () => [await measureFairness(FAIRNESS_SIZES[size])],
      rates: () => measureRates(RATES_SIZES[size]),
    };
    const [only] = Object.keys(parts).filter((name) => words.includes(`--only=${name}`));
    const figures: Figure[] = [];
    for (const [name, measure] of Object.entries(parts)) {
      if (only === undefined || only === name) figures.push(...(await measure()));
    }
    return figures;
  },
};
