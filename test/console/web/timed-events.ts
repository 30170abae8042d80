/** Gives the events of a run in memory, which takes no time, times as a real run has them. */
import type { AgentEvent } from '../../../src/core/contract/events.ts';

const MODEL_MS = [1_900, 1_400, 7_700, 885, 801, 809, 824];
const TOOL_MS = [586, 586, 665, 216, 234, 234, 241, 180, 210];

/** `events` from `start` on; the model call of `lostIn` lost its first worker. */
export function timed(
  events: readonly AgentEvent[],
  start: number,
  lostIn = -1,
): readonly AgentEvent[] {
  const openTools = new Map<string, number>();
  let at = start;
  let model = 0;
  let tool = 0;
  let modelBegan = start;
  return events.map((event) => {
    switch (event.type) {
      case 'agent:model_call:before':
        modelBegan = at;
        return { ...event, at };
      case 'agent:model_call:after': {
        at = modelBegan + (MODEL_MS[model++ % MODEL_MS.length] ?? 900);
        const lost = event.iteration === lostIn ? { losses: 1 } : {};
        const usage = { ...event.usage, costMicroUsd: Math.max(45, event.usage.costMicroUsd) };
        return { ...event, ...lost, usage, at, durationMs: at - modelBegan };
      }
      case 'agent:tool_call:before':
        openTools.set(event.callId, at);
        return { ...event, at };
      case 'agent:tool_call:after': {
        const began = openTools.get(event.callId) ?? at;
        const durationMs = TOOL_MS[tool++ % TOOL_MS.length] ?? 300;
        at = Math.max(at, began + durationMs);
        return { ...event, at: began + durationMs, durationMs };
      }
      case 'agent:iteration:after':
        at += 14;
        return { ...event, at };
      default:
        return { ...event, at };
    }
  });
}
