/** The surroundings of a call, whether a turn or a program makes it. */
import { defined } from '../base/defined.ts';
import type { StartGroup } from '../children/run-child.ts';
import type { ToolOrder } from '../contract/outcome.ts';
import type { ToolCall } from '../base/message.ts';
import type { Iteration } from '../run/iteration.ts';

/** What calls ask of the program that makes them. */
export interface CallingProgram {
  /** Whether the call can be aborted alone. */
  isSeparate(callId: string): boolean;
  /** Texts of hidden fields in the values that children have given it so far. */
  hidden(): readonly string[];
}

/** The surroundings of a call: its iteration, and the turn or program that makes it. */
export interface CallSite extends Iteration {
  /** What the model wrote beside the calls of the turn; may be empty. */
  readonly reasoning: string;
  /** The children that start together; absent: one by one. */
  readonly starting?: StartGroup;
  /** Set when a program makes the call. */
  readonly program?: CallingProgram;
}

/** The order of a call. */
export function orderOf({ run, program }: CallSite, { callId, tool, args }: ToolCall): ToolOrder {
  const { runId, agentPath, head, parent } = run.state;
  const tree = defined({ rootRunId: parent?.rootRunId });
  const order = { agent: head.spec.name, runId, ...tree, agentPath, callId, tool, args };
  return program === undefined ? order : { ...order, inProgram: true };
}
