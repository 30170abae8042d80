/** The size limit of a Step, which a workflow returns and from which another run may start. */
import { byteSize, type Json } from '../base/json.ts';
import type { Ending } from './ending.ts';
import type { RunState } from './run-state.ts';
import { stepOf } from './step-of.ts';
import type { StepTrace } from '../contract/step.ts';

/** UTF-8 bytes of JSON that a Step may have, without its memory and its trace. */
export const MAX_STEP_BYTES: number = 256 * 1024;

const NO_TRACE: StepTrace = {
  workflowId: '',
  executionId: '',
  firstExecutionId: '',
  unreadInputs: [],
};

/**
 * `ending`, or what stands in for it when the Step would be too large: an answer becomes the error
 * `value_too_large`, an error leaves its details out. Linear in the size of the Step.
 */
export function fitEnding(state: RunState, ending: Ending): Ending {
  if (ending.kind !== 'success' && ending.kind !== 'error') return ending;
  const { memory: _memory, ...step } = stepOf(state, ending, NO_TRACE);
  const bytes = byteSize(step as unknown as Json);
  if (bytes <= MAX_STEP_BYTES) return ending;
  if (ending.kind === 'error') {
    const { code, cause } = ending;
    return { kind: 'error', code, cause };
  }
  const cause = `Expected a Step of at most ${MAX_STEP_BYTES} bytes, got ${bytes}. Answer with less, or let a tool keep the data and answer where it is.`;
  return { kind: 'error', code: 'value_too_large', cause };
}
