/**
 * How the agent workflow ends: with a Step, or with a typed failure that carries one. A plain error
 * in workflow code would make Temporal retry the task forever, so every error passes through here.
 */
import { defined } from '../core/base/defined.ts';
import {
  ActivityFailure,
  ApplicationFailure,
  ContinueAsNew,
  isCancellation,
  log,
  TemporalFailure,
} from '@temporalio/workflow';
import { errorText } from '../core/base/error-text.ts';
import { unstartedStep } from '../core/run/step-of.ts';
import type { Step, StepTrace } from '../core/contract/step.ts';
import { isFailureType, type FailureType } from '../core/base/failure-types.ts';

/**
 * Fails the workflow task and not the run: the run waits, and the service gives its task to another
 * worker, which may be newer or have the key. Throw it before anything is decided.
 */
export class RefusedTask extends Error {
  override readonly name = 'RefusedTask';
}

/** A user canceled the run, or a turn of a conversation, before it could begin. */
export class CanceledEarly extends Error {
  override readonly name = 'CanceledEarly';
}

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
    ...defined({ details: step === null ? undefined : [step] }),
  });
}

/** Returns a Step that completes the workflow; throws the typed failure of any other. */
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

/**
 * The failure of a run whose agent could not be loaded: `agent_not_found`, `invalid_input`, or
 * `internal` for anything else. It carries a Step in which nothing happened.
 */
export function loadFailure(error: unknown, agent: string, trace: StepTrace): ApplicationFailure {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  const known = cause instanceof ApplicationFailure && isFailureType(cause.type) ? cause : null;
  const type = known === null ? 'internal' : (known.type as FailureType);
  const message = errorText(cause);
  return failureOf(type, message, unstartedStep(agent, type, message, trace));
}

/**
 * The failure that the workflow ends with for `error`: typed failures, cancellations and the
 * hand-over are kept, and so is a refusal of the task; anything else becomes a failure of type
 * `internal`. `stepOf` makes the Step that it carries; it may throw, since the run can be in any
 * state.
 */
export function toWorkflowFailure(error: unknown, stepOf: (cause: string) => Step | null): unknown {
  if (error instanceof TemporalFailure || error instanceof ContinueAsNew) return error;
  if (isCancellation(error) || error instanceof RefusedTask) return error;
  const thrown = errorText(error);
  log.error('The agent workflow failed unexpectedly', { error: thrown });
  const cause = `Expected the run to end by itself, got: ${thrown}`;
  try {
    return failureOf('internal', cause, stepOf(cause));
  } catch (stepError) {
    log.error('The Step of a failed run could not be made', { error: String(stepError) });
    return failureOf('internal', cause);
  }
}
