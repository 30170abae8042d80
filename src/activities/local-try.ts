/**
 * Calls that are tried within a workflow task. The worker that runs them is that of the workflow; the one
 * that knew the tool as quick may have been another, of another build.
 */
import { byteSize, type Json } from '../core/base/json.ts';
import type { ToolOrder } from '../core/contract/outcome.ts';
import type { RegisteredAgent } from '../define/definition/definitions.ts';
import type { ToolRun } from '../tools/tool-call.ts';
import { notLocal } from './failures.ts';

/**
 * Refuses a try of what may not run twice: the tool must only read on this worker, too. A worker that
 * lacks the tool says so itself.
 */
export function checkLocalTry(agent: RegisteredAgent, order: ToolOrder): void {
  if (order.localBytes === undefined) return;
  const tool = agent.tools.get(order.tool);
  if (tool === undefined || tool.spec.effect === 'read') return;
  throw notLocal(`The tool ${order.tool} does not only read here.`);
}

/** Refuses the result of a try that the completion of the task may have no room for. */
export function checkLocalResult(order: ToolOrder, run: ToolRun): void {
  if (order.localBytes === undefined || run.kind !== 'result') return;
  const bytes = byteSize(run.result as unknown as Json);
  if (bytes > order.localBytes) throw notLocal(`The result of ${order.tool} has ${bytes} bytes.`);
}
