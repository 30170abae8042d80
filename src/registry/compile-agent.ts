/**
 * Compiles an agent definition, the worker's models and the options of a start to a specification.
 */
import { defined } from '../core/base/defined.ts';
import { isAboutContext } from '../core/compaction/trigger.ts';
import type { CompactionSpec, StrategySpec } from '../core/contract/compaction.ts';
import type { AgentInput } from '../core/contract/input.ts';
import type { AgentSpec, ModelSpec, ToolModelSpec } from '../core/contract/spec.ts';
import type { CallSettings, ToolChoice } from '../core/contract/model.ts';
import { mergeSettings, toolChoiceProblem } from '../core/model/call-settings.ts';
import { compiledText } from '../core/program-text/compiled.ts';
import { covers } from '../core/limits/breach.ts';
import { compileCallbacks } from '../core/start/callback-specs.ts';
import { compileLimits } from '../core/start/compile-limits.ts';
import type { Limit } from '../core/contract/limit.ts';
import { self, statKeyInfo, statRowsUnder } from '../core/stats/stat-keys.ts';
import type { UsageProblem } from '../core/base/usage-error.ts';
import { DEFAULT_COMPACTION } from '../define/agent/define-compaction.ts';
import { adviceFor, expected, shownName } from '../define/checks/fields.ts';
import type { AgentDefinition } from '../define/definition/definitions.ts';
import { isDataMode } from '../define/agent/mode-problems.ts';
import { structuredOutputOf } from '../models/model-call-options.ts';
import type { ModelEntry } from '../define/model/model-entry.ts';
import { mayRunHosted } from '../define/tool/hosted-tool.ts';
import { feeOf } from '../core/model/cost.ts';
import { findEntry } from '../define/model/provider-models.ts';

/** A likely mistake that does not keep a run from starting; it becomes a warning event. */
export interface AgentWarning {
  readonly code: string;
  readonly message: string;
}

/** A specification, or all problems that prevent it. */
export type AgentCompilation =
  | {
      readonly kind: 'agent';
      readonly spec: AgentSpec;
      readonly warnings: readonly AgentWarning[];
    }
  | { readonly kind: 'problems'; readonly problems: readonly UsageProblem[] };

/** What of a start is part of the specification. */
type CompiledStart = Pick<
  AgentInput,
  'limits' | 'model' | 'settings' | 'toolChoice' | 'compiled' | 'onEvent' | 'parent'
>;

/**
 * The specification of a run of `definition`. `start` may replace its model and single limits;
 * `above` are the limits of ancestors, which apply to it as well. With `hasCostLimit`, the default
 * limit on cost is among its own.
 */
export function compileAgent(
  definition: AgentDefinition,
  models: ReadonlyMap<string, ModelEntry>,
  start: CompiledStart = {},
  above: readonly Limit[] = [],
  hasCostLimit = false,
): AgentCompilation {
  const chosen = chooseModels(definition, models, start.model);

  const compiled = compileLimits({
    definition: definition.limits,
    // A compiled program runs once, without a model.
    maxTurns: start.compiled === undefined ? definition.maxTurns : 1,
    start: start.limits,
    mode: definition.spec.mode,
    hasCostLimit,
  });
  const compacting = compileCompaction(definition.compaction, models);
  const asked = compileToolModels(definition, models, chosen);
  const problems = [
    ...asked.problems,
    ...choiceProblems(definition, start.toolChoice),
    ...chosen.problems,
    ...(compiled.kind === 'problems' ? compiled.problems : []),
    ...compacting.problems,
  ];
  if (compiled.kind === 'problems' || problems.length > 0) return { kind: 'problems', problems };
  const { limits } = compiled;
  const [model] = chosen.models;
  // A mode without tools holds no conversation that could become too long.
  const isData = isDataMode(definition.spec);
  const whenDefault = isData || model === undefined ? undefined : defaultCompaction(model);
  const compaction = compacting.spec === 'default' ? whenDefault : compacting.spec;
  const used = [...chosen.models, ...compacting.models, ...asked.models];
  const lacking = [
    ...costProblems([...limits, ...above], used),
    ...feeProblems([...limits, ...above], unpricedTools(definition, models, start.model)),
    ...(model === undefined ? [] : windowProblems(compaction, model)),
  ];
  if (lacking.length > 0) return { kind: 'problems', problems: lacking };
  const settings = mergeSettings(definition.spec.settings, start.settings);
  const mayChoose = definition.prepare !== undefined && chosen.models.length > 1;
  const spec: AgentSpec = {
    ...definition.spec,
    ...handedOn(definition.spec, start.model),
    models: withMaxTokens(chosen.models, settings),
    ...defined({ choosesModel: mayChoose ? (true as const) : undefined }),
    ...defined({ settings, toolChoice: start.toolChoice ?? definition.spec.toolChoice }),
    ...defined({ compiled: start.compiled && compiledText(start.compiled) }),
    ...toolModels(definition, models, [...asked.models], [...limits, ...above]),
    limits,
    onUnknownUsage: 'estimate',
    ...calledBack(definition, start),
    ...defined({ compaction }),
  };
  return { kind: 'agent', spec, warnings: limitWarnings(spec, used) };
}

/**
 * The problems of the choice of a start. Only mode `chat` sends tools to a provider, which may force a
 * call. The tools of servers are not known here.
 */
function choiceProblems(
  { spec: { mode, tools }, servers }: AgentDefinition,
  choice: ToolChoice | undefined,
): readonly UsageProblem[] {
  if (choice === undefined) return [];
  if (mode !== 'chat') {
    const advice = 'Leave it out, or use mode `chat`.';
    return [expected('mode_option', `no \`toolChoice\` in mode \`${mode}\``, 'one', advice)];
  }
  const names = servers === undefined ? tools.map(({ name }) => name) : undefined;
  const message = toolChoiceProblem(choice, names);
  return message === undefined ? [] : [{ code: 'agent_option', message }];
}

/** Budgets count with the longest reply: the settings may allow a longer one than the entry. */
function withMaxTokens(
  models: AgentSpec['models'],
  settings: CallSettings | undefined,
): AgentSpec['models'] {
  const { maxOutputTokens: asked = 0 } = settings ?? {};
  return models.map((model) => {
    const { maxOutputTokens: own = asked } = model;
    return own < asked ? { ...model, maxOutputTokens: asked } : model;
  });
}

/**
 * The callbacks of the definition and of the start; none is recorded if there are none. A run for a
 * part of the list of a fan-out has only those that it inherits: its end is not the fan-out's.
 */
function calledBack(
  { name, onEvent, spec }: AgentDefinition,
  start: Pick<AgentInput, 'onEvent' | 'parent'>,
): Pick<AgentSpec, 'onEvent'> {
  const isPart = spec.fanOut !== undefined && start.parent?.agent === name;
  const callbacks = compileCallbacks(isPart ? undefined : onEvent, start.onEvent);
  return callbacks.length === 0 ? {} : { onEvent: callbacks };
}

/** The model of a start applies to all stages of a pipeline and to all runs of a fan-out. */
function handedOn(
  { pipeline, fanOut }: AgentDefinition['spec'],
  model: string | undefined,
): Pick<AgentSpec, 'pipeline' | 'fanOut'> {
  if (model === undefined) return {};
  return defined({
    pipeline: pipeline && { ...pipeline, model },
    fanOut: fanOut && { ...fanOut, model },
  });
}

/**
 * The models that a run of `definition` may ask: its own, those of its LLM tools and those that
 * write summaries; undefined for one that the worker does not have.
 */
export function usedModels(
  definition: AgentDefinition,
  models: ReadonlyMap<string, ModelEntry>,
  wanted: string | undefined,
): readonly (ModelSpec | undefined)[] {
  const chosen = chooseModels(definition, models, wanted);
  const asked = compileToolModels(definition, models, chosen);
  const compacting = compileCompaction(definition.compaction, models);
  const problems = [...chosen.problems, ...asked.problems, ...compacting.problems];
  const any = namesAnyModel(definition) ? [...models.values()] : [];
  const named = [...chosen.models, ...asked.models, ...compacting.models, ...any.map(modelSpec)];
  return [...named, ...problems.map(() => undefined)];
}

/** Whether a tool of the agent may name any model of the worker. */
function namesAnyModel({ spec }: AgentDefinition): boolean {
  return spec.tools.some(({ llm }) => llm !== undefined && llm.prompt === undefined);
}

interface ChosenModels {
  /** The model and its fallbacks; empty without a model, or with a problem. */
  readonly models: AgentSpec['models'];
  readonly problems: readonly UsageProblem[];
}

function chooseModels(
  definition: AgentDefinition,
  models: ReadonlyMap<string, ModelEntry>,
  wanted: string | undefined,
): ChosenModels {
  const { model: own, spec } = definition;
  const isJson = spec.mode === 'json';
  const id = wanted ?? (typeof own === 'string' ? own : own?.id);
  if (id === undefined) return { models: [], problems: [] };
  const entry = findEntry(models, id);
  if (entry === undefined) return { models: [], problems: [unknownModel(id, models)] };
  // An agent without a model passes it to the agents that it starts.
  const used = definition.model === null ? [] : withFallbacks(entry, models, isJson);
  return { models: used, problems: [] };
}

/** An entry and its fallbacks, in the order in which they are tried. */
function withFallbacks(
  entry: ModelEntry,
  models: ReadonlyMap<string, ModelEntry>,
  isStructured = false,
): AgentSpec['models'] {
  const fallbacks = (entry.fallbacks ?? []).flatMap((name) => findEntry(models, name) ?? []);
  const specOf = (it: ModelEntry): ModelSpec =>
    isStructured ? { ...modelSpec(it), ...outputSpec(it) } : modelSpec(it);
  return [specOf(entry), ...fallbacks.map(specOf)];
}

/** The problem of a model id that no entry of the worker has. */
export function unknownModel(id: string, models: ReadonlyMap<string, ModelEntry>): UsageProblem {
  const known = [...models.keys()];
  const what = `a model that the worker has (${known.join(', ') || 'it has none'})`;
  const advice = adviceFor(id, known, 'Add an entry for it.');
  return expected('unknown_model', what, shownName(id), advice);
}

function modelSpec({ id, contextWindow, maxOutputTokens, price }: ModelEntry): ModelSpec {
  return defined({ id, contextWindow, maxOutputTokens, price: price ?? undefined });
}

/** How an entry asks for structured output: decided once, so that it stays the same for a run. */
function outputSpec(entry: ModelEntry): Pick<ModelSpec, 'structuredOutput'> {
  return { structuredOutput: structuredOutputOf(entry) };
}

/** The models of LLM tools, each with its fallbacks; a tool that names none uses the run's. */
function compileToolModels(
  { spec }: AgentDefinition,
  models: ReadonlyMap<string, ModelEntry>,
  chosen: ChosenModels,
): { readonly models: readonly ToolModelSpec[]; readonly problems: readonly UsageProblem[] } {
  const tools = spec.tools.flatMap(({ llm }) => llm ?? []);
  const own = chosen.models.slice(0, 1).map(({ id }) => id);
  const ids = unique(tools.flatMap(({ model }) => (model === undefined ? own : [model])));
  return {
    models: withStandIns(ids, models),
    problems: ids.flatMap((id) => (findEntry(models, id) ? [] : [unknownModel(id, models)])),
  };
}

/**
 * `llm_query` may name any model of the worker; under a cost limit, any model with a price.
 */
function toolModels(
  definition: AgentDefinition,
  models: ReadonlyMap<string, ModelEntry>,
  asked: readonly ToolModelSpec[],
  limits: readonly Limit[],
): Pick<AgentSpec, 'toolModels'> {
  if (asked.length === 0) return {};
  const countable = (id: string): boolean =>
    costProblems(limits, withStandIns([id], models)).length === 0;
  const any = namesAnyModel(definition) ? [...models.keys()].filter(countable) : [];
  return { toolModels: withStandIns(unique([...asked.map(({ id }) => id), ...any]), models) };
}

/** The entries of `ids` and of their fallbacks, each once. */
function withStandIns(
  ids: readonly string[],
  models: ReadonlyMap<string, ModelEntry>,
): readonly ToolModelSpec[] {
  const all = unique(ids.flatMap((id) => [id, ...(findEntry(models, id)?.fallbacks ?? [])]));
  return all.flatMap((id) => {
    const entry = findEntry(models, id);
    if (entry === undefined) return [];
    const { fallbacks = [] } = entry;
    const isAsked = ids.includes(id) && fallbacks.length > 0;
    return [
      {
        ...modelSpec(entry),
        ...outputSpec(entry),
        ...defined({ fallbacks: isAsked ? fallbacks : undefined }),
      },
    ];
  });
}

function unique(ids: readonly string[]): readonly string[] {
  return [...new Set(ids)];
}

interface CompiledCompaction {
  readonly spec: CompactionSpec | 'default';
  /** The models that only write summaries. */
  readonly models: readonly ModelSpec[];
  readonly problems: readonly UsageProblem[];
}

/** What `compaction: false` means. */
const NEVER: CompactionSpec = { triggers: [], strategies: [] };

/** Adds fallbacks to the models that strategies name. */
function compileCompaction(
  given: AgentDefinition['compaction'],
  models: ReadonlyMap<string, ModelEntry>,
): CompiledCompaction {
  if (given === undefined) return { spec: 'default', models: [], problems: [] };
  if (given === false) return { spec: NEVER, models: [], problems: [] };
  const used: ModelSpec[] = [];
  const problems: UsageProblem[] = [];
  const strategies = given.strategies.map((strategy): StrategySpec => {
    if (!('models' in strategy)) return strategy;
    const found = strategy.models.flatMap((id) => {
      const entry = findEntry(models, id);
      if (entry !== undefined) return withFallbacks(entry, models);
      problems.push(unknownModel(id, models));
      return [];
    });
    used.push(...found);
    return { ...strategy, models: found.map(({ id }) => id) };
  });
  return { spec: { triggers: given.triggers, strategies }, models: used, problems };
}

/** The default compaction watches the context window, so it needs a known one. */
function defaultCompaction({ contextWindow }: ModelSpec): CompactionSpec | undefined {
  return contextWindow === undefined ? undefined : DEFAULT_COMPACTION;
}

/** A trigger on a share of the context window never fires when the size is unknown. */
function windowProblems(
  compaction: CompactionSpec | undefined,
  { id, contextWindow }: ModelSpec,
): readonly UsageProblem[] {
  const needsWindow = compaction?.triggers.some(isAboutContext) ?? false;
  if (!needsWindow || contextWindow !== undefined) return [];
  const message = `Expected a \`contextWindow\` for the model under a \`context\` trigger, got none for \`${id}\`. Add it to the entry, or remove the trigger.`;
  return [{ code: 'no_context_window', message }];
}

const COST_KEY = 'agent:cost_microusd';

/** A cost limit never trips for a model without a price. */
function costProblems(
  limits: readonly Limit[],
  models: readonly ModelSpec[],
): readonly UsageProblem[] {
  // A default keeps no run from starting: models that no agent names have no price perhaps.
  const costLimits = limits.filter((limit) => limit.byDefault !== true && isAboutCost(limit));
  const isWatched = (id: string): boolean =>
    [COST_KEY, `${COST_KEY}:${id}`].some((key) =>
      costLimits.some((limit) => covers(limit, key) || covers(limit, self(key))),
    );
  return models
    .filter(({ id, price }) => price === undefined && isWatched(id))
    .map(({ id }) => ({
      code: 'cost_without_price',
      message: `Expected a \`price\` for every model under a cost limit, got none for \`${id}\`. Add it to the model's entry, such as \`{ id, model, price: { input: 0.25, output: 2 } }\` in dollars per million tokens, or remove the limit.`,
    }));
}

/** The hosted tools of an agent that one of its models may run without a price, and that model. */
export function unpricedTools(
  definition: AgentDefinition,
  models: ReadonlyMap<string, ModelEntry>,
  wanted: string | undefined,
): readonly { readonly tool: string; readonly model: string }[] {
  const { hosted = [] } = definition.spec;
  if (hosted.length === 0) return [];
  return chooseModels(definition, models, wanted).models.flatMap(({ id }) => {
    const entry = findEntry(models, id);
    if (entry === undefined) return [];
    return hosted
      .filter((tool) => mayRunHosted(entry.model, tool.id))
      .filter(({ name }) => feeOf(name, entry.hostedPrice) === undefined)
      .map(({ name }) => ({ tool: name, model: id }));
  });
}

/** The fees of hosted tools are in no price of tokens. */
function feeProblems(
  limits: readonly Limit[],
  unpriced: ReturnType<typeof unpricedTools>,
): readonly UsageProblem[] {
  if (!limits.some((limit) => limit.byDefault !== true && isAboutCost(limit))) return [];
  return unpriced.map(({ tool, model }) => ({
    code: 'cost_without_price',
    message: `Expected a price for each call of \`${tool}\` under a cost limit, got none for \`${model}\`. Add it to the model's entry, such as \`hostedPrice: { ${tool}: 0.01 }\` in dollars for each call, or remove the limit.`,
  }));
}

/** Whether a limit watches only costs; a prefix may be shorter than the key of costs. */
function isAboutCost({ kind, key }: Limit): boolean {
  const rows = kind === 'prefix' ? statRowsUnder(key) : [statKeyInfo(key)?.row];
  return rows.length > 0 && rows.every((row) => row?.key === COST_KEY);
}

/** A limit on a tool, a model or a validator that the agent does not have never trips. */
function limitWarnings(spec: AgentSpec, models: readonly ModelSpec[]): readonly AgentWarning[] {
  const names = {
    model: models.map(({ id }) => id),
    tool: [...[...spec.tools, ...(spec.hosted ?? [])].map(({ name }) => name), '(unknown)'],
    validator: spec.answer.validators,
  };
  return spec.limits.flatMap(({ kind, key }) => {
    const info = kind === 'exact' ? statKeyInfo(key) : undefined;
    const per = info?.row.per.find((form) => form !== 'none');
    if (info?.name === undefined || per === undefined) return [];
    if (names[per].includes(info.name)) return [];
    const message = `The limit on \`${key}\` never trips: agent \`${spec.name}\` has no ${per} \`${info.name}\`.`;
    return [{ code: 'unused_limit', message }];
  });
}
