/**
 * The order in which the jobs of activations are applied.
 *
 * A1  Updates are applied last: see D5 of `deliveries.ts`.
 * A2  A query that waited for a worker reads ahead: the history that comes with it may have results
 *     behind the last task, and the SDK applies them. A replay applies them with the next task, whose
 *     signals come first. So a task that brings signals after such results fails once; the service
 *     gives it again, with the whole history. A replay of that history reads nothing ahead, also where
 *     a coarse clock gives two tasks one time: so a task never fails twice for this.
 */
import type { ActivateInput } from '@temporalio/workflow';

type Activation = ActivateInput['activation'];
type Job = NonNullable<Activation['jobs']>[number];

/** Applies an activation, with some or all of its jobs, as the SDK does. */
type Apply = (input: ActivateInput) => void;

/**
 * Applies the jobs of each activation of one workflow in their order. `settled` settles when all that
 * has come has taken effect; after `hasEnded`, no update is applied: the service tells its sender, or
 * gives it to the next link.
 */
export function activateInOrder(
  settled: () => Promise<void>,
  hasEnded: () => boolean,
): (input: ActivateInput, next: Apply) => void {
  // The service may give an update again, under its id.
  const updates = new Map<string, Job>();
  const isReadAhead = createReadAhead();
  return (input, next) => {
    const { activation } = input;
    const jobs = activation.jobs ?? [];
    if (jobs.some(({ queryWorkflow }) => queryWorkflow)) return next(input);
    if (isReadAhead(activation, jobs))
      throw new Error('A query has read ahead of this task. The service gives the task again.');
    const apply = (some: Job[]): void =>
      next({ ...input, activation: { ...activation, jobs: some } });
    const isAwaited = updates.size > 0;
    for (const job of jobs)
      if (job.doUpdate) updates.set(job.doUpdate.protocolInstanceId ?? '', job);
    apply(jobs.filter(({ doUpdate }) => !doUpdate));
    if (isAwaited || updates.size === 0) return;
    void settled().then(() => {
      const due = [...updates.values()];
      updates.clear();
      if (!hasEnded()) apply(due);
    });
  };
}

/** Says of each activation whether what was read ahead should have come after its signals. */
function createReadAhead(): (activation: Activation, jobs: readonly Job[]) => boolean {
  let last: Activation | null = null;
  let hasResults = false;
  return (activation, jobs) => {
    const before = last;
    last = activation;
    if (before === null || !isLonger(activation, before)) return false;
    // More of the history without the time of a new task: no task brought it.
    if (isSameTask(activation, before)) {
      hasResults ||=
        activation.isReplaying !== true && jobs.some((job) => !job.signalWorkflow && !job.doUpdate);
      return false;
    }
    const hadResults = hasResults;
    hasResults = false;
    return hadResults && jobs.some(({ signalWorkflow }) => signalWorkflow);
  };
}

function isLonger(activation: Activation, before: Activation): boolean {
  return Number(activation.historyLength) > Number(before.historyLength);
}

function isSameTask({ timestamp: at }: Activation, { timestamp: before }: Activation): boolean {
  return String(at?.seconds) === String(before?.seconds) && at?.nanos === before?.nanos;
}
