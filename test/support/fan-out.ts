/** The example of a fan-out over batches, with models that write the programs that it asks for. */
import { allReader } from '../../examples/docs/trees.ts';
import { defineAgent } from '../../src/activities/define-agent.ts';
import type { AgentDefinition } from '../../src/activities/definitions.ts';
import type { ModelFunction } from '../../src/core/model/model.ts';
import { answer } from './runs.ts';
import { taskOf } from './trees.ts';

const PROGRAMS: { readonly [agent: string]: string } = {
  all: '(return (vec (mapcat identity (pmap #(tool/batch {:parts %}) (partition-all 30 data/parts)))))',
  batch: '(return (pmap #(tool/reader {:task %}) data/parts))',
};

/** An agent that has `count` parts read, thirty to a batch. */
export function fanOut(count: number): {
  readonly agent: AgentDefinition;
  readonly parts: readonly string[];
} {
  const reader = defineAgent({
    name: 'reader',
    model: { id: 'reading', model: async (request) => answer(`read ${taskOf(request)}`) },
  });
  const writes: ModelFunction = async ({ agent }) => ({
    content: `\`\`\`clojure\n${PROGRAMS[agent] ?? ''}\n\`\`\``,
  });
  const parts = Array.from({ length: count }, (_, index) => `part ${index + 1}`);
  return { agent: allReader(reader, { id: 'writing', model: writes }), parts };
}
