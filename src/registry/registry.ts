/** Builds the registry of a worker: its agents with their tools and validators, and its models. */
import { defined } from '../core/base/defined.ts';
import { childStarts, stageProblems, withChildren, withKnownAgents } from './agent-family.ts';
import { compileAgent, unknownModel } from './compile-agent.ts';
import type {
  AgentDefinition,
  RegisteredAgent,
  Registry,
  ToolDefinition,
} from '../define/definition/definitions.ts';
import type { McpServerDefinition } from '../define/definition/mcp-server.ts';
import { expected } from '../define/checks/fields.ts';
import { hasKind } from '../define/checks/kinds.ts';
import { notHere } from '../define/tool/define-llm-tool.ts';
import type { ModelOrder } from '../core/contract/host-order.ts';
import type { ModelFailure } from '../models/model-failures.ts';
import { packageFolders } from '../models/providers/find-package.ts';
import type { ModelEntry } from '../define/model/model-entry.ts';
import { findEntry, namedModel } from '../define/model/provider-models.ts';
import type { KnownModels } from './known-prices.ts';
import { strictProblems } from '../define/agent/strict-problems.ts';
import { modelEntryProblems } from '../define/model/model-problems.ts';
import { searchTool } from '../tools/search-tool.ts';
import type { AgentToolSpec } from '../core/contract/spec.ts';
import { shown } from '../core/text/shown.ts';
import { isTreeLimit } from '../core/tree/ledger.ts';
import { usageErrorOf, type UsageProblem } from '../core/base/usage-error.ts';
import { ASK_TOOL } from '../core/toolchain/ask-user.ts';
import { LLM_QUERY_TOOL } from '../core/toolchain/llm-query.ts';
import { ToolError } from '../core/base/tool-error.ts';

/** What a registry is made from. */
export interface RegistryOptions {
  readonly agents: readonly AgentDefinition[];
  /** Entries that agents name by id; entries inside an agent definition need not be here. */
  readonly models?: readonly ModelEntry[];
  /** The module that exports the agents: packages of providers are looked for from its folder. */
  readonly agentsModule?: string;
  /** What is known of models without a price or a context window of their own. Default: nothing. */
  readonly knownModels?: KnownModels;
}

/**
 * The registry of a worker. Compiles every agent once, so that an agent that cannot run is found
 * when the worker starts.
 *
 * @throws UsageError with all problems of all agents and models, a line each.
 */
export function createRegistry(options: RegistryOptions): Registry {
  const problems: UsageProblem[] = [];
  const listed = options.agents.filter((agent, index) => {
    const fits = hasKind(agent, 'agent');
    if (!fits) problems.push(notAnAgent(agent, index));
    return fits;
  });
  const definitions = withChildren(listed);
  const byName = new Map(definitions.map((definition) => [definition.name, definition]));
  const given = options.models ?? [];
  const inline = inlineEntries(definitions, given);
  const own = [...given, ...inline.entries];
  problems.push(...modelEntryProblems(own), ...inline.problems);
  const { knownModels } = options;
  const named = knownModels === undefined ? [] : namedEntries(definitions, own);
  const entries = [...own, ...named].map((entry) => withKnown(entry, knownModels));
  const models = new Map(entries.map((entry) => [entry.id, entry]));
  const prices = new Map(
    entries.flatMap(({ id, price }) => (price == null ? [] : [[id, price] as const])),
  );
  const agents = new Map<string, RegisteredAgent>();
  for (const definition of definitions) {
    const { name } = definition;
    if (agents.has(name)) {
      problems.push(duplicateAgent(name));
      continue;
    }
    const known = withKnownAgents(definition, byName);
    agents.set(name, registered(known.definition, prices));
    const compiled = compileAgent(known.definition, models);
    problems.push(
      ...ownedBy(definition, [
        ...known.problems,
        ...stageProblems(definition, [...byName.keys()]),
        ...toolModelProblems(known.definition, models),
        ...unstrictProblems(known.definition, models),
        ...(compiled.kind === 'problems' ? compiled.problems : []),
      ]),
    );
  }
  for (const definition of definitions) {
    problems.push(...ownedBy(definition, costProblemsBelow(definition.name, agents, models)));
  }
  const servers = serversByName(definitions);
  problems.push(...servers.problems);
  if (problems.length > 0) throw usageErrorOf(problems);
  const folders = packageFolders(options.agentsModule);
  return { agents, models, packageFolders: folders, ...defined({ servers: servers.byName }) };
}

/** Problems with the name of their agent in front: ``Agent `triage`: ``. */
function ownedBy(
  { name, spec }: AgentDefinition,
  problems: readonly UsageProblem[],
): readonly UsageProblem[] {
  const noun = spec.pipeline === undefined ? 'Agent' : 'Pipeline';
  const owner = `${spec.fanOut === undefined ? noun : 'Fan-out'} \`${name}\``;
  return problems.map(({ code, message }) => ({ code, message: `${owner}: ${message}` }));
}

/** A model that a tool names for its agent must be one of the worker's. */
function toolModelProblems(
  { tools }: AgentDefinition,
  models: ReadonlyMap<string, ModelEntry>,
): readonly UsageProblem[] {
  return tools.flatMap(({ spec }) => {
    const id = spec.agent?.model;
    return id === undefined || findEntry(models, id) !== undefined
      ? []
      : [unknownModel(id, models)];
  });
}

/** The schemas of an agent that a strict entry, which it names by its id or falls back to, cannot have. */
function unstrictProblems(
  { model, spec, tools }: AgentDefinition,
  models: ReadonlyMap<string, ModelEntry>,
): readonly UsageProblem[] {
  const own = typeof model === 'string' ? findEntry(models, model) : model;
  if (own == null) return [];
  const others = (own.fallbacks ?? []).flatMap((id) => findEntry(models, id) ?? []);
  // An entry in the definition was checked with it.
  const entries = own === model ? others : [own, ...others];
  return entries.flatMap((entry) =>
    strictProblems(entry, spec, tools).map(({ code, message }) => ({
      code,
      message: `Model \`${entry.id}\` is strict. ${message}`,
    })),
  );
}

/** Models without a price in agents below `name`, whose cost limits apply to them as well. */
function costProblemsBelow(
  name: string,
  agents: ReadonlyMap<string, RegisteredAgent>,
  models: ReadonlyMap<string, ModelEntry>,
): readonly UsageProblem[] {
  const definition = agents.get(name)?.definition;
  const compiled = definition === undefined ? null : compileAgent(definition, models);
  // Problems of the agent itself are reported with the agent.
  if (compiled?.kind !== 'agent') return [];
  const limits = compiled.spec.limits.filter(isTreeLimit);
  const starts: AgentToolSpec[] = [{ agent: name }];
  const problems = new Map<string, UsageProblem>();
  // The loop also visits what it pushes.
  for (const { agent, model } of starts) {
    const child = agents.get(agent)?.definition;
    if (child === undefined) continue;
    const below = compileAgent(child, models, defined({ model }), limits);
    for (const { code, message } of below.kind === 'problems' ? below.problems : []) {
      const whole = `${message} Its child \`${agent}\` uses it.`;
      if (code === 'cost_without_price') problems.set(whole, { code, message: whole });
    }
    const isNew = (next: AgentToolSpec): boolean =>
      !starts.some((known) => known.agent === next.agent && known.model === next.model);
    starts.push(...childStarts(child).filter(isNew));
  }
  return [...problems.values()];
}

/** The failure of a call whose model this worker lacks: asking this worker again cannot help. */
export function missingModel(
  registry: Registry,
  { model: id }: Pick<ModelOrder, 'model'>,
): ModelFailure {
  const known = [...registry.models.keys()].join(', ');
  const message = `Expected a model that this worker knows (${known}), got ${id}. Add it to \`models\`.`;
  return { code: 'model_error', retryable: false, message };
}

function registered(
  definition: AgentDefinition,
  prices: RegisteredAgent['prices'],
): RegisteredAgent {
  const search = searchTool(definition);
  const tools = [...definition.tools, ...loopTools(definition), ...(search ? [search] : [])];
  return {
    definition,
    tools: new Map(tools.map((tool) => [tool.spec.name, tool])),
    validators: new Map(definition.validators.map((validator) => [validator.name, validator])),
    prices,
  };
}

/**
 * The entries inside agent definitions that are not among those given, each once. Two different
 * models under one id are a problem: requests would go to the first of them.
 */
function inlineEntries(
  definitions: readonly AgentDefinition[],
  given: readonly ModelEntry[],
): { readonly entries: readonly ModelEntry[]; readonly problems: readonly UsageProblem[] } {
  const entries: ModelEntry[] = [];
  const problems: UsageProblem[] = [];
  const named = definitions.flatMap(({ model, tools }) => [
    model,
    ...tools.map((tool) => tool.model),
  ]);
  for (const entry of named) {
    if (entry === undefined || entry === null || typeof entry === 'string') continue;
    const known = [...given, ...entries].find(({ id }) => id === entry.id);
    if (known === undefined) entries.push(entry);
    else if (known.model !== entry.model) problems.push(twoModels(entry.id));
  }
  return { entries, problems };
}

/** Entries for the models that agents and entries name by their provider. */
function namedEntries(
  definitions: readonly AgentDefinition[],
  own: readonly ModelEntry[],
): readonly ModelEntry[] {
  const ids = [
    ...definitions.flatMap(({ model, tools }) => [model, ...tools.map((tool) => tool.model)]),
    ...own.flatMap(({ fallbacks = [] }) => fallbacks),
  ].filter((id) => typeof id === 'string');
  return [...new Set(ids)].flatMap((id) =>
    namedModel(id) === undefined || own.some((entry) => entry.id === id) ? [] : [{ id, model: id }],
  );
}

/** The entry with what is known of its model, where it does not say it itself. */
function withKnown(
  { price, ...entry }: ModelEntry,
  knownModels: KnownModels | undefined,
): ModelEntry {
  const known = knownModels?.(entry.model);
  const ownPrice = price === undefined ? known?.price : price;
  return {
    ...defined({ contextWindow: known?.contextWindow }),
    ...entry,
    ...defined({ price: ownPrice }),
  };
}

/** Calls name their server, so two different ones under a name are a problem. */
function serversByName(definitions: readonly AgentDefinition[]): {
  readonly byName: Registry['servers'];
  readonly problems: readonly UsageProblem[];
} {
  const byName = new Map<string, McpServerDefinition>();
  const problems: UsageProblem[] = [];
  for (const server of definitions.flatMap(({ servers = [] }) => servers)) {
    const { name } = server;
    const known = byName.get(name);
    if (known === undefined) byName.set(name, server);
    else if (known !== server) problems.push(twoServers(name));
  }
  return { byName: byName.size === 0 ? undefined : byName, problems };
}

function twoServers(name: string): UsageProblem {
  const advice = 'Share one between the agents, or rename one.';
  return expected('duplicate_server', `one MCP server named \`${name}\``, 'two objects', advice);
}

function twoModels(id: string): UsageProblem {
  const advice = 'Share one between the agents, or give them entries with ids of their own.';
  return expected('duplicate_model', `one model under the id \`${id}\``, 'two objects', advice);
}

function notAnAgent(value: unknown, index: number): UsageProblem {
  const what = `\`agents[${index}]\` to be what \`defineAgent\` returns`;
  return expected('definition', what, shown(value), 'Define it with `defineAgent`.');
}

function duplicateAgent(name: string): UsageProblem {
  const got = `two agents named \`${name}\``;
  return expected('duplicate_agent', 'agent names to be unique', got, 'Rename one.');
}

/** The built-in tools that the loop runs itself; the worker checks their arguments. */
function loopTools({ spec }: AgentDefinition): readonly ToolDefinition[] {
  return spec.tools.flatMap((tool): readonly ToolDefinition[] => {
    const execute = NOT_HERE.get(tool.name);
    return execute === undefined ? [] : [{ kind: 'tool', spec: tool, standard: null, execute }];
  });
}

const NOT_HERE = new Map([
  [ASK_TOOL, notAsked],
  [LLM_QUERY_TOOL, notHere],
]);

function notAsked(): never {
  throw new ToolError('questions are asked by the loop, no activity runs them');
}
