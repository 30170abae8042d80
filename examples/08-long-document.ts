/**
 * A document of 1,600 lines, read by an agent that calls itself on parts of it. The model is
 * scripted, or a real one if OPENAI_API_KEY is set.
 *
 *     npx tsx examples/08-long-document.ts
 */
import { unwrap } from '../src/index.ts';
import { local } from '../src/worker.ts';
import { reader } from './long-document/agents.ts';
import { LOG_LINES } from './long-document/ship-log.ts';

const everloop = await local({ agents: [reader] });
try {
  const run = await everloop.start('reader', { context: { from: 1, to: LOG_LINES } });
  const step = await run.result();
  console.log(JSON.stringify(unwrap(step)));
  const { counters } = step.stats;
  console.log(
    `${step.status}: ${1 + (counters['agent:children'] ?? 0)} runs, ${step.usage.modelCalls} model calls`,
  );
} finally {
  await everloop.close();
}
