/** Failures, for Temporal, of the activities that load agents, run tools and judge answers. */
import { ApplicationFailure } from '@temporalio/common';
import type { FailureType } from '../core/base/failure-types.ts';

/** The run cannot begin. Not retried, because the input stays the same. */
export function invalidInput(
  type: Extract<FailureType, 'agent_not_found' | 'invalid_input'>,
  message: string,
): ApplicationFailure {
  return ApplicationFailure.create({ type, message, nonRetryable: true });
}

/** A tool threw and has attempts left: retried by the tool's own policy. */
export function toolFailed(message: string): ApplicationFailure {
  return ApplicationFailure.create({ type: 'tool_failed', message, nonRetryable: false });
}

/** A validator threw: retried; the last failure ends the run. */
export function validatorFailed(message: string): ApplicationFailure {
  return ApplicationFailure.create({ type: 'validator_failed', message, nonRetryable: false });
}

/** This worker does not have the agent of a run. Retried, since another or newer worker may. */
export function agentMissing(agent: string): ApplicationFailure {
  const message = `This worker has no agent \`${agent}\`. Start a worker that has it.`;
  return ApplicationFailure.create({ type: 'agent_not_found', message, nonRetryable: false });
}
