import type { DoctorCheck } from '../check.ts';

const MAX_WAIT_MS = 60_000;

/** No workflow task waits for a worker for more than a minute. */
export const waitingTasks: DoctorCheck = {
  code: 'waiting-tasks',
  area: 'runs',
  find: async ({ service, now }) => {
    const runs = (await service?.openRuns()) ?? [];
    const waiting = runs.filter(
      ({ task }) =>
        task !== null &&
        task.attempt === 1 &&
        !task.isStarted &&
        now - task.scheduledAt > MAX_WAIT_MS,
    );
    if (waiting.length === 0) return [];
    const ids = waiting.slice(0, 5).map(({ id }) => id);
    return [
      {
        severity: 'error',
        message: `Expected every workflow task to be taken within a minute, got ${waiting.length} that still wait: ${ids.join(', ')}.`,
        advice: 'Start more workers, or a worker for their task queue or version.',
      },
    ];
  },
};
