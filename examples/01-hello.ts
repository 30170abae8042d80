/**
 * The smallest agent: one model call, one answer. `local` starts and stops everything else: a
 * Temporal server, a worker, a client.
 *
 *     npx tsx examples/01-hello.ts
 */
import { defineAgent, unwrap } from '../src/index.ts';
import { local } from '../src/worker.ts';
import { exampleModel } from './example-model.ts';

const greeter = defineAgent({
  name: 'greeter',
  instructions: 'You greet people in one short sentence.',
  model: exampleModel([
    { content: '<thinking>I greet Ada.</thinking><answer>Good morning, Ada!</answer>' },
  ]),
});

const everloop = await local({ agents: [greeter] });
try {
  const run = await everloop.start('greeter', { task: 'Greet Ada.' });
  const step = await run.result();
  console.log(unwrap(step));
  console.log(
    `${step.status} after ${step.iterations} iteration, ${step.usage.totalTokens} tokens`,
  );
} finally {
  await everloop.close();
}
