/** Which calls of a turn start together, and how many of them the limits allow. */
import type { AgentSpec, ToolSpec } from '../contract/spec.ts';
import type { Breach } from '../contract/limit.ts';
import type { ToolCall } from '../base/message.ts';
import type { Numbers } from '../contract/stats.ts';

/** Stands for unknown tools in statistics: text of a model never becomes a key. */
export const UNKNOWN_TOOL = '(unknown)';

/** Whether the agent has a tool of this name. */
export function isKnownTool(tools: readonly ToolSpec[], name: string): boolean {
  return tools.some((tool) => tool.name === name);
}

/** Whether a call of tool `name` overlaps with no other. */
export function isAlone(
  { tools, parallel }: Pick<AgentSpec, 'tools' | 'parallel'>,
  name: string,
): boolean {
  return !parallel || tools.some((tool) => tool.name === name && tool.sequential);
}

/**
 * `calls` in waves: calls of a wave may overlap, and each wave waits for the one before. A
 * sequential tool has a wave of its own; without `parallel` every call has.
 */
export function wavesOf(
  calls: readonly ToolCall[],
  tools: readonly ToolSpec[],
  parallel: boolean,
): readonly (readonly ToolCall[])[] {
  const waves: ToolCall[][] = [];
  let open: ToolCall[] | null = null;
  for (const call of calls) {
    if (isAlone({ tools, parallel }, call.tool)) {
      waves.push([call]);
      open = null;
    } else if (open === null) {
      open = [call];
      waves.push(open);
    } else open.push(call);
  }
  return waves;
}

/**
 * How many of `calls`, from the first on, may start when nothing else is in flight. The breach is
 * that of the first call without room, null if all fit. Each call in flight counts as one.
 * `wouldCross` finds the limit that one more of some keys would cross, given what is in flight.
 * What `hasRun` is counted already.
 */
export function roomFor(
  calls: readonly ToolCall[],
  tools: readonly ToolSpec[],
  wouldCross: (keys: readonly string[], inFlight: Numbers) => Breach | null,
  hasRun: (call: ToolCall) => boolean = () => false,
): { readonly fits: number; readonly breach: Breach | null } {
  let fits = 0;
  const inFlight: Record<string, number> = {};
  for (const call of calls) {
    // An unknown tool does not run, so it needs no room.
    if (isKnownTool(tools, call.tool) && !hasRun(call)) {
      const keys = ['agent:tool_calls', `agent:tool_calls:${call.tool}`];
      const breach = wouldCross(keys, inFlight);
      if (breach !== null) return { fits, breach };
      for (const key of keys) inFlight[key] = (inFlight[key] ?? 0) + 1;
    }
    fits += 1;
  }
  return { fits, breach: null };
}
