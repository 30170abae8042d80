import type { DoctorCheck } from '../check.ts';
import { isLive, tally } from './seen-worker.ts';

/** The workers of a queue that share runs have one version of Temporal's SDK. */
export const equalSdks: DoctorCheck = {
  code: 'mixed-sdks',
  area: 'fleet',
  find: async ({ service, config, now }) => {
    const seen = (await service?.workers(config.taskQueue, 'workflows')) ?? [];
    // Workers of one build have one SDK, and those of two builds share no runs.
    const sdks = seen
      .filter((worker) => worker.version === null && isLive(worker, now))
      .flatMap(({ sdk }) => sdk ?? []);
    if (new Set(sdks).size < 2) return [];
    return [
      {
        severity: 'warning',
        message: `Expected the workers of \`${config.taskQueue}\` to have one version of Temporal's SDK, got ${tally(sdks)}.`,
        advice: 'End the rolling deploy, and pin `@temporalio` packages to one exact version.',
      },
    ];
  },
};
