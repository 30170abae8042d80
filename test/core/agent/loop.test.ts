import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../src/activities/define-agent.ts';
import { defineTool } from '../../../src/activities/define-tool.ts';
import { scriptedModel } from '../../../src/testing/scripted-model.ts';
import { startInMemory } from '../../../src/testing/run-in-memory.ts';

const search = defineTool({
  name: 'search',
  description: 'Searches.',
  parameters: z.object({ query: z.string() }),
  execute: ({ query }) => `3 hits for ${query}`,
});

test('runs a tool, then answers', async () => {
  const script = scriptedModel([
    '<thinking>look</thinking><action>tool: search\nargs:\n  query: x</action>',
    '<answer>done</answer>',
  ]);
  const agent = defineAgent({ name: 'a', model: script.model, tools: [search] });
  const run = startInMemory({ agent, task: 'Find x' });
  const step = await run.result;
  script.assertDone();
  console.log(
    JSON.stringify(step, null, 1),
    run.events.map((e) => e.type),
    JSON.stringify(script.requests[1]?.messages, null, 1),
  );
  expect(step.status).toBe('success');
});
