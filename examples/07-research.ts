/**
 * A research team as one durable run: a planner, three parallel researchers, a writer, and a
 * reviewer of the writer's drafts. The model is scripted, or a real one if OPENAI_API_KEY is set.
 *
 *     npx tsx examples/07-research.ts
 */
import { unwrap } from '../src/index.ts';
import { local } from '../src/worker.ts';
import { research } from './research/agents.ts';
import { RESEARCH_QUESTION } from './research/scripts.ts';

const everloop = await local({ agents: [research] });
try {
  const run = await everloop.start('research', { task: process.argv[2] ?? RESEARCH_QUESTION });
  const step = await run.result();
  console.log(unwrap(step));
  const { modelCalls, totalTokens } = step.usage;
  console.log(`${step.status}: ${modelCalls} model calls, ${totalTokens} tokens`);
  const stages = step.children.map(({ agent, usage }) => `${agent} ${usage.modelCalls}`);
  console.log(stages.toSorted().join(', '));
} finally {
  await everloop.close();
}
