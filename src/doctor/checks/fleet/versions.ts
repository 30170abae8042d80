import type { DoctorCheck, DoctorProblem } from '../check.ts';

/** Each version of the fleet that has runs, or gets them, has workers. */
export const versions: DoctorCheck = {
  code: 'version-without-workers',
  area: 'fleet',
  find: async ({ service }) => {
    if (service === null) return [];
    const { name, versions: known } = await service.deployment();
    return known.flatMap(({ build, state, workers, openRuns }): readonly DoctorProblem[] => {
      if (workers > 0) return [];
      const start = `Start a worker with EVERLOOP_BUILD_ID=${build}`;
      if (state === 'current' || state === 'ramping') {
        return [
          {
            severity: 'error',
            message: `Expected workers of the ${state} version \`${build}\` of deployment \`${name}\`, got none: its new runs stand still.`,
            advice: `${start}, or promote another version.`,
          },
        ];
      }
      if (openRuns === 0) return [];
      return [
        {
          severity: 'error',
          message: `Expected workers of version \`${build}\` of deployment \`${name}\`, which has ${openRuns} open runs, got none.`,
          advice: `${start}, or move its runs with \`everloop deploy rescue RUN\`.`,
        },
      ];
    });
  },
};
