import type { ToolOrder } from '../core/contract/outcome.ts';
import { infoOf } from '../core/calls/run-info.ts';
import { shown } from '../core/text/shown.ts';
import type { ToolDefinition } from '../define/definition/definitions.ts';
import { fitValue } from './fit-value.ts';

/**
 * Whether a person must approve a call of `run`, as decided by the function of its tool. False for arguments
 * that do not fit, because the tool will not run; but true for a tool of a server, whose schema may be
 * another one by the call. True when this worker does not have the function.
 *
 * @throws the error of the function, and an Error when it does not return a boolean.
 */
export async function isApprovalNeeded(
  tool: ToolDefinition | undefined,
  order: ToolOrder,
  run: string,
): Promise<boolean> {
  const { tool: name, args, mcp } = order;
  if (tool?.approval === undefined) return true;
  const { parameters } = tool.spec;
  const fit =
    parameters === null
      ? { kind: 'fits' as const, value: {} }
      : await fitValue({ json: parameters, standard: tool.standard }, args);
  if (fit.kind === 'unfit') return mcp !== undefined;
  const needed: unknown = await tool.approval(
    fit.value,
    infoOf(order, { run, context: order.context }),
  );
  if (typeof needed === 'boolean') return needed;
  throw new Error(`Expected \`approval\` of ${name} to give a boolean, got ${shown(needed)}.`);
}
