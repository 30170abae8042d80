/** Failures of the activities that load agents, run tools and judge answers, as Temporal has them. */
import { ApplicationFailure } from '@temporalio/common';
import type { FailureType } from '../core/base/failure-types.ts';

/** The run cannot begin: never tried again, the input stays what it is. */
export function invalidInput(
  type: Extract<FailureType, 'agent_not_found' | 'invalid_input'>,
  message: string,
): ApplicationFailure {
  return ApplicationFailure.create({ type, message, nonRetryable: true });
}

/** A tool threw and has attempts left: tried again by the tool's own policy. */
export function toolFailed(message: string): ApplicationFailure {
  return ApplicationFailure.create({ type: 'tool_failed', message, nonRetryable: false });
}

/** A validator threw: tried again; the last failure ends the run. */
export function validatorFailed(message: string): ApplicationFailure {
  return ApplicationFailure.create({ type: 'validator_failed', message, nonRetryable: false });
}

/** This worker does not have the agent of a run: another one, or a newer one, may. */
export function agentMissing(agent: string): ApplicationFailure {
  const message = `This worker has no agent \`${agent}\`. Start a worker that has it.`;
  return ApplicationFailure.create({ type: 'agent_not_found', message, nonRetryable: false });
}
