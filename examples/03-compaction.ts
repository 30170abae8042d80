/**
 * A long conversation that stays short: after every third iteration a model summarizes the work.
 * Runs in this process, without a server and without a provider.
 *
 *     npx tsx examples/03-compaction.ts
 */
import { z } from 'zod';
import { counter, defineAgent, defineTool, summarize, unwrap } from '../src/index.ts';
import { scriptedModel, startInMemory } from '../src/testing.ts';

const readPage = defineTool({
  name: 'read_page',
  description: 'Reads a page of the archive.',
  parameters: z.object({ page: z.number().int() }),
  execute: ({ page }) => `Page ${page}. ${page === 1 ? 'Order ORD-1007.' : 'x'.repeat(2_000)}`,
});

const read = (page: number): string =>
  `<action>\n- tool: read_page\n  args:\n    page: ${page}\n</action>`;
const script = scriptedModel([
  read(1),
  read(2),
  read(3),
  '# Done so far\nRead pages 1 to 3 for order ORD-1007.',
  '<answer>The order is ORD-1007.</answer>',
]);

// region agent
const archivist = defineAgent({
  name: 'archivist',
  model: script.model,
  tools: [readPage],
  compaction: {
    // After every third iteration …
    triggers: [counter('agent:iterations', 3)],
    // … a model summarizes all but the newest entry.
    strategies: [summarize({ keepRecent: 1 })],
  },
});
// endregion

const run = startInMemory({ agent: archivist, task: 'Which order is it?' });
const step = await run.result;
script.assertDone();

console.log(unwrap(step));
for (const event of run.events) {
  if (event.type !== 'agent:compaction') continue;
  const { strategy, lengthBefore, lengthAfter } = event;
  console.log(`${strategy}: ${lengthBefore} entries became ${lengthAfter}`);
}
