/** The surroundings of a call, whether a turn or a program makes it. */
import { defined } from '../base/defined.ts';
import type { StartGroup } from '../children/run-child.ts';
import type { ToolOrder } from '../contract/outcome.ts';
import type { ToolCall } from '../base/message.ts';
import type { Iteration } from '../run/iteration.ts';
import { SEARCH_TOOL } from '../tool-search/query.ts';
import { toolOf } from '../tool-search/stubs.ts';
import { ownGauges } from '../stats/own-gauges.ts';

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

/** The order of a call, or of a further part of it after its tool has asked. */
export function orderOf(
  { run, program }: CallSite,
  { callId, tool, args }: ToolCall,
  { resume, asks }: Pick<ToolOrder, 'resume' | 'asks'> = {},
): ToolOrder {
  const { runId, agentPath, head, parent, trace, conversation, tenant, by, stats } = run.state;
  const spec = toolOf(run.state, tool);
  const isFinding = tool === SEARCH_TOOL && head.spec.stubs !== undefined;
  const tree = defined({ rootRunId: parent?.rootRunId, traceparent: trace?.parent });
  const order = { agent: head.spec.name, runId, ...tree, agentPath, callId, tool, args };
  return {
    ...order,
    ...defined({
      inProgram: program === undefined ? undefined : (true as const),
      conversation,
      tenant,
      by: by ?? undefined,
      readsContext: head.context === undefined ? undefined : spec?.readsContext,
      mcp: spec?.mcp,
      findsStubs: isFinding ? (true as const) : undefined,
      resume,
      asks,
    }),
    ...ownGauges(stats),
  };
}
