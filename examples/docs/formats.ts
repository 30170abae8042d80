/** The examples of docs/formats.md: its code blocks are the regions of this file. */
import { z } from 'zod';
import {
  defineAgent,
  jsonSection,
  markdownFormat,
  textMessage,
  textSection,
  yamlSection,
  type AgentDefinition,
  type AgentModel,
} from '../../src/index.ts';

/** An agent that plans, estimates and notes before it answers. */
export function planner(model: AgentModel): AgentDefinition {
  // #region agent
  const agent = defineAgent({
    name: 'planner',
    mode: 'react',
    model,
    format: markdownFormat({ strict: true }),
    thinking: 'Say in one sentence what is missing.',
    sections: [
      yamlSection({
        name: 'plan',
        schema: z.object({ steps: z.array(z.string()), due: z.string().optional() }),
        example: { steps: ['look it up', 'write it down'] },
      }),
      jsonSection({ name: 'estimate', schema: z.object({ hours: z.number().min(0) }) }),
      textSection({ name: 'doubts' }),
    ],
  });
  // #endregion
  return agent;
}

/** An agent that writes the beginning of its prompt itself. */
export function herald(model: AgentModel): AgentDefinition {
  // #region prompt
  const agent = defineAgent({
    name: 'herald',
    mode: 'react',
    model,
    instructions: 'You announce things.',
    prompt: ({ instructions, outputFormat, format, time }) => [
      textMessage('system', `${instructions} Today is ${time.weekday()}, ${time.today()}.`),
      textMessage(
        'system',
        format.format([{ name: 'layout', content: outputFormat, isVerbatim: true }]),
      ),
    ],
  });
  // #endregion
  return agent;
}
