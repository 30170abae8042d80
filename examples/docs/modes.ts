/** The agents of docs/modes.md: one for each way to answer. */
import { z } from 'zod';
import { defineAgent, defineTool } from '../../src/index.ts';
import type { AgentDefinition, AgentModel } from '../../src/index.ts';
import { exampleModel } from '../example-model.ts';

const weather = defineTool({
  name: 'weather',
  description: 'Says what the weather is like in a city.',
  parameters: z.object({ city: z.string() }),
  effect: 'read',
  execute: ({ city }) => ({ city, celsius: city === 'Oslo' ? -4 : 18 }),
});

/** Prose that nothing parses. */
export function writerWith(model: AgentModel): AgentDefinition {
  // #region text
  const writer = defineAgent({
    name: 'writer',
    mode: 'text',
    model,
    instructions: 'You write one friendly sentence.',
    prompt: 'Answer a customer who is {{sentiment}}. {{task}}',
  });
  // #endregion
  return writer;
}

/** One decision. */
export function routerWith(model: AgentModel): AgentDefinition {
  // #region json
  const router = defineAgent({
    name: 'router',
    mode: 'json',
    model,
    signature: '(message :string) -> {sentiment :keyword, urgent :bool}',
    prompt: 'What does this customer feel, and is it urgent? {{message}}',
  });
  // #endregion
  return router;
}

/** Steps with native calls. */
export function forecasterWith(model: AgentModel): AgentDefinition {
  // #region chat
  const forecaster = defineAgent({
    name: 'forecaster',
    mode: 'chat',
    model,
    tools: [weather],
    signature: '{warmest :string, celsius :float}',
  });
  // #endregion
  return forecaster;
}

/** Steps in text, with the reasoning shown. */
export function thinkerWith(model: AgentModel): AgentDefinition {
  // #region react
  const thinker = defineAgent({
    name: 'thinker',
    mode: 'react',
    model,
    tools: [weather],
    instructions: 'You compare cities.',
  });
  // #endregion
  return thinker;
}

/** Programs that call the tools. */
export function comparerWith(model: AgentModel): AgentDefinition {
  // #region lisp
  const comparer = defineAgent({
    name: 'comparer',
    mode: 'lisp',
    model,
    tools: [weather],
    prompt: 'Which of {{cities}} is the warmest?',
    signature: '(cities [:string]) -> {warmest :string}',
  });
  // #endregion
  return comparer;
}

/** The agents with scripted models, for `everloop run`. */
export const agents: readonly AgentDefinition[] = [
  writerWith(exampleModel([{ content: 'We are sorry, and on it.' }])),
  routerWith(exampleModel([{ content: '{"sentiment": "annoyed", "urgent": true}' }])),
  forecasterWith(
    exampleModel([
      { toolCalls: [{ name: 'weather', args: { city: 'Rome' } }] },
      { content: '{"warmest": "Rome", "celsius": 18}' },
    ]),
  ),
  thinkerWith(
    exampleModel([
      { content: '<action>\n- tool: weather\n  args:\n    city: Oslo\n</action>' },
      { content: '<answer>It is -4 degrees in Oslo.</answer>' },
    ]),
  ),
  comparerWith(
    exampleModel([
      {
        content:
          '```clojure\n(def found (pmap #(tool/weather {:city %}) data/cities))\n(return {:warmest (:city (max-by :celsius found))})\n```',
      },
    ]),
  ),
];
