/** The example of the README, which quotes the code between the two marks. */
import { defineAgent, defineTool, unwrap } from '../src/index.ts';
import { local } from '../src/worker.ts';
import { exampleModel } from './example-model.ts';

const script = [
  { content: '<action>\n- tool: stock\n</action>' },
  { content: '<answer>Yes, 12 packets of tea.</answer>' },
];

// region readme
const stock = defineTool({ name: 'stock', description: 'Our stock', execute: () => ({ tea: 12 }) });
const clerk = defineAgent({ name: 'clerk', model: exampleModel(script), tools: [stock] });
const everloop = await local({ agents: [clerk] }); // a Temporal server, a worker and a client
const run = await everloop.start('clerk', { task: 'Do we have tea?' });
console.log(unwrap(await run.result())); // a crash of any process delays this, no more
await everloop.close();
// endregion
