/**
 * Agents as tools: a call starts a child run. Options that the tool leaves out come from the agent.
 * Until a worker starts, only the name of that agent may be known.
 */
import { defined } from '../../core/base/defined.ts';
import type { ContextOf } from '../../core/start/agent-types.ts';
import type { ToolSpec } from '../../core/contract/spec.ts';
import { isPlainObject } from '../../core/base/json.ts';
import { agentParameters, TASK_PARAMETERS } from '../../core/signature/agent-parameters.ts';
import { unknownOptions } from '../../core/text/option-names.ts';
import { shown } from '../../core/text/shown.ts';
import { ToolError } from '../../core/base/tool-error.ts';
import { usageErrorOf, type UsageProblem } from '../../core/base/usage-error.ts';
import type { AgentDefinition, ToolChild, ToolDefinition } from '../definition/definitions.ts';
import { expected, fieldProblems, type FieldRules } from '../checks/fields.ts';
import { hasKind, SWITCH, TEXT } from '../checks/kinds.ts';
import { nameProblems } from '../checks/names.ts';
import { TOOL_DEFAULTS } from './tool-options.ts';
import { parameterProblems } from './tool-problems.ts';
import { readObjectSchema, type SchemaInput } from '../schema/value-schema.ts';

/** The options of {@link agentTool}. */
export interface AgentToolOptions<Agent extends AgentDefinition = AgentDefinition> {
  /** An agent definition, which the worker then serves, or the name of an agent of the worker. */
  readonly agent: Agent | string;
  /** The name of the tool. Default: the agent's name. */
  readonly name?: string;
  /** What it does. Default: the agent's description. */
  readonly description?: string;
  /**
   * Schema of the arguments. Default: the inputs of the agent's signature, else `{ task: string }`.
   */
  readonly parameters?: SchemaInput;
  /** Id of a model entry for the child run. Default: the agent's own model. */
  readonly model?: string;
  /** True: results are kept for the run, and an equal call is not run again. Default false. */
  readonly cache?: boolean;
  /** True: equal calls with equal results do not end the run; see `defineTool`. Default false. */
  readonly repeatable?: boolean;
}

const FIELDS: FieldRules<keyof AgentToolOptions> = {
  description: TEXT,
  model: { ...TEXT, wanted: 'to be the id of a model entry' },
  cache: SWITCH,
  repeatable: SWITCH,
  // Checked by `agentTool` itself.
  agent: [],
  name: [],
  parameters: [],
};

/**
 * An agent as a tool of another agent. A call is a child run with its own transcript, under the
 * limits of its caller. The arguments are the context of the child, with `task` as its task; its
 * value is the result.
 *
 * @throws UsageError with all problems of the options, a line each.
 * @example
 * const planner = defineAgent({ name: 'planner', model, tools: [agentTool({ agent: researcher })] });
 */
export function agentTool<Agent extends AgentDefinition = AgentDefinition>(
  options: AgentToolOptions<Agent>,
): ToolDefinition<ContextOf<Agent>> {
  const { agent, name, description, parameters, model, cache, repeatable } = options;
  const reading = parameters === undefined ? undefined : readObjectSchema(parameters);
  const isDefined = typeof agent === 'object' && hasKind(agent, 'agent');
  const agentName = isDefined ? agent.name : typeof agent === 'string' ? agent : '';
  const tool = name ?? agentName;
  const badAgent = agentProblems(agent);
  const problems = [
    ...badAgent,
    ...(badAgent.length > 0 && name === undefined ? [] : nameProblems(tool)),
    ...fieldProblems(options, FIELDS, { code: 'agent_tool', of: `\`${tool}\`` }),
    ...parameterProblems(tool, reading),
    ...unknownOptions(options, Object.keys(FIELDS), `tool \`${tool}\``),
  ];
  if (problems.length > 0) throw usageErrorOf(problems);
  const schema = reading?.kind === 'schema' ? reading.schema : null;
  const definition = childDefinition(tool, { agent: agentName, ...defined({ model }) });
  const child: ToolChild = {
    agent,
    hasDescription: description !== undefined,
    hasParameters: schema !== null,
  };
  const own: ToolDefinition = {
    ...definition,
    spec: {
      ...definition.spec,
      ...defined({
        description,
        parameters: schema === null ? undefined : schema.json,
        cache: cache === true ? true : undefined,
        repeatable: repeatable === true ? true : undefined,
      }),
    },
    standard: schema?.standard ?? null,
    child,
  };
  return isDefined ? resolvedTool(own, agent) : own;
}

/**
 * The agent as a tool of itself, for work that divides into smaller parts of the same kind. The
 * agent needs a `signature` with parameters; the limit `depth` bounds the nesting. `name` is the
 * name of the tool, default `self`.
 *
 * @throws UsageError for a name that is not allowed.
 */
export function selfTool({ name = 'self' }: { readonly name?: string } = {}): ToolDefinition {
  const problems = nameProblems(name);
  if (problems.length > 0) throw usageErrorOf(problems);
  const child: ToolChild = { agent: null, hasDescription: false, hasParameters: false };
  return { ...childDefinition(name, { agent: '' }), child };
}

/** `tool`, completed by the description and parameters of its agent. */
export function resolvedTool(
  tool: ToolDefinition,
  agent: Pick<AgentDefinition, 'name' | 'inputs'> & {
    readonly spec: Pick<AgentDefinition['spec'], 'description' | 'signature'>;
  },
): ToolDefinition {
  const { child, spec } = tool;
  if (child === undefined) return tool;
  const description = agent.spec.description ?? `Runs the agent ${agent.name}.`;
  return {
    ...tool,
    spec: {
      ...spec,
      description: child.hasDescription ? spec.description : description,
      parameters: child.hasParameters
        ? spec.parameters
        : agentParameters(agent.spec.signature?.params, agent.inputs),
      agent: { ...spec.agent, agent: agent.name },
    },
  };
}

function childDefinition(name: string, agent: NonNullable<ToolSpec['agent']>): ToolDefinition {
  return {
    kind: 'tool',
    spec: {
      name,
      description: '',
      parameters: TASK_PARAMETERS,
      effect: 'idempotent',
      local: false,
      timeoutMs: TOOL_DEFAULTS.timeoutMs,
      retry: { ...TOOL_DEFAULTS.retry, attempts: 1 },
      sequential: false,
      maxResultBytes: TOOL_DEFAULTS.maxResultBytes,
      agent,
    },
    standard: null,
    execute: () => {
      throw new ToolError('agents are started by the loop, no activity runs them');
    },
  };
}

function agentProblems(agent: unknown): readonly UsageProblem[] {
  if (typeof agent === 'string' && agent !== '') return [];
  if (isPlainObject(agent) && hasKind(agent, 'agent')) return [];
  const what = '`agent` to be what `defineAgent` returns or the name of an agent';
  return [expected('agent_tool', what, shown(agent), 'Name one.')];
}
