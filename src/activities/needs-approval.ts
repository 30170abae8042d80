import type { ToolOrder } from '../core/contract/outcome.ts';
import type { Registry } from '../define/definition/definitions.ts';
import { redactedErrorText } from '../tools/redact.ts';
import { isApprovalNeeded } from '../tools/needs-approval.ts';
import { agentMissing, toolFailed } from './tool-failures.ts';

/** The local activity `needsApproval`; it is retried when the function throws. */
export function needsApprovalActivity(registry: Registry): (order: ToolOrder) => Promise<boolean> {
  return async (order) => {
    const agent = registry.agents.get(order.agent);
    if (agent === undefined) throw agentMissing(order.agent);
    try {
      return await isApprovalNeeded(agent, order);
    } catch (error) {
      throw toolFailed(redactedErrorText(error));
    }
  };
}
