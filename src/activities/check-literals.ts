import type { LiteralFindings, LiteralsOrder, LiteralVerdict } from '../core/contract/outcome.ts';
import type { Registry } from '../define/definition/definitions.ts';
import { checkLiterals, checkProgramLiterals } from '../tools/check-literals.ts';
import { agentMissing } from './tool-failures.ts';

/** The local activity `checkLiterals`. */
export function checkLiteralsActivity(
  registry: Registry,
): (order: LiteralsOrder) => Promise<readonly (LiteralVerdict | LiteralFindings)[]> {
  return async (order) => {
    const agent = registry.agents.get(order.agent);
    if (agent === undefined) throw agentMissing(order.agent);
    const verdicts = await checkLiterals(agent, order);
    return [...verdicts, ...checkProgramLiterals(agent, order.literals)];
  };
}
