import type { DoctorCheck, DoctorProblem } from '../check.ts';

/** A worker ends a question within seconds of its deadline. */
const LATE_MS = 60_000;

/** Nothing waits for a person beyond its deadline. */
export const lateQuestions: DoctorCheck = {
  code: 'late-questions',
  area: 'runs',
  find: async ({ service, now }) => {
    const answers = await service?.answers();
    return [...(answers ?? [])].flatMap(([run, { deadlines }]) =>
      deadlines
        .filter(({ deadline }) => now - deadline > LATE_MS)
        .map(({ id, deadline }): DoctorProblem => ({
          severity: 'error',
          message: `Expected \`${id}\` of the run \`${run}\` to end at its deadline, ${new Date(deadline).toISOString()}, got one that still waits.`,
          advice: 'Look at the clocks of the machines and at the log of its worker, or answer it.',
        })),
    );
  },
};
