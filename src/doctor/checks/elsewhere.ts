import { inTurns } from '../../client/in-turns.ts';
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
    // No worker answers for a run whose task waits or fails, which is another finding.
    const asked = runs.filter(({ task }) => task === null).slice(0, ASKED);
    const waits = await inTurns(asked, ({ id }) => service?.waitsFor(id) ?? Promise.resolve([]));
    for (const [place, { id }] of asked.entries()) {
      for (const wait of waits[place] ?? []) {
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
