/** The examples of docs/trees.md: agents that call agents. */
import {
  agentTool,
  defineAgent,
  selfTool,
  type AgentDefinition,
  type AgentModel,
} from '../../src/index.ts';
import type { Next } from '../../src/workflow.ts';

/** A planner that sends researchers out. */
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
