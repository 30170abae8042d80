/** The values of children in a loop without a model: a child without a value ends the run. */
import type { Breach } from '../contract/limit.ts';
import { leaving } from '../run/ending.ts';
import { upstreamFailure, type FailedUpstream } from '../contract/piping.ts';
import type { SpawnResult } from '../children/spawn.ts';
import type { Step } from '../contract/step.ts';
import type { Work } from './work.ts';

/** The Step of a child that succeeded; throws to end the run when it did not. */
export function stepIn(work: Work, result: SpawnResult): Step {
  switch (result.kind) {
    case 'value':
      return result.step;
    case 'refused':
      return stopAt(work, result.breach);
    case 'failed': {
      const { breach } = result.failure;
      return breach === undefined ? chained(result.failure) : stopAt(work, breach);
    }
  }
}

/** The Steps of children that began together; throws to end the run for the first that failed. */
export function stepsIn(work: Work, results: readonly SpawnResult[]): readonly Step[] {
  // It ended the others, so their ends are not the reason.
  const lost = results.find((result) => result.kind !== 'value' && !isAborted(result));
  return (lost === undefined ? results : [lost]).map((result) => stepIn(work, result));
}

/** Whether a child ended because another one had failed. */
function isAborted(result: SpawnResult): boolean {
  return result.kind === 'failed' && result.failure.reason === 'parent_canceled';
}

/** Ends the run as `chained_failure`. */
export function chained(failure: FailedUpstream): never {
  const { message: cause, details } = upstreamFailure(failure);
  throw leaving({ kind: 'failed', code: 'chained_failure', cause, details, isVerbatim: true });
}

/** Ends the run at one of its own limits, or of an ancestor's. */
export function stopAt({ run }: Work, breach: Breach): never {
  const { origin } = breach;
  const isOwn = origin !== 'self' && origin.runId === run.state.runId;
  run.breach(isOwn ? { ...breach, origin: 'self' } : breach);
  throw leaving({ kind: 'stopped' });
}
