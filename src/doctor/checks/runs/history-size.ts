import type { DoctorCheck, DoctorProblem } from '../check.ts';

/** The service ends a run beyond these. */
const MAX_EVENTS = 51_200;
const MAX_BYTES = 52_428_800;
const MOST = 0.8;

/** No history is near the size at which the service ends a run. */
export const historySize: DoctorCheck = {
  code: 'long-history',
  area: 'runs',
  find: async ({ service }) => {
    const runs = (await service?.openRuns()) ?? [];
    return runs
      .filter(({ events, bytes }) => events > MOST * MAX_EVENTS || bytes > MOST * MAX_BYTES)
      .map(({ id, events, bytes }): DoctorProblem => ({
        severity: 'warning',
        message: `Expected the history of \`${id}\` to be short of the service's limits, got ${events} of ${MAX_EVENTS} events and ${Math.round(bytes / 1_048_576)} of ${MAX_BYTES / 1_048_576} MB.`,
        advice: 'It could not hand over. See `everloop show RUN` for what is in flight.',
      }));
  },
};
