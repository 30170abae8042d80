import { UsageError } from '../base/usage-error.ts';
import type { Step } from '../contract/step.ts';

/**
 * The value of a successful Step, of the type that its agent's definition says.
 *
 * @throws UsageError `run_failed` for any other, with the message of the run. Its property `step` is
 * the Step. It is neither enumerable nor the `cause`, so a program that ends with the error prints
 * the message and not the whole Step.
 * @example
 * const { sentiment } = unwrap(await run.result());
 */
export function unwrap<Value>(step: Step<Value>): Value {
  const { status, agent, runId, reason, message, value } = step;
  // A success has a value; that of an agent without one to give is null, which is Json.
  if (status === 'success') return value as Value;
  const got = `Expected run \`${runId}\` of agent \`${agent}\` to succeed, got ${status}, ${reason}`;
  const why = message ?? 'Look at the `status` of the Step before its value.';
  const error = new UsageError('run_failed', `${got}${message === undefined ? '.' : ':'} ${why}`);
  throw Object.defineProperty(error, 'step', { value: step });
}
