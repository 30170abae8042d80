import type { DoctorCheck, DoctorProblem } from '../check.ts';

/** Shown at most; the rest is counted. */
const SHOWN = 10;

/** No run has a workflow task that fails again and again. */
export const failingTasks: DoctorCheck = {
  code: 'failing-tasks',
  area: 'runs',
  find: async ({ service }) => {
    const runs = (await service?.openRuns()) ?? [];
    const failing = runs.filter(({ task }) => task !== null && task.attempt > 1);
    const problems: DoctorProblem[] = [];
    for (const { id, task } of failing.slice(0, SHOWN)) {
      const reason = (await service?.taskFailure(id)) ?? 'no worker ended it in time';
      problems.push({
        severity: 'error',
        message: `Expected the run \`${id}\` to go on, got a workflow task that was tried ${task?.attempt} times: ${reason.slice(0, 500)}`,
        advice: adviceFor(reason),
      });
    }
    if (failing.length > SHOWN) {
      problems.push({
        severity: 'error',
        message: `Expected no more runs like that, got ${failing.length - SHOWN}.`,
        advice: 'Mend those above first.',
      });
    }
    return problems;
  },
};

function adviceFor(reason: string): string {
  if (reason.includes('TMPRL1100')) {
    return 'Its code does not fit its history. Start workers of the release that began it, and try new code with `everloop replay`.';
  }
  if (/encrypted with key|^Expected key/.test(reason)) {
    return 'Give its workers the key, or this command if only it lacks it: EVERLOOP_KEYS. `everloop cancel RUN --force` ends it.';
  }
  if (reason.includes('TMPRL1105')) {
    return 'Give its workers the blob store that the run was written to: EVERLOOP_BLOBS.';
  }
  if (/Expected (?:blob )?`.*` (?:in|to give a blob|as it was stored)/.test(reason)) {
    return 'Bring back what the store lacks; the run goes on by itself then.';
  }
  if (reason.startsWith('Refused:')) return 'Start a worker that can take it; the text says which.';
  return 'See the log of its worker. `everloop cancel RUN --force` ends it.';
}
