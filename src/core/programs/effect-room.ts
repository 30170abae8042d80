/** Whether a call of a program may begin beside those that are open. Pure. */
import type { Breach } from '../contract/limit.ts';
import { isKnownTool } from '../toolchain/batch.ts';
import type { Run } from '../run/run.ts';
import type { AgentSpec } from '../contract/spec.ts';

/** `wait`: until others have ended; it may turn out that they do not count. */
export type Room =
  | { readonly kind: 'begin' }
  | { readonly kind: 'wait' }
  | { readonly kind: 'crossed'; readonly breach: Breach };

/** The room for a call of tool `name` beside the calls of `open`, by the names of their tools. */
export function roomForCall(
  { state, wouldCross }: Pick<Run, 'state' | 'wouldCross'>,
  name: string,
  open: readonly string[],
): Room {
  const { spec } = state.head;
  const others = [...open, name];
  if (open.length > 0 && others.some((tool) => isAlone(spec, tool))) return { kind: 'wait' };
  // An unknown tool does not run, so it needs no room.
  if (!isKnownTool(spec.tools, name)) return { kind: 'begin' };
  const key = `agent:tool_calls:${name}`;
  const keys = ['agent:tool_calls', key];
  const alone = wouldCross(keys);
  if (alone !== null) {
    // Of the limits of ancestors calls in flight have their part already.
    const mayCome = open.length > 0 && alone.origin !== 'self';
    return mayCome ? { kind: 'wait' } : { kind: 'crossed', breach: alone };
  }
  const same = open.filter((tool) => tool === name).length;
  const inFlight = { 'agent:tool_calls': open.length, [key]: same };
  return wouldCross(keys, inFlight) === null ? { kind: 'begin' } : { kind: 'wait' };
}

function isAlone({ tools, parallel }: AgentSpec, name: string): boolean {
  return !parallel || tools.some((tool) => tool.name === name && tool.sequential);
}
