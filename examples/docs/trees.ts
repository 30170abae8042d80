/** The examples of docs/trees.md: agents that call agents. */
import {
  agentTool,
  defineAgent,
  fanOut,
  selfTool,
  type AgentDefinition,
  type AgentModel,
  type Everloop,
  type Json,
  type RunHandle,
} from '../../src/index.ts';
import type { Next } from '../../src/workflow.ts';

/** A planner that delegates to researchers. */
export function planner(model: AgentModel, cheap: AgentModel): AgentDefinition {
  // #region tools
  const researcher = defineAgent({
    name: 'researcher',
    description: 'Finds out one thing and says where it stands.',
    model: cheap,
  });
  const planner = defineAgent({
    name: 'planner',
    model,
    instructions: 'Split the question into parts, and ask a researcher for each.',
    tools: [agentTool({ agent: researcher })],
    limits: { costUsd: 2, children: 20 },
  });
  // #endregion
  return planner;
}

/** An agent that splits a text until the parts are small. */
export function splitter(model: AgentModel): AgentDefinition {
  // #region self
  const counter = defineAgent({
    name: 'counter',
    model,
    signature: '(text :string) -> {names :int}',
    instructions: 'Count the names. Of a long text call `self` with each half, and add.',
    tools: [selfTool()],
    limits: { depth: 3 },
  });
  // #endregion
  return counter;
}

/** Hundreds of readers. Each batch is a run of its own, so no history holds them all. */
export function readersOf(reader: AgentDefinition): AgentDefinition {
  // #region many
  const readers = fanOut('readers', reader, { onFailure: 'null', limits: { costUsd: 5 } });
  // #endregion
  return readers;
}

/** Starts them like any agent: one run of the reader for each page. */
export async function readAll(
  everloop: Everloop,
  pages: readonly string[],
): Promise<{ readonly read: readonly Json[]; readonly failed: number }> {
  // #region pages
  const run = await everloop.start('readers', { task: 'Sum up:', context: { items: pages } });
  const { value } = await run.result();
  const read = Array.isArray(value) ? value.filter((one) => one !== null) : [];
  // #endregion
  return { read, failed: pages.length - read.length };
}

/** A loop that asks two agents at once and takes the longer answer. */
export const longerOf: Next = async (work) => {
  // #region spawn
  const { text: task } = work.state.head.task;
  const found = await Promise.all([
    work.spawn('researcher', { task }),
    work.spawn('researcher', { task: `${task} Look for what speaks against it.` }),
  ]);
  const texts = found.map((one) => (one.kind === 'value' ? one.value : one.text));
  // #endregion
  const [longest = ''] = texts.toSorted(
    (a, b) => JSON.stringify(b).length - JSON.stringify(a).length,
  );
  return { kind: 'end', value: longest };
};

/** Says what each run of a tree is doing. */
export async function lookAt(run: RunHandle): Promise<readonly string[]> {
  // #region look
  const runs = await run.tree();
  return runs.map(({ path, state, waitsFor, usage }) => {
    const doing = waitsFor.length === 0 ? state : `${state}: ${waitsFor.join(', ')}`;
    return `${path} ${doing} (${usage.totalTokens} tokens)`;
  });
  // #endregion
}

/** Answers all questions of a tree, sends a message to one run, and pauses the tree. */
export async function steer(run: RunHandle): Promise<void> {
  // #region steer
  for (const { id, kind } of await run.pending()) {
    if (kind === 'question') await run.answer(id, 'blue');
  }
  const reader = await run.child('planner/1/researcher/1/reader');
  await reader.send('Look at the second source only.', { kind: 'steer' });
  await run.pause({ tree: true });
  // #endregion
}
