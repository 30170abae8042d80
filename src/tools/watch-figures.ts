/** Adds the attempts of calls to the figures of their tools. */
import { byteSize, type Json } from '../core/base/json.ts';
import type { ToolOrder } from '../core/contract/outcome.ts';
import type { RegisteredAgent } from '../define/definition/definitions.ts';
import type { ToolRun } from './tool-call.ts';
import { QUICK_MS, type ToolFigures } from './tool-figures.ts';

/** Runs an attempt, and adds it to `figures` if its tool only reads and is one of this worker. */
export async function withFigures(
  figures: ToolFigures,
  agent: RegisteredAgent,
  order: ToolOrder,
  run: () => Promise<ToolRun>,
): Promise<ToolRun> {
  const spec = agent.tools.get(order.tool)?.spec;
  if (order.mcp !== undefined || spec?.effect !== 'read') return run();
  const startedAt = performance.now();
  const ran = await run();
  const ms = performance.now() - startedAt;
  if (hasTime(ran, ms)) {
    const bytes = ran.kind === 'result' ? byteSize(ran.result as unknown as Json) : 0;
    figures.add(agent.definition.name, order.tool, { ms, bytes });
  }
  return ran;
}

/** Whether the time says something about the tool: a call that was stopped early says nothing. */
function hasTime(ran: ToolRun, ms: number): boolean {
  if (ran.kind === 'retry') return true;
  if (ran.kind !== 'result' || !ran.result.started) return false;
  return ran.result.outcome !== 'canceled' || ms >= QUICK_MS;
}
