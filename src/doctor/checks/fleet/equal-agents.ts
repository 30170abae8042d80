import type { DoctorCheck } from '../check.ts';
import { knownWorkers, tally } from './seen-worker.ts';

/** The workers of a queue that share runs serve the same agents. */
export const equalAgents: DoctorCheck = {
  code: 'mixed-agents',
  area: 'fleet',
  find: async (world) => {
    const digests = (await knownWorkers(world))
      .filter(({ build }) => build === '-')
      .map(({ agents }) => agents);
    if (new Set(digests).size < 2) return [];
    return [
      {
        severity: 'warning',
        message: `Expected the workers of \`${world.config.taskQueue}\` to serve the same agents, got these digests of their definitions: ${tally(digests)}.`,
        advice: 'End the rolling deploy. Work that a worker cannot do waits for another one.',
      },
    ];
  },
};
