/** The example of the README, which quotes what stands between the two marks. */
import { z } from 'zod';
import { defineAgent, defineTool } from '../src/index.ts';
import { local } from '../src/worker.ts';
import { exampleModel } from './example-model.ts';

const script = [
  { content: '<action>\n- tool: population\n  args: { city: Vienna }\n</action>' },
  { content: '<answer>Vienna has 2,028,000 inhabitants.</answer>' },
];

// region readme
const population = defineTool({
  name: 'population',
  description: 'How many people live in a city.',
  parameters: z.object({ city: z.string() }),
  effect: 'read',
  execute: ({ city }) => ({ city, people: city === 'Vienna' ? 2_028_000 : 767_000 }),
});
const clerk = defineAgent({ name: 'clerk', model: exampleModel(script), tools: [population] });

const everloop = await local({ agents: [clerk] }); // server, worker and client in this process
const task = 'How many people live in Vienna?';
const run = await everloop.start('clerk', { task, limits: { totalTokens: 50_000 } });
const step = await run.result(); // a crash of a worker delays it, no more
console.log(step.value);
await everloop.close();
// endregion
