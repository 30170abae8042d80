import type { DoctorCheck, DoctorProblem } from './check.ts';

/** Asked at most, newest first: each question takes a worker. */
const ASKED = 50;

/** No run waits for a worker that has what it needs. */
export const elsewhere: DoctorCheck = {
  code: 'waits-elsewhere',
  area: 'runs',
  find: async ({ service }) => {
    const runs = (await service?.openRuns()) ?? [];
    const byWait = new Map<string, string[]>();
    for (const { id } of runs.slice(0, ASKED)) {
      for (const wait of (await service?.waitsFor(id)) ?? []) {
        if (wait.startsWith('worker with ')) byWait.set(wait, [...(byWait.get(wait) ?? []), id]);
      }
    }
    return [...byWait].map(([wait, ids]): DoctorProblem => ({
      severity: 'error',
      message: `Expected each run to find what it needs, got ${ids.length} that wait for a ${wait}: ${ids.slice(0, 5).join(', ')}.`,
      advice: 'Start a worker that has it; until then they wait, for `elsewhereMs` at most.',
    }));
  },
};
