import type { DoctorCheck } from '../check.ts';
import { knownWorkers, tally } from './seen-worker.ts';

/** The workers of a queue that share runs have one version of Everloop. */
export const equalVersions: DoctorCheck = {
  code: 'mixed-versions',
  area: 'fleet',
  find: async (world) => {
    const versions = (await knownWorkers(world))
      .filter(({ build }) => build === '-')
      .map(({ version }) => version);
    if (new Set(versions).size < 2) return [];
    return [
      {
        severity: 'warning',
        message: `Expected the workers of \`${world.config.taskQueue}\` to have one version of Everloop, got ${tally(versions)}.`,
        advice:
          'End the rolling deploy. Until then, start the newer ones with `EVERLOOP_HOLD_PATCHES=all`.',
      },
    ];
  },
};
