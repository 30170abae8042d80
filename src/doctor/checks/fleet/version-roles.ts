import { inTurns } from '../../../client/connection/in-turns.ts';
import type { DoctorCheck, DoctorProblem } from '../check.ts';
import { neededQueues } from './needed-queues.ts';
import { isLive } from './seen-worker.ts';

/** Each version that has runs, or gets them, has workers of its build on every queue. */
export const versionRoles: DoctorCheck = {
  code: 'version-without-role',
  area: 'fleet',
  find: async ({ service, config, now }) => {
    if (service === null) return [];
    const { name, versions } = await service.deployment();
    // A version without any worker is another finding; one of other queues is of another environment.
    const used = versions.filter(
      ({ state, openRuns, workers, queues }) =>
        workers > 0 &&
        queues.includes(config.taskQueue) &&
        (state === 'current' || state === 'ramping' || openRuns > 0),
    );
    if (used.length === 0) return [];
    const needed = neededQueues(config);
    const seen = await inTurns(needed, ([queue, kind]) => service.workers(queue, kind));
    return used.flatMap(({ build }) =>
      needed.flatMap(([queue, kind], place): readonly DoctorProblem[] => {
        const isServed = (seen[place] ?? []).some(
          (worker) =>
            worker.version?.name === name && worker.version.build === build && isLive(worker, now),
        );
        if (isServed) return [];
        return [
          {
            severity: 'error',
            message: `Expected workers of version \`${build}\` of deployment \`${name}\` for the ${kind} of the task queue \`${queue}\`, got none: its runs wait there.`,
            advice: `Start a worker for that queue with EVERLOOP_BUILD_ID=${build}.`,
          },
        ];
      }),
    );
  },
};
