/**
 * Which reads the activity of a model call may run beside the reply. What has not started never
 * crosses a limit, so the order says how many calls have room.
 */
import { defined } from '../base/defined.ts';
import { READ_BOUNDS, type ReadsOrder } from '../contract/outcome.ts';
import type { ToolSpec } from '../contract/spec.ts';
import { modeOf } from '../modes/modes.ts';
import { ownGauges } from '../stats/own-gauges.ts';
import type { Run } from '../run/run.ts';
import { SEARCH_TOOL } from '../tool-search/query.ts';
import { isLastTurn } from './last-turn.ts';

/** The reads that may run beside the next reply; undefined: none. */
export function readsOrder(run: Run): ReadsOrder | undefined {
  const { state } = run;
  const { spec } = state.head;
  if (modeOf(spec).readsBeside !== true) return undefined;
  if (!spec.parallel) return undefined;
  if (run.mustLeave() || state.pausedAt !== null || isLastTurn(state)) return undefined;
  // The calls of a fork take the results that its source got, as long as there are some.
  if ((state.fork?.recorded ?? []).length > 0) return undefined;
  const tools = spec.tools.filter(mayRun);
  if (tools.length === 0) return undefined;
  const most = Math.min(READ_BOUNDS.calls, spec.maxCallsPerTurn);
  const calls = room(run, ['agent:tool_calls'], most);
  const perTool = tools.flatMap(({ name }): readonly (readonly [string, number])[] => {
    const left = room(run, ['agent:tool_calls', `agent:tool_calls:${name}`], calls);
    return left === 0 ? [] : [[name, left]];
  });
  if (perTool.length === 0) return undefined;
  const { conversation } = state;
  return {
    calls,
    tools: Object.fromEntries(perTool),
    ...defined({ conversation }),
    ...ownGauges(state.stats),
  };
}

/** A read of this fleet that waits for nobody, and whose author leaves it to the worker or says `local`. */
function mayRun(tool: ToolSpec): boolean {
  const { name, effect, local, auto, sequential, cache } = tool;
  if (effect !== 'read' || !(local || auto === true) || sequential || cache === true) return false;
  const { approval, asks, isolate, agent, llm, mcp } = tool;
  const others = [approval, asks, isolate, agent, llm, mcp];
  return others.every((other) => other === undefined) && name !== SEARCH_TOOL;
}

/** How many calls, at most `most`, have room under the limits on `keys`. */
function room(run: Run, keys: readonly string[], most: number): number {
  for (let calls = 0; calls < most; calls++) {
    const inFlight = Object.fromEntries(keys.map((key) => [key, calls]));
    if (run.wouldCross(keys, inFlight) !== null) return calls;
  }
  return most;
}
