/** The examples of docs/per-run.md: its code blocks are the regions of this file. */
import { createOpenAI, openai } from '@ai-sdk/openai';
import { z } from 'zod';
import {
  defineAgent,
  defineTool,
  toolResult,
  type AgentDefinition,
  type AgentModel,
  type ModelEntry,
  type StartOptions,
} from '../../src/index.ts';

/** An agent with settings, and a start with others. */
export function settled(model: AgentModel): {
  readonly clerk: AgentDefinition;
  readonly start: StartOptions;
} {
  // #region settings
  const clerk = defineAgent({
    name: 'clerk',
    model,
    settings: { temperature: 0.7, reasoning: 'low', providerOptions: { openai: { user: 'shop' } } },
  });

  const start: StartOptions = {
    task: 'Sort the mail of today.',
    settings: { temperature: 0, maxOutputTokens: 2_000 },
  };
  // #endregion
  return { clerk, start };
}

/** A model with the key of each customer. */
export function perCustomer(keys: ReadonlyMap<string, string>): ModelEntry {
  // #region customer
  const large: ModelEntry = {
    id: 'large',
    model: openai('gpt-5'),
    modelFor: ({ tenant = '' }) => {
      const apiKey = keys.get(tenant);
      return apiKey === undefined ? undefined : createOpenAI({ apiKey })('gpt-5');
    },
  };
  // #endregion
  return large;
}

/** An agent whose tools depend on the run. */
export function perPlan(model: AgentModel): AgentDefinition {
  // #region offered
  const refund = defineTool({
    name: 'refund',
    description: 'Refunds an order.',
    parameters: z.object({ order: z.string() }),
    effect: 'once',
    enabled: ({ context }) => context?.['plan'] === 'pro',
    execute: ({ order }) => ({ refunded: order }),
  });
  const lookUp = defineTool({
    name: 'look_up',
    description: 'Looks an order up.',
    parameters: z.object({ order: z.string() }),
    effect: 'read',
    execute: ({ order }) => ({ order, usd: 30 }),
  });

  const desk = defineAgent({
    name: 'desk',
    model,
    instructions: ({ by }) => `You help ${by ?? 'a customer'}.`,
    tools: [lookUp, refund],
    prepare: ({ iteration }) =>
      iteration === 1 ? { toolChoice: { tool: 'look_up' }, settings: { temperature: 0 } } : {},
  });
  // #endregion
  return desk;
}

/** An agent whose answer is the result of a tool. */
export function filed(model: AgentModel): AgentDefinition {
  // #region final
  const file = defineTool({
    name: 'file',
    description: 'Files the report and ends the work.',
    parameters: z.object({ title: z.string(), rows: z.array(z.string()) }),
    final: true,
    execute: ({ title, rows }) =>
      toolResult({ output: { title, rows }, forModel: `${rows.length} rows were filed.` }),
  });

  const reporter = defineAgent({
    name: 'reporter',
    model,
    signature: { output: z.object({ title: z.string(), rows: z.array(z.string()).min(1) }) },
    tools: [file],
  });
  // #endregion
  return reporter;
}

/** An agent that waits for its operator. */
export function patient(model: AgentModel): AgentDefinition {
  // #region refusal
  const watcher = defineAgent({ name: 'watcher', model, onRefusal: 'ask' });
  // #endregion
  return watcher;
}
