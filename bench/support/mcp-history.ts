/** What calls and questions of servers write into the history of a run. */
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import type { AgentDefinition, ToolDefinition } from '../../src/define/definition/definitions.ts';
import type { McpServerDefinition } from '../../src/define/definition/mcp-server.ts';
import type { Everloop } from '../../src/client/everloop-client.ts';
import type { Stage } from './bench-stage.ts';
import { readLinks } from './history-reader.ts';

/** Calls by which the bytes of one are told from those of the run around it. */
const CALLS = 20;

/** Bytes beyond those of the same run with tools of the worker. */
export interface McpHistory {
  readonly perCall: number;
  /** Beyond a call and a question of `ask_user` in one turn. */
  readonly perQuestion: number;
  /** Beyond a call alone. */
  readonly perAsking: number;
}

/** Measures runs on `stage`. `server` serves `askingServer` and is named `asking`. */
export async function mcpHistory(stage: Stage, server: McpServerDefinition): Promise<McpHistory> {
  const add = defineTool({
    name: 'asking_add',
    description: 'Adds.',
    parameters: numbers('a', 'b'),
    effect: 'read',
    execute: (args) => String(Number(args['a']) + Number(args['b'])),
  });
  const refund = defineTool({
    name: 'asking_refund',
    description: 'Refunds an order.',
    parameters: { type: 'object', properties: { order: { type: 'string' } } },
    effect: 'once',
    execute: ({ order }) => ({ refunded: order as string, reason: 'broken' }),
  });
  const { everloop, stop } = await stage.serve([
    caller('plain', [add, refund]),
    caller('served', [server]),
  ]);
  const bytesOf = (agent: string, task: string): Promise<number> =>
    historyBytes(stage, everloop, agent, task);
  try {
    const perCall = async (agent: string): Promise<number> =>
      ((await bytesOf(agent, `add ${CALLS + 1}`)) - (await bytesOf(agent, 'add 1'))) / CALLS;
    const perTurn = async (agent: string, task: string): Promise<number> =>
      (await bytesOf(agent, `${task} 2`)) - (await bytesOf(agent, `${task} 1`));
    const asking = await perTurn('served', 'refund');
    return {
      perCall: (await perCall('served')) - (await perCall('plain')),
      perQuestion: asking - (await perTurn('plain', 'both')),
      perAsking: asking - (await perTurn('plain', 'refund')),
    };
  } finally {
    await stop();
  }
}

function numbers(...names: readonly string[]): ToolDefinition['spec']['parameters'] & object {
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'number' }]));
  return { type: 'object', properties, required: [...names] };
}

/** An agent that calls the tool in its task so often: `add 21`. */
function caller(
  name: string,
  tools: readonly (ToolDefinition | McpServerDefinition)[],
): AgentDefinition {
  const tasks = new Map<string, readonly [string, number]>();
  return defineAgent({
    name,
    mode: 'chat',
    tools,
    askUser: true,
    model: async ({ runId, iteration, messages }) => {
      const found = /\b(add|refund|both) (\d+)\b/.exec(JSON.stringify(messages));
      const [tool, calls] = tasks.get(runId) ?? [found?.[1] ?? '', Number(found?.[2])];
      tasks.set(runId, [tool, calls]);
      if (iteration > calls) return { content: 'done' };
      // Equal calls would be answered with a warning.
      const args = tool === 'add' ? { a: 10 + iteration, b: 50 } : { order: `A-${iteration}` };
      const called = tool === 'both' ? 'refund' : tool;
      const call = { id: 'call-10', name: `asking_${called}`, args };
      const question = `Why is A-${iteration} refunded?`;
      const ask = { id: 'call-11', name: 'ask_user', args: { question } };
      return { content: 'next', toolCalls: tool === 'both' ? [call, ask] : [call] };
    },
  });
}

async function historyBytes(
  stage: Stage,
  everloop: Everloop,
  agent: string,
  task: string,
): Promise<number> {
  const run = await everloop.start(agent, { task, limits: { costUsd: 'unlimited' } });
  for (;;) {
    const end = await run.resultOrPending();
    if (end.kind === 'step') {
      if (end.step.status !== 'success')
        throw new Error(`The run ended: ${end.step.message ?? ''}`);
      break;
    }
    const answer = task.startsWith('both') ? 'broken' : { reason: 'broken' };
    for (const { id } of end.pending) await run.answer(id, answer);
  }
  const links = await readLinks(stage.client, run.id);
  return links.reduce((sum, { bytes }) => sum + bytes, 0);
}
