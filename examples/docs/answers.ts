/** The examples of docs/answers.md: its code blocks are the regions of this file. */
import { z } from 'zod';
import {
  defineAgent,
  defineValidator,
  jsonAnswer,
  type AgentDefinition,
  type AgentModel,
  type Guard,
} from '../../src/index.ts';

/** Asks a model of the worker's process whether a text is polite; here it only looks for a word. */
async function askCritic(text: string): Promise<{ polite: boolean; usage: object }> {
  return { polite: text.includes('please'), usage: { input_tokens: 40, output_tokens: 1 } };
}

/** An agent whose answer is checked by a schema, by a function and by a model. */
export function clerk(model: AgentModel): AgentDefinition {
  // #region agent
  const Letter = z.object({
    to: z.email(),
    text: z.string().max(280),
    send_at: z.iso.datetime().default('2026-03-10T09:00:00Z'),
  });
  const inHouse = defineValidator({
    name: 'in-house',
    validate: ({ to }: z.infer<typeof Letter>) =>
      to.endsWith('@example.com')
        ? { accepted: true }
        : { accepted: false, feedback: `Write to an address of example.com, not to ${to}.` },
  });
  const polite = defineValidator({
    name: 'polite',
    validate: async ({ text }: z.infer<typeof Letter>, { reportModelCall }) => {
      const { polite: accepted, usage } = await askCritic(text);
      reportModelCall('critic', usage); // counted and limited like a call of the loop
      return { accepted };
    },
  });
  const agent = defineAgent({
    name: 'clerk',
    mode: 'react',
    model,
    answer: jsonAnswer({ schema: Letter, validators: [inHouse, polite] }),
    limits: { custom: [{ kind: 'prefix', key: 'agent:answer_rejected_by:', max: 2 }] },
  });
  // #endregion
  return agent;
}

/** Asks a service whether a text is allowed; here it only looks for a word. */
async function moderate(text: string, customer?: string) {
  return { flagged: text.includes('attack') && customer !== 'police', usage: { input_tokens: 9 } };
}

/** An agent whose models see no numbers of cards, and no task that is not allowed. */
export function guardedDesk(model: AgentModel): AgentDefinition {
  // #region guards
  const cards: Guard = {
    name: 'cards',
    check: ({ text }) => ({ rewrite: text.replaceAll(/\b\d{16}\b/g, '[card]') }),
  };
  const moderation: Guard = {
    name: 'moderation',
    check: async ({ text, tenant, reportModelCall }) => {
      const { flagged, usage } = await moderate(text, tenant);
      reportModelCall('moderation', usage);
      return flagged ? { block: 'It asks for what we do not do.' } : { pass: true };
    },
  };
  const desk = defineAgent({ name: 'desk', model, guards: [cards, moderation] });
  // #endregion
  return desk;
}
