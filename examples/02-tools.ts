/**
 * An agent with two tools, called in parallel in one turn. Each call is an activity of its own: it
 * is retried by the tool's policy, it survives a crash of the worker, and it is counted.
 *
 *     npx tsx examples/02-tools.ts
 */
import { z } from 'zod';
import { defineAgent, defineTool, ToolError, unwrap } from '../src/index.ts';
import { local } from '../src/worker.ts';
import { exampleModel } from './example-model.ts';

const POPULATION: Readonly<Record<string, number>> = { Vienna: 2_028_000, Zagreb: 767_000 };

const population = defineTool({
  name: 'population',
  description: 'How many people live in a city.',
  parameters: z.object({ city: z.string() }),
  effect: 'read',
  execute: ({ city }) => {
    const people = POPULATION[city];
    // An error for the model, which can react to it.
    if (people === undefined) throw new ToolError(`no figures for ${city}`);
    return { city, people };
  },
});

const notes: string[] = [];
const note = defineTool({
  name: 'note',
  description: 'Writes a line into the notebook.',
  parameters: z.object({ line: z.string() }),
  // Never repeated blindly: if its outcome is unknown, the model reads so.
  effect: 'once',
  execute: ({ line }) => {
    notes.push(line);
    return `line ${notes.length}`;
  },
});

const clerk = defineAgent({
  name: 'clerk',
  instructions: 'You compare cities. Look numbers up, note the result, then answer.',
  model: exampleModel([
    {
      content: `<thinking>I need both numbers.</thinking>
<action>
- tool: population
  args: { city: Vienna }
- tool: population
  args: { city: Zagreb }
</action>`,
    },
    {
      content: `<action>
- tool: note
  args: { line: "Vienna is larger than Zagreb by 1261000." }
</action>`,
    },
    { content: '<answer>Vienna, by 1,261,000 people.</answer>' },
  ]),
  tools: [population, note],
  limits: { toolCalls: 10 },
});

const everloop = await local({ agents: [clerk] });
try {
  const run = await everloop.start('clerk', { task: 'Which is larger, Vienna or Zagreb?' });
  const step = await run.result();
  for (const event of await run.events()) {
    if (event.type !== 'agent:tool_call:after') continue;
    console.log(`${event.tool} ${JSON.stringify(event.args)}: ${event.outcome}`);
  }
  console.log(unwrap(step));
  console.log(`${step.usage.toolCalls} calls, notebook: ${notes.join(' ')}`);
} finally {
  await everloop.close();
}
