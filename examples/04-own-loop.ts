/**
 * A loop of your own: an agent writes a draft, another model judges it, and the agent rewrites it
 * until the judge is content. The loop is in own-loop/workflow.ts and runs in the workflow. Events,
 * statistics, limits, messages, compaction and hand-over work as for every agent.
 *
 *     npx tsx examples/04-own-loop.ts
 */
import { fileURLToPath } from 'node:url';
import { defineAgent, unwrap } from '../src/index.ts';
import { local } from '../src/worker.ts';
import { exampleDialogue, exampleModel } from './example-model.ts';

const editor = defineAgent({
  name: 'editor',
  mode: 'chat',
  instructions: 'You write plain English.',
  model: exampleModel([
    {
      content: 'A durable agent is one that goes on where it was, whatever happens to its worker.',
    },
    { content: 'A durable agent survives its worker.' },
  ]),
  // A limit on a statistic of the loop's own, like any other.
  limits: { custom: [{ kind: 'exact', key: 'editor:rounds', max: 5 }] },
});
const critic = {
  id: 'critic',
  // The judge sees each draft alone, without the conversation.
  model: exampleDialogue([
    {
      said: /goes on where it was/,
      results: 0,
      reply: { content: 'Say the same in half as many words.' },
    },
    { said: /survives/, results: 0, reply: { content: 'OK' } },
  ]),
};

const everloop = await local({
  agents: [editor],
  models: [critic],
  workflowsPath: fileURLToPath(new URL('own-loop/workflow.ts', import.meta.url)),
});
try {
  const run = await everloop.start('editor', { task: 'What is a durable agent?' });
  const step = await run.result();
  console.log(unwrap(step));
  console.log(`${step.iterations} iterations, ${step.usage.modelCalls} model calls`);
} finally {
  await everloop.close();
}
