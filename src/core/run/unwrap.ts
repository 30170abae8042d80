import type { Json } from '../base/json.ts';
import { UsageError } from '../base/usage-error.ts';
import type { Step } from '../contract/step.ts';

/**
 * The value of a successful Step.
 *
 * @throws UsageError `run_failed` for any other; the Step is its `cause`.
 * @example
 * const { sentiment } = unwrap(await run.result());
 */
export function unwrap(step: Step): Json {
  const { status, agent, runId, reason, message, value } = step;
  if (status === 'success') return value;
  const said = message === undefined ? '' : ` (${message})`;
  const text = `Expected run \`${runId}\` of agent \`${agent}\` to succeed, got ${status}, ${reason}${said}. Look at the \`status\` of the Step before its value.`;
  throw Object.assign(new UsageError('run_failed', text), { cause: step });
}
