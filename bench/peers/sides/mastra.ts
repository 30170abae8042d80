/** A workflow of Mastra whose two steps repeat; its snapshots are rows of a libSQL file. */
import { join } from 'node:path';
import { Mastra } from '@mastra/core';
import { createStep, createWorkflow } from '@mastra/core/workflows';
import { LibSQLStore } from '@mastra/libsql';
import { z } from 'zod';
import { serveSide, type Side } from '../side.ts';
import { askModel, chatOf, readPart, type ChatMessage, type Order, type Reply } from '../work.ts';

const state = z.object({
  order: z.custom<Order>(),
  messages: z.custom<readonly ChatMessage[]>(),
  turn: z.number(),
  call: z.custom<Reply['call']>(),
  isDone: z.boolean(),
});

const model = createStep({
  id: 'model',
  inputSchema: state,
  outputSchema: state,
  execute: async ({ inputData }) => {
    const { order, turn, messages } = inputData;
    const { text, call } = await askModel(order, turn);
    const reply = { role: 'assistant' as const, text, call };
    return { ...inputData, messages: [...messages, reply], call, isDone: call === undefined };
  },
});

const tool = createStep({
  id: 'tool',
  inputSchema: state,
  outputSchema: state,
  execute: async ({ inputData }) => {
    const { call, turn, messages } = inputData;
    if (call === undefined) return inputData;
    const result = { role: 'tool' as const, text: await readPart(call.args) };
    return { ...inputData, messages: [...messages, result], turn: turn + 1 };
  },
});

const turnOf = createWorkflow({ id: 'turn', inputSchema: state, outputSchema: state })
  .then(model)
  .then(tool)
  .commit();

const agentLoop = createWorkflow({ id: 'agent-loop', inputSchema: state, outputSchema: state })
  .dountil(turnOf, async ({ inputData }) => inputData.isDone)
  .commit();

await serveSide(async ({ folder }): Promise<Side> => {
  const storage = new LibSQLStore({ id: 'peers', url: `file:${join(folder, 'mastra.db')}` });
  const mastra = new Mastra({ storage, workflows: { agentLoop }, logger: false });
  const workflow = mastra.getWorkflow('agentLoop');
  const ended = ({ status, ...rest }: { readonly status: string }): void => {
    if (status === 'success') return;
    throw new Error(`Expected success, got ${status}: ${JSON.stringify(rest).slice(0, 500)}`);
  };
  return {
    play: async (order) => {
      const run = await workflow.createRun({ runId: order.id });
      const inputData = { order, messages: chatOf(order), turn: 1, call: undefined, isDone: false };
      ended(await run.start({ inputData }));
    },
    resume: async (order) => {
      const run = await workflow.createRun({ runId: order.id });
      ended(await run.restart());
    },
  };
});
