/** The examples of docs/compiled-agents.md: its code blocks are the regions of this file. */
import { z } from 'zod';
import { defineAgent, defineTool, unwrap } from '../../src/index.ts';
import type {
  AgentDefinition,
  AgentModel,
  CompiledAgent,
  Everloop,
  Json,
  JsonObject,
} from '../../src/index.ts';

const sales = defineTool({
  name: 'sales',
  description: 'Gives the sales of a shop in a month, in cents.',
  parameters: z.object({ shop: z.string(), month: z.string() }),
  effect: 'read',
  execute: ({ shop, month }) => (shop.length + month.length) * 100,
});

/** An agent that writes a report by a program. */
export function reporterWith(model: AgentModel): AgentDefinition {
  // #region agent
  const reporter = defineAgent({
    name: 'reporter',
    mode: 'lisp',
    model,
    tools: [sales],
    prompt: 'Sum up the sales of {{shops}} in {{month}}.',
    signature: '(shops [:string], month :string) -> {total :int, best :string}',
  });
  // #endregion
  return reporter;
}

/** Writes the program once. */
export async function learn(everloop: Pick<Everloop, 'compileAgent'>): Promise<CompiledAgent> {
  // #region compile
  const compiled = await everloop.compileAgent('reporter', {
    context: { shops: ['Oslo', 'Rome'], month: '2026-02' },
  });
  // #endregion
  return compiled;
}

/** Runs it, month after month. */
export async function repeat(
  everloop: Pick<Everloop, 'runCompiled'>,
  compiled: CompiledAgent,
  context: JsonObject,
): Promise<Json> {
  // #region run
  const run = await everloop.runCompiled(compiled, { context });
  const report = unwrap(await run.result());
  // #endregion
  return report;
}
