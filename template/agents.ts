/** An agent with two tools and limits. A person approves refunds. */
import { openai } from '@ai-sdk/openai';
import { defineAgent, defineTool, type AgentDefinition, type AgentModel } from 'everloop';
import { z } from 'zod';

const stock = defineTool({
  name: 'stock',
  description: 'How many packets of a tea we have',
  effect: 'read',
  parameters: z.object({ tea: z.string() }),
  execute: ({ tea }) => ({ tea, packets: tea === 'assam' ? 12 : 0 }),
});

const refund = defineTool({
  name: 'refund',
  description: 'Pays an order back',
  // It never runs twice: if its worker dies, the model reads that the outcome is unknown.
  effect: 'once',
  // `npx everloop inbox` shows what waits for a person; `npx everloop approve RUN ITEM` answers.
  approval: 'always',
  parameters: z.object({ order: z.string() }),
  execute: ({ order }) => ({ order, refunded: true }),
});

/** The clerk; tests give it another model. */
export function clerkWith(model: AgentModel): AgentDefinition {
  return defineAgent({
    name: 'clerk',
    mode: 'chat',
    instructions: 'You answer customers of a tea shop in one or two sentences.',
    model,
    tools: [stock, refund],
    // For a whole run; see https://www.npmjs.com/package/everloop for the others.
    limits: { totalTokens: 200_000, iterations: 20 },
  });
}

export const clerk = clerkWith(openai('gpt-5-mini'));
