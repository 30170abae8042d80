/**
 * A toolchain of your own: the agent writes its calls as TOML. How they are described and read is in
 * toml-calls/workflow.ts and runs in the workflow sandbox.
 *
 *     npx tsx examples/09-toml-calls.ts
 */
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { defineAgent, defineTool, unwrap } from '../src/index.ts';
import { local } from '../src/worker.ts';
import { exampleModel } from './example-model.ts';

const distance = defineTool({
  name: 'distance',
  description: 'The distance between two towns in km.',
  parameters: z.object({ from: z.string(), to: z.string() }),
  execute: ({ from, to }) => ({ from, to, km: from === 'Vienna' ? 198 : 171 }),
});

// region toml-agent
const guide = defineAgent({
  name: 'guide',
  mode: 'react',
  toolchain: 'own:toml',
  thinking: false,
  tools: [distance],
  model: exampleModel([
    {
      content: `<action>
[[call]]
tool = "distance"
args = { from = "Vienna", to = "Graz" }

[[call]]
tool = "distance"
args = { from = "Graz", to = "Zagreb" }
</action>`,
    },
    { content: '<answer>369 km</answer>' },
  ]),
});

const everloop = await local({
  agents: [guide],
  workflowsPath: fileURLToPath(new URL('toml-calls/workflow.ts', import.meta.url)),
});
// endregion
try {
  const run = await everloop.start('guide', { task: 'How far is Zagreb from Vienna by Graz?' });
  const step = await run.result();
  console.log(unwrap(step));
  console.log(`${step.iterations} iterations, ${step.usage.toolCalls} calls`);
} finally {
  await everloop.close();
}
