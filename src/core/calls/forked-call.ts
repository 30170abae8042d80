/** What the calls of a fork may do: get the result that the source got, run, or wait for a person. */
import type { ToolCall } from '../base/message.ts';
import type { RecordedResult } from '../contract/outcome.ts';
import { callKey } from '../fork/recorded-calls.ts';
import type { ToolSpec } from '../contract/spec.ts';
import type { Run } from '../run/run.ts';
import { ASK_TOOL } from '../toolchain/ask-user.ts';

/** The oldest unused result that the source got for an equal call; undefined if there is none. */
export function recordedEnd({ state }: Run, call: ToolCall): RecordedResult | undefined {
  const recorded = state.fork?.recorded ?? [];
  if (recorded.length === 0) return undefined;
  const key = callKey(call);
  return recorded.find((one) => one.key === key);
}

/** Whether a call changes nothing, so that a fork that may only read may make it. */
export function isHarmless({ name, effect, agent, llm }: ToolSpec): boolean {
  if (name === ASK_TOOL || agent !== undefined) return false;
  return effect === 'read' || llm !== undefined;
}

/**
 * Whether a call waits for a person in a fork whose effects are approved. The calls of an agent wait
 * one by one, and a question is one for a person anyway.
 */
export function needsApproval(spec: ToolSpec): boolean {
  return spec.name !== ASK_TOOL && spec.agent === undefined && !isHarmless(spec);
}
