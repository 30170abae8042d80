import { neededQueues, type NeededQueue } from './needed-queues.ts';
import { isLive } from './seen-worker.ts';
import type { DoctorCheck, DoctorProblem } from '../check.ts';
import type { DoctorService } from '../doctor-service.ts';

/** Each queue has a worker for each kind of task that runs put there. */
export const workers: DoctorCheck = {
  code: 'no-workers',
  area: 'fleet',
  find: async ({ service, config, now }) => {
    if (service === null) return [];
    const problems = await Promise.all(
      neededQueues(config).map((needed) => problemOf(service, needed, now)),
    );
    return problems.filter((problem) => problem !== null);
  },
};

async function problemOf(
  service: DoctorService,
  [queue, kind]: NeededQueue,
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
