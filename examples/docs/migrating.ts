/** The examples of docs/migrating.md; test/docs/migrating.test.ts runs them. */
import { z } from 'zod';
import {
  ask,
  defineAgent,
  defineTool,
  unwrap,
  type AgentDefinition,
  type AgentModel,
  type Everloop,
} from '../../src/index.ts';

// #region aiSdk
/** generateText({ model, system, tools, stopWhen: stepCountIs(10), output }), as an agent. */
export const stockAgent = (model: AgentModel): AgentDefinition =>
  defineAgent({
    name: 'stock',
    model,
    instructions: 'You know what is in stock.',
    signature: '(question :string) -> {answer :string, inStock :bool}',
    maxTurns: 10,
    tools: [
      defineTool({
        name: 'count',
        description: 'How many of an article are in stock.',
        effect: 'read',
        parameters: z.object({ article: z.string() }),
        execute: ({ article }) => (article === 'tea' ? 3 : 0),
      }),
    ],
  });

export async function answer(everloop: Everloop, question: string): Promise<unknown> {
  const run = await everloop.start('stock', { task: question, context: { question } });
  return unwrap(await run.result()); // from any process: everloop.attach(run.id)
}
// #endregion

// #region langgraph
/** A node that calls interrupt(), and a thread that is resumed with Command({ resume }). */
export const refundAgent = (model: AgentModel): AgentDefinition =>
  defineAgent({
    name: 'refunds',
    model,
    tools: [
      defineTool({
        name: 'refund',
        description: 'Refunds an order.',
        effect: 'idempotent',
        parameters: z.object({ order: z.string() }),
        execute: ({ order }, { answer: amount }) =>
          amount === undefined
            ? ask({ question: `How much of order ${order}?`, schema: z.number() })
            : `Refunded ${JSON.stringify(amount)}.`,
      }),
    ],
  });

export async function refund(everloop: Everloop, thread: string): Promise<unknown> {
  const chat = everloop.conversation('refunds', { id: thread }); // the thread
  const turn = await chat.say('Refund order 7.');
  for await (const update of turn.follow()) {
    if (update.kind === 'pending') await chat.run.answer(update.item.id, 20);
  }
  const next = await chat.say('What did you do?'); // it knows the call and its result
  return (await next.result()).value;
}
// #endregion

// #region mastra
/** An agent with memory of a resource and a thread, streamed. */
export async function talk(
  everloop: Everloop,
  person: string,
  thread: string,
  text: string,
): Promise<string> {
  const chat = everloop.conversation('stock-talk', {
    id: `${person}.${thread}`, // threads of one person begin with the same words
    context: { person },
    limits: { costUsd: 0.5 },
  });
  let shown = '';
  for await (const update of (await chat.say(text)).follow()) {
    if (update.kind === 'text') shown += update.delta;
  }
  return shown;
}
// #endregion
