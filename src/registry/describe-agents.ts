/**
 * Describes the agents of a worker as plain data. What is long is left out, because each reader gets
 * the whole list.
 */
import { defined } from '../core/base/defined.ts';
import { byteSize, type Json } from '../core/base/json.ts';
import type {
  AgentDescription,
  AgentToolDescription,
} from '../core/streaming/agent-description.ts';
import type { Limit } from '../core/contract/limit.ts';
import type { ToolSpec } from '../core/contract/spec.ts';
import { compileLimits } from '../core/start/compile-limits.ts';
import { clip } from '../core/text/cut.ts';
import type { AgentDefinition, Registry } from '../define/definition/definitions.ts';
import type { ModelEntry } from '../define/model/model-entry.ts';
import { compileAgent } from './compile-agent.ts';
import { hasDefaultCostLimit } from './default-cost-limit.ts';

const MAX_TEXT = 2_000;
const MAX_TOOLS = 200;
const MAX_TOOL_SCHEMA_BYTES = 16_384;
const MAX_INPUTS_BYTES = 65_536;

/** UTF-8 bytes of an agent with the schemas of its tools; a larger one is described without them. */
const MAX_AGENT_BYTES = 262_144;

/** UTF-8 bytes of all descriptions of a worker, as JSON. */
export const MAX_DESCRIPTIONS_BYTES = 1_048_576;

/** Descriptions by name, and how many agents were left out because they are too many. */
export interface DescribedAgents {
  readonly agents: readonly AgentDescription[];
  readonly more: number;
}

/** The agents of `registry`, each with the limits of a run that is started without any. */
export function describeAgents(registry: Registry): DescribedAgents {
  const all = [...registry.agents.values()]
    .map(({ definition }) => {
      const hasCostLimit = hasDefaultCostLimit(registry, { agent: definition.name });
      return fitted(describeAgent(definition, registry.models, hasCostLimit));
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  let bytes = 0;
  const agents = all.filter((agent) => {
    const own = sizeOf(agent);
    if (bytes + own > MAX_DESCRIPTIONS_BYTES) return false;
    bytes += own;
    return true;
  });
  return { agents, more: all.length - agents.length };
}

function fitted(agent: AgentDescription): AgentDescription {
  if (sizeOf(agent) <= MAX_AGENT_BYTES) return agent;
  return { ...agent, tools: agent.tools.map(({ schema: _schema, ...tool }) => tool) };
}

/** One agent. `hasCostLimit`: the default limit on cost is among its limits. */
export function describeAgent(
  definition: AgentDefinition,
  models: ReadonlyMap<string, ModelEntry>,
  hasCostLimit: boolean,
): AgentDescription {
  const { name, spec, tools, inputs, servers = [] } = definition;
  const compiled = compileAgent(definition, models);
  const more = tools.length - MAX_TOOLS;
  return {
    name,
    description: clip(spec.description ?? '', MAX_TEXT),
    mode: spec.mode,
    models:
      compiled.kind === 'agent' ? compiled.spec.models.map(({ id }) => id) : ownId(definition),
    signature: spec.signature === undefined ? null : clip(spec.signature.text, MAX_TEXT),
    parameters: inputs !== undefined && sizeOf(inputs) <= MAX_INPUTS_BYTES ? inputs : null,
    tools: tools.slice(0, MAX_TOOLS).map((tool) => describeTool(tool.spec)),
    ...defined({ moreTools: more > 0 ? more : undefined }),
    servers: servers.map((server) => server.name),
    limits: limitsOf(definition, hasCostLimit),
  };
}

function limitsOf(
  { limits, maxTurns, spec: { mode } }: AgentDefinition,
  hasCostLimit: boolean,
): readonly Limit[] {
  const sources = { definition: limits, maxTurns, start: undefined, mode, hasCostLimit };
  const compiled = compileLimits(sources);
  return compiled.kind === 'problems' ? [] : compiled.limits;
}

/** The model that it names, for an agent whose models are not all known. */
function ownId({ model }: AgentDefinition): readonly string[] {
  if (model === null) return [];
  return [typeof model === 'string' ? model : model.id];
}

function describeTool(spec: ToolSpec): AgentToolDescription {
  const { name, effect, approval, parameters } = spec;
  const fits = parameters === null || sizeOf(parameters) <= MAX_TOOL_SCHEMA_BYTES;
  return {
    name,
    description: clip(spec.description, MAX_TEXT),
    effect,
    ...defined({ approval, schema: fits ? parameters : undefined }),
  };
}

function sizeOf(value: object): number {
  return byteSize(value as Json);
}
