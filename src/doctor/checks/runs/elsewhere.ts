import type { DoctorCheck, DoctorProblem } from '../check.ts';
import type { RunAnswer } from '../doctor-service.ts';

/** No run waits for a worker that has what it needs. */
export const elsewhere: DoctorCheck = {
  code: 'waits-elsewhere',
  area: 'runs',
  find: async ({ service }) => {
    const answers = (await service?.answers()) ?? new Map<string, RunAnswer>();
    const byWait = new Map<string, string[]>();
    for (const [id, { waitsFor }] of answers) {
      for (const wait of waitsFor) {
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
