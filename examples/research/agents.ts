/**
 * A research team as one pipeline: a planner splits the question, three researchers work in
 * parallel, and a writer turns their findings into a text that a reviewer judges until it is
 * content.
 */
import { z } from 'zod';
import { agentTool, defineAgent, defineTool, pipeline } from '../../src/index.ts';
import type { AgentDefinition, AgentModel } from '../../src/index.ts';
import { exampleModel } from '../example-model.ts';
import { findNotes } from './library.ts';
import { RESEARCH_SCRIPTS } from './scripts.ts';

/** The members of the team. */
export type Member = 'planner' | 'costs' | 'customers' | 'rules' | 'writer' | 'reviewer';

/** Gives a member its model. */
export type ModelOf = (member: Member) => AgentModel;

const search = defineTool({
  name: 'search',
  description: 'Finds notes by words.',
  parameters: z.object({ query: z.string() }),
  effect: 'read',
  local: true,
  execute: ({ query }) => findNotes(query),
});

function plannerWith(model: AgentModel): AgentDefinition {
  return defineAgent({
    name: 'planner',
    mode: 'json',
    model,
    signature: '(task :string) -> {costs :string, customers :string, rules :string}',
    fieldDescriptions: {
      costs: 'what to find out about money',
      customers: 'what to find out about those who buy',
      rules: 'what to find out about the law',
    },
    prompt: 'Split this into one question for each of three researchers: {{task}}',
  });
}

/** One of the three researchers: the same work, another question. */
function researcherWith(name: Member, model: AgentModel): AgentDefinition {
  return defineAgent({
    name,
    mode: 'chat',
    model,
    description: `Finds out about ${name}.`,
    instructions: 'You find facts in the notes. Answer in one sentence, with the ids of the notes.',
    prompt: `{{${name}}}`,
    tools: [search],
    limits: { toolCalls: 5 },
  });
}

function reviewerWith(model: AgentModel): AgentDefinition {
  return defineAgent({
    name: 'reviewer',
    mode: 'json',
    model,
    description: 'Judges a draft; give it the whole draft.',
    signature: '(draft :string) -> {accepted :bool, remarks [:string]}',
    prompt: 'Is every claim backed by a note, and is there a clear advice?\n\n{{draft}}',
  });
}

function writerWith(model: AgentModel, reviewer: AgentDefinition): AgentDefinition {
  return defineAgent({
    name: 'writer',
    mode: 'chat',
    model,
    instructions:
      'You write a short advice from what the researchers found. Show each draft to the reviewer, and ' +
      'mend it until it is accepted. Your answer is the accepted draft and nothing else.',
    prompt: '{{task}}\n\nCosts: {{costs}}\nCustomers: {{customers}}\nRules: {{rules}}',
    tools: [agentTool({ agent: reviewer })],
    // The cost is bounded even if the reviewer is never content.
    limits: { custom: [{ kind: 'exact', key: 'agent:tool_calls:reviewer', max: 4 }] },
  });
}

/** The team, each member with the model that `modelOf` gives. */
export function researchTeam(modelOf: ModelOf): AgentDefinition {
  const topics: readonly Member[] = ['costs', 'customers', 'rules'];
  return pipeline(
    'research',
    [
      plannerWith(modelOf('planner')),
      topics.map((topic) => researcherWith(topic, modelOf(topic))),
      writerWith(modelOf('writer'), reviewerWith(modelOf('reviewer'))),
    ],
    {
      description: 'Answers a question about the business from the notes.',
      limits: { modelCalls: 40, wallClockMs: 10 * 60_000 },
    },
  );
}

/** The team for `everloop run`, with a real model when OPENAI_API_KEY is set. */
export const research: AgentDefinition = researchTeam((member) => ({
  id: `research/${member}`,
  model: exampleModel(RESEARCH_SCRIPTS[member]),
}));
