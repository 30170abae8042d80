/** An agent whose runs are forked: it searches, pays once, searches again and answers. */
import { appendFileSync } from 'node:fs';
import { z } from 'zod';
import type { AgentDefinition, ToolDefinition } from '../../src/define/definition/definitions.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { act, actWith, answer, searchTool } from './runs.ts';
import type { Stage } from './stage.ts';

/** What the agent `payer` says, iteration by iteration. */
const PAYER_TURNS: readonly string[] = [act('a'), actWith(['pay', 'b']), act('c'), answer('done')];

/** The agent `payer`; `onPay` hears each payment, and `page` is what a search finds. */
export function payer(
  onPay: (query: string) => void = () => undefined,
  page: (query: string) => string = (query) => `hits for ${query}`,
): AgentDefinition {
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    parameters: z.object({ query: z.string() }),
    effect: 'once',
    execute: ({ query }) => {
      onPay(query);
      return `paid ${query}`;
    },
  }) as ToolDefinition;
  return defineAgent({
    name: 'payer',
    mode: 'react',
    tools: [searchTool(page), pay],
    model: {
      id: 'payer/m',
      model: async ({ iteration }) => PAYER_TURNS[iteration - 1] ?? answer('end'),
    },
  });
}

/** A fork of a run that has paid: it reads an input first, and the recorded payment is not repeated. */
export async function playFork(stage: Stage): Promise<RunHandle> {
  const { everloop, stop } = await stage.serve([payer()]);
  const run = await everloop.start('payer', { task: 'Go' });
  await run.result();
  const fork = await everloop.fork(
    { run: run.id, at: { iteration: 2 } },
    { effects: 'reuse', edits: [{ append: 'Think again about tax.' }] },
  );
  await fork.result();
  await stop();
  return fork;
}

/** Writes each payment to `file`, as a bank would note it. */
export function paymentsIn(file: string): (query: string) => void {
  return (query) => appendFileSync(file, `${query}\n`);
}
