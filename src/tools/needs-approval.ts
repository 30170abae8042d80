import type { ToolOrder } from '../core/contract/outcome.ts';
import { shown } from '../core/text/shown.ts';
import type { RegisteredAgent } from '../define/definition/definitions.ts';
import { fitValue } from './fit-value.ts';

/**
 * Whether a person must approve a call, by the function of its tool. Arguments that do not fit need no
 * person: the tool will not run. A tool whose function this worker does not have needs one.
 *
 * @throws what the function throws, and an Error when it gives no boolean.
 */
export async function isApprovalNeeded(
  agent: RegisteredAgent,
  { tool: name, args }: ToolOrder,
): Promise<boolean> {
  const tool = agent.tools.get(name);
  if (tool?.approval === undefined) return true;
  const { parameters } = tool.spec;
  const fit =
    parameters === null
      ? { kind: 'fits' as const, value: {} }
      : await fitValue({ json: parameters, standard: tool.standard }, args);
  if (fit.kind === 'unfit') return false;
  const needed: unknown = await tool.approval(fit.value);
  if (typeof needed === 'boolean') return needed;
  throw new Error(`Expected \`approval\` of ${name} to give a boolean, got ${shown(needed)}.`);
}
