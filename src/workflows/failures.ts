/**
 * The one exit. A plain error in workflow code makes Temporal retry the task for ever, so everything
 * that leaves the agent workflow passes here and becomes a Step or a typed failure that carries one.
 */
import {
  ApplicationFailure,
  ContinueAsNew,
  isCancellation,
  log,
  TemporalFailure,
} from '@temporalio/workflow';
import type { Step } from '../core/agent/step.ts';
import type { FailureType } from '../core/failure-types.ts';

/** A failure of a stable type; `step` travels in its details, where clients find it. */
export function failureOf(
  type: FailureType,
  message: string,
  step: Step | null = null,
): ApplicationFailure {
  return ApplicationFailure.create({
    type,
    message,
    nonRetryable: true,
    ...(step === null ? {} : { details: [step] }),
  });
}

/** The Step of an ending that completes the workflow; throws the typed failure of any other. */
export function leaveWith(step: Step): Step {
  switch (step.status) {
    case 'success':
    case 'limit_exceeded':
    case 'canceled':
      return step;
    case 'error':
    case 'compaction_failed': {
      const type = step.reason as FailureType;
      throw failureOf(type, step.message ?? step.reason, step);
    }
  }
}

/** Runs the workflow's body: whatever it throws unexpectedly becomes a failure of type `internal`. */
export async function throughTheOneExit<Result>(body: () => Promise<Result>): Promise<Result> {
  try {
    return await body();
  } catch (error) {
    if (error instanceof TemporalFailure || error instanceof ContinueAsNew) throw error;
    if (isCancellation(error)) throw error;
    const message = error instanceof Error ? error.message : String(error);
    log.error('The agent workflow failed unexpectedly', { error: message });
    throw failureOf('internal', `Expected the run to end by itself, got: ${message}`);
  }
}
