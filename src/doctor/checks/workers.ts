import type { WorkerConfig } from '../../worker/config/config.ts';
import { isLive } from './seen-worker.ts';
import type { DoctorCheck, DoctorService, DoctorProblem } from './check.ts';

/** Each queue has a worker for each kind of task that runs put there. */
export const workers: DoctorCheck = {
  code: 'no-workers',
  area: 'fleet',
  find: async ({ service, config, now }) => {
    if (service === null) return [];
    const problems = await Promise.all(
      needsOf(config).map(([queue, kind]) => problemOf(service, queue, kind, now)),
    );
    return problems.filter((problem) => problem !== null);
  },
};

type Kind = 'workflows' | 'activities';

function needsOf(config: WorkerConfig): readonly (readonly [string, Kind])[] {
  const { taskQueue, modelTaskQueue, toolTaskQueue } = config;
  const activities = [...new Set([taskQueue, modelTaskQueue, toolTaskQueue])];
  return [[taskQueue, 'workflows'], ...activities.map((queue) => [queue, 'activities'] as const)];
}

async function problemOf(
  service: DoctorService,
  queue: string,
  kind: Kind,
  now: number,
): Promise<DoctorProblem | null> {
  const seen = await service.workers(queue, kind);
  if (seen.some((worker) => isLive(worker, now))) return null;
  return {
    severity: 'error',
    message: `Expected a worker for the ${kind} of the task queue \`${queue}\`, got none.`,
    advice: 'Start one with `everloop worker`, or correct `EVERLOOP_TASK_QUEUE`.',
  };
}
