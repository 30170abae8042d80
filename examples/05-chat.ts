/**
 * Mode `chat`: the provider's native tool calls instead of sections in text. The example shows what
 * the model writes while it writes it. Streamed text is provisional; the Step has the final answer.
 *
 *     npx tsx examples/05-chat.ts
 */
import { z } from 'zod';
import { defineAgent, defineTool, isChunk, unwrap } from '../src/index.ts';
import { local } from '../src/worker.ts';
import { exampleModel } from './example-model.ts';

const dice = defineTool({
  name: 'roll',
  description: 'Rolls dice and returns their sum.',
  parameters: z.object({ count: z.number().int().min(1).max(10) }),
  // A fixed result, so that the example prints the same each time.
  execute: ({ count }) => ({ sum: count * 4 }),
});

const player = defineAgent({
  name: 'player',
  mode: 'chat',
  instructions: 'You play dice.',
  model: exampleModel([
    { content: 'I roll. ', toolCalls: [{ name: 'roll', args: { count: 2 } }] },
    { content: 'Two dice show 8.' },
  ]),
  tools: [dice],
});

const everloop = await local({ agents: [player] });
try {
  const run = await everloop.start('player', { task: 'Roll two dice.' });
  const showing = (async () => {
    for await (const item of run.stream()) {
      if (isChunk(item) && item.kind === 'text') process.stderr.write(item.delta);
    }
  })();
  const step = await run.result();
  await showing;
  process.stderr.write('\n');
  console.log(unwrap(step));
  console.log(`${step.iterations} iterations, ${step.usage.toolCalls} call`);
} finally {
  await everloop.close();
}
