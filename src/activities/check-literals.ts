import { isJsonObject, type Json } from '../core/json.ts';
import { unfitArgumentsText } from '../core/toolchain/call-texts.ts';
import type { LiteralsOrder, LiteralVerdict } from '../core/toolchain/outcome.ts';
import type { RegisteredAgent, Registry } from './definitions.ts';
import { fitValue } from './fit-value.ts';
import { agentMissing } from './tool-failures.ts';

/**
 * Checks arguments of calls that no tool activity runs, each against the schema of its tool; the texts
 * are those of a tool that was called. A tool that this worker does not have takes anything.
 */
export function checkLiterals(
  agent: RegisteredAgent,
  { calls }: LiteralsOrder,
): Promise<readonly LiteralVerdict[]> {
  return Promise.all(
    calls.map(async ({ tool: name, args }): Promise<LiteralVerdict> => {
      const tool = agent.tools.get(name);
      const parameters = tool?.spec.parameters ?? null;
      if (tool === undefined || parameters === null) return { kind: 'fits', args };
      const fit = await fitValue({ json: parameters, standard: tool.standard }, args);
      if (fit.kind === 'unfit') {
        return { kind: 'unfit', text: unfitArgumentsText(tool.spec, fit.lines) };
      }
      const value = fit.value as Json;
      return { kind: 'fits', args: isJsonObject(value) ? value : args };
    }),
  );
}

/** The local activity `checkLiterals`. */
export function checkLiteralsActivity(
  registry: Registry,
): (order: LiteralsOrder) => Promise<readonly LiteralVerdict[]> {
  return async (order) => {
    const agent = registry.agents.get(order.agent);
    if (agent === undefined) throw agentMissing(order.agent);
    return checkLiterals(agent, order);
  };
}
