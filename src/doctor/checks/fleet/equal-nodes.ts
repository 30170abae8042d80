import type { DoctorCheck, DoctorProblem } from '../check.ts';
import { knownWorkers, tally } from './seen-worker.ts';

/** The workers that share runs have one major version of Node. */
export const equalNodes: DoctorCheck = {
  code: 'mixed-nodes',
  area: 'fleet',
  find: async (world) => {
    const workers = await knownWorkers(world);
    const builds = [...new Set(workers.map(({ build }) => build))];
    return builds.flatMap((build): readonly DoctorProblem[] => {
      const nodes = workers.flatMap((one) => (one.build === build ? (one.node ?? []) : []));
      if (new Set(nodes).size < 2) return [];
      const which = build === '-' ? '' : ` of build \`${build}\``;
      return [
        {
          severity: 'warning',
          message: `Expected the workers of \`${world.config.taskQueue}\`${which} to have one major version of Node, got ${tally(nodes)}: texts of its own errors and dates differ, also in replays.`,
          advice: 'Run all workers that share runs with the same version of Node.',
        },
      ];
    });
  },
};
