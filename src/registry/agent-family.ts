/**
 * Finds the agents that tools and stages start, and completes tools from the agents that they name.
 */
import type { AgentToolSpec, StageSpec } from '../core/contract/spec.ts';
import type { UsageProblem } from '../core/base/usage-error.ts';
import { adviceFor, expected, shownName } from '../define/checks/fields.ts';
import { resolvedTool } from '../define/tool/agent-tool.ts';
import type { AgentDefinition, ToolDefinition } from '../define/definition/definitions.ts';

/** `agents`, followed by all agents that their tools and stages start, each once. */
export function withChildren(agents: readonly AgentDefinition[]): readonly AgentDefinition[] {
  const all = [...agents];
  // The loop also visits what it pushes.
  for (const { tools, stages = [] } of all) {
    for (const agent of [...tools.map(({ child }) => child?.agent), ...stages]) {
      if (typeof agent === 'object' && agent !== null && !all.includes(agent)) all.push(agent);
    }
  }
  return all;
}

/**
 * `definition` with each tool that names an agent completed from that agent. `agents` are those of
 * the worker; a name that is not among them is a problem.
 */
export function withKnownAgents(
  definition: AgentDefinition,
  agents: ReadonlyMap<string, AgentDefinition>,
): { readonly definition: AgentDefinition; readonly problems: readonly UsageProblem[] } {
  const problems: UsageProblem[] = [];
  const named = definition.tools.flatMap((tool): readonly ToolDefinition[] => {
    const name = tool.child?.agent;
    if (typeof name !== 'string') return [];
    const agent = agents.get(name);
    if (agent !== undefined) return [resolvedTool(tool, agent)];
    problems.push(unknownAgent(`tool \`${tool.spec.name}\``, name, [...agents.keys()]));
    return [];
  });
  if (named.length === 0) return { definition, problems };
  const known = new Map(named.map((tool) => [tool.spec.name, tool]));
  const { spec, tools } = definition;
  return {
    definition: {
      ...definition,
      tools: tools.map((tool) => known.get(tool.spec.name) ?? tool),
      spec: { ...spec, tools: spec.tools.map((tool) => known.get(tool.name)?.spec ?? tool) },
    },
    problems,
  };
}

/** A problem for each agent that a pipeline or fan-out names and that is not `known`. */
export function stageProblems(
  { spec }: AgentDefinition,
  known: readonly string[],
): readonly UsageProblem[] {
  return stagesOf(spec).flatMap(({ place, agents }) =>
    agents.filter((name) => !known.includes(name)).map((name) => unknownAgent(place, name, known)),
  );
}

/** The agents that the tools and stages of an agent start. */
export function childStarts({ spec }: AgentDefinition): readonly AgentToolSpec[] {
  const called = spec.tools.flatMap(({ agent }) => agent ?? []);
  const staged = stagesOf(spec).flatMap(({ agents }) => agents.map((agent) => ({ agent })));
  return [...called, ...staged];
}

/** The agents that a pipeline or fan-out starts, by their place in it. */
function stagesOf({ pipeline, fanOut }: AgentDefinition['spec']): readonly {
  readonly place: string;
  readonly agents: readonly string[];
}[] {
  const stages = (pipeline?.stages ?? []).map((stage, index) => ({
    place: `stage ${index + 1}`,
    agents: agentsOf(stage),
  }));
  return fanOut === undefined ? stages : [{ place: 'its items', agents: [fanOut.agent] }];
}

function agentsOf(stage: StageSpec): readonly string[] {
  switch (stage.kind) {
    case 'agent':
      return [stage.agent];
    case 'parallel':
      return stage.agents;
    case 'human':
      return [];
  }
}

function unknownAgent(place: string, name: string, known: readonly string[]): UsageProblem {
  const what = `the agent of ${place} among those of the worker (${known.join(', ')})`;
  const advice = adviceFor(name, known, 'Add it to `agents`.');
  return expected('unknown_agent', what, shownName(name), advice);
}
