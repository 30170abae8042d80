/** Checks the input of a run and compiles the specification of the agent that it names. */
import { defined } from '../core/base/defined.ts';
import type { AgentInput, ScheduledStart } from '../core/contract/input.ts';
import { INLINE_SIZES, type SizeLimits } from '../core/base/size-limits.ts';
import { tenantProblem } from '../core/tenant/tenant.ts';
import type { AgentSpec, ToolSpec, ToolStub } from '../core/contract/spec.ts';
import { byteSize, isPlainObject, type Json } from '../core/base/json.ts';
import type { UsageProblem } from '../core/base/usage-error.ts';
import { shown } from '../core/text/shown.ts';
import { callbackProblems } from '../core/start/callback-specs.ts';
import {
  prepareInput,
  type PreparedInput,
  type Refusal,
  type RunMaterial,
} from '../core/start/prepare-input.ts';
import { MAX_ID_CHARACTERS } from '../core/base/ids.ts';
import { isConversationId, memoryProblem } from '../core/start/start-input.ts';
import { actorProblem } from '../core/start/check-input.ts';
import { traceProblem } from '../core/start/trace-input.ts';
import { compileAgent, type AgentWarning } from './compile-agent.ts';
import { hasDefaultCostLimit } from './default-cost-limit.ts';
import type {
  AgentDefinition,
  Registry,
  RegisteredAgent,
} from '../define/definition/definitions.ts';
import { schemaLines } from '../tools/fit-value.ts';
import {
  adviceFor,
  expected,
  fieldProblems,
  type Fields,
  type FieldRules,
} from '../define/checks/fields.ts';
import { isString, listOf, STRING } from '../define/checks/kinds.ts';
import { MEDIA_LIST } from '../define/tool/tool-result.ts';
import type { McpListing } from '../define/mcp/mcp-tools.ts';
import { withBuiltIn } from './built-in-agents.ts';
import { withListedTools } from './listed-tools.ts';
import { missingParts } from './missing-parts.ts';
import { settingsProblems, toolChoiceProblem } from '../core/model/call-settings.ts';
import { compiledCodeId, isCompiled } from '../core/program-text/compiled.ts';

/** An agent ready to run: plain data, all that the loop needs to begin. */
export interface PreparedAgent {
  readonly spec: AgentSpec;
  readonly warnings: readonly AgentWarning[];
  /** Task, context and memory after templates and checks; absent: as they were given. */
  readonly material?: RunMaterial;
  /** Why the run ends before its first iteration. */
  readonly refusal?: Refusal;
}

/** The agent, or why the run cannot begin: `message` has a line for each problem. */
export type LoadOutcome =
  | { readonly kind: 'loaded'; readonly agent: PreparedAgent }
  | {
      readonly kind: 'failed';
      readonly code:
        'agent_not_found' | 'extension_not_found' | 'mcp_unavailable' | 'invalid_input';
      readonly message: string;
      /** In words, what another worker may have. */
      readonly what?: string;
    };

/** Names that a message lists; a fleet may have hundreds of agents. */
const MAX_LISTED_NAMES = 20;

/**
 * Checks the payload of a start, which any client may have written, and compiles its agent. The
 * specification is recorded in history and in every hand-over: `sizes` says how large it may be, and
 * the results of its tools. `listing`: the tools of the agent's servers, if it has any.
 */
export function loadAgent(
  worker: Registry,
  input: unknown,
  sizes: SizeLimits = INLINE_SIZES,
  listing?: McpListing,
): LoadOutcome {
  const name = isPlainObject(input) ? input['agent'] : undefined;
  const registry = withBuiltIn(worker, name);
  // Whether an agent needs a task is known only where the agent is.
  if (typeof name === 'string' && name !== '' && !registry.agents.has(name)) {
    return notFound(registry, name);
  }
  const spec = typeof name === 'string' ? registry.agents.get(name)?.definition.spec : undefined;
  // A compiled program needs no task.
  const isCompiledRun = isPlainObject(input) && input['compiled'] !== undefined;
  const shape = inputProblems(input, spec, isCompiledRun);
  if (shape.length > 0 || !hasShape(input)) return invalid(shape);
  const agent = registry.agents.get(input.agent);
  if (agent === undefined) return notFound(registry, input.agent);
  const unfit = compiledProblem(agent, input);
  if (unfit !== undefined) return invalid([unfit]);
  const missing = missingParts(registry, agent.definition);
  if (missing !== undefined) return { kind: 'failed', code: 'extension_not_found', ...missing };
  if (listing?.kind === 'not_here') return { ...listing, ...UNREACHED };
  const above = (input.parent?.leases ?? []).map(({ limit }) => limit);
  const compiled = compileAgent(
    agent.definition,
    registry.models,
    input,
    above,
    hasDefaultCostLimit(registry, input),
  );
  if (compiled.kind === 'problems') return invalid(compiled.problems.map((it) => it.message));
  const listed = withListedTools(compiled.spec, agent.definition, listing);
  if (listed.kind === 'problems') return invalid(listed.problems);
  const warnings = [...compiled.warnings, ...listed.warnings];
  const recorded = withResultsOf(listed.spec, sizes);
  const bytes = byteSize(recorded as unknown as Json);
  if (bytes > sizes.spec) return invalid([tooLarge(input.agent, bytes, sizes)]);
  const { inputs } = agent.definition;
  const { scheduled } = input;
  const given = { ...input, scheduled: scheduled && { ...scheduled, date: dateOf(scheduled) } };
  const prepared = prepareInput(recorded, defined(given), (values) =>
    inputs === undefined ? [] : schemaLines(inputs, values),
  );
  const { material, refusal } = scheduled === undefined ? prepared : bounded(prepared, recorded);
  const isAsGiven =
    material.task === input.task &&
    material.context === input.context &&
    material.contextDescriptions === undefined &&
    material.memory === undefined;
  return {
    kind: 'loaded',
    agent: {
      spec: recorded,
      warnings: [...warnings, ...prepared.warnings],
      ...defined({ material: isAsGiven ? undefined : material, refusal }),
    },
  };
}

/** Bytes of a loaded agent: the service records it as one payload, of at most 2 MiB. */
const MAX_LOADED_BYTES = 1_900_000;

/** What a schedule adds to a start is recorded with the specification, and may be too much. */
function bounded(prepared: PreparedInput, spec: AgentSpec): PreparedInput {
  const bytes = byteSize({ spec, material: prepared.material } as unknown as Json);
  if (bytes <= MAX_LOADED_BYTES) return prepared;
  const message = `Expected task and context of a scheduled run, with the specification of its agent, to be at most ${MAX_LOADED_BYTES} bytes, got ${bytes}. Put large data behind a tool.`;
  const refusal = { code: 'invalid_input', message } as const;
  return { material: { task: { text: '' } }, warnings: [], refusal };
}

/** The day on which a run was due, in the time zone of its schedule. */
function dateOf({ time, timeZone }: ScheduledStart): string {
  const at = new Date(time);
  try {
    // The one locale whose dates are those of ISO.
    return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }).format(at);
  } catch {
    // The service knew the zone. A worker with older data takes the day of UTC.
    return time.slice(0, 10);
  }
}

const UNREACHED = { kind: 'failed', code: 'mcp_unavailable' } as const;

/** The specification with results of tools no larger than `sizes` allow. */
function withResultsOf(spec: AgentSpec, { result }: SizeLimits): AgentSpec {
  const { tools, stubs = [] } = spec;
  const isLarge = ({ maxResultBytes = 0 }: { readonly maxResultBytes?: number }): boolean =>
    maxResultBytes > result;
  if (!tools.some(isLarge) && !stubs.some(isLarge)) return spec;
  const bounded = <Tool extends ToolSpec | ToolStub>(tool: Tool): Tool =>
    isLarge(tool) ? { ...tool, maxResultBytes: result } : tool;
  return {
    ...spec,
    tools: tools.map(bounded),
    ...defined({ stubs: spec.stubs?.map(bounded) }),
  };
}

function tooLarge(agent: string, bytes: number, { spec }: SizeLimits): string {
  return `Expected the specification of agent \`${agent}\` to be at most ${spec} bytes, got ${bytes}. Shorten its instructions and schemas, or give it fewer tools.`;
}

/** Tells the compiler what `inputProblems` has checked. */
function hasShape(input: unknown): input is AgentInput {
  return isPlainObject(input);
}

function inputProblems(
  input: unknown,
  asked: AgentDefinition['spec'] | undefined,
  isCompiledRun: boolean,
): readonly string[] {
  if (!isPlainObject(input)) {
    return [
      `Expected the input of a run to be an object, got ${shown(input)}. Start runs with a client of Everloop.`,
    ];
  }
  const { context, parent } = input;
  const loop = loopOf(asked);
  // A pipeline or fan-out needs no task of its own: its agents may have templates.
  const hasTemplate = asked?.prompt !== undefined || loop !== null || isCompiledRun;
  // A parent may call an agent with parameters alone.
  const needsTask = !hasTemplate && !(isPlainObject(parent) && isPlainObject(context));
  const rules: FieldRules = {
    ...FIELDS,
    task: [FIELDS.task, (task) => taskProblems(task as Fields, needsTask)],
    history: [(history) => unused(loop, 'history', history), FIELDS.history],
    settings: [(settings) => unused(loop, 'settings', settings), FIELDS.settings],
    toolChoice: [(choice) => unused(loop, 'toolChoice', choice), FIELDS.toolChoice],
  };
  return fieldProblems(input, rules, NAMING).map(({ message }) => message);
}

const NAMING = { code: 'invalid_input' } as const;

const ID = {
  wanted: `to be text of 1 to ${MAX_ID_CHARACTERS} characters without control characters`,
  fits: isConversationId,
  advice: 'Choose another.',
} as const;

const FIELDS = {
  v: otherVersion,
  agent: {
    wanted: 'to be the name of an agent',
    fits: (agent) => isString(agent) && agent !== '',
    advice: 'Name one.',
    required: true,
  },
  task: {
    wanted: 'to be { text, media? }',
    fits: isPlainObject,
    advice: 'Say what the agent should do.',
    required: true,
  },
  context: {
    wanted: 'to be a JSON object',
    fits: isPlainObject,
    advice: 'Write it as { name: value }.',
  },
  history: {
    wanted: "to be a list of { role: 'user' or 'assistant', text }",
    fits: listOf(isHistoryTurn),
  },
  tenant: badTenant,
  conversation: ID,
  messageId: ID,
  by: (by) => invalidAs([(by === undefined ? null : actorProblem(by)) ?? undefined]),
  memory: badMemory,
  trace: badTrace,
  model: { wanted: 'to be the id of a model entry', fits: isString },
  settings: (settings) => invalidAs(settingsProblems(settings)),
  toolChoice: (choice) => invalidAs([toolChoiceProblem(choice)]),
  onEvent: callbackProblems,
} satisfies FieldRules;

function otherVersion(v: unknown): readonly UsageProblem[] {
  if (v === 1) return [];
  const advice = 'Start runs with a client of this version.';
  return [expected('invalid_input', 'version `v` of the input to be 1', shown(v), advice)];
}

function isHistoryTurn(turn: unknown): boolean {
  if (!isPlainObject(turn) || !isString(turn['text'])) return false;
  return turn['role'] === 'user' || turn['role'] === 'assistant';
}

function badMemory(memory: unknown): readonly UsageProblem[] {
  const message = memory === undefined ? undefined : memoryProblem(memory);
  return message === undefined ? [] : [{ code: 'invalid_input', message }];
}

function badTenant(tenant: unknown): readonly UsageProblem[] {
  const message = tenant === undefined ? undefined : tenantProblem(tenant);
  return message === undefined ? [] : [{ code: 'invalid_input', message }];
}

function badTrace(trace: unknown): readonly UsageProblem[] {
  const message = traceProblem(trace);
  return message === undefined ? [] : [{ code: 'invalid_input', message }];
}

const TASK_FIELDS: FieldRules = { text: { ...STRING, required: true }, media: MEDIA_LIST };

function taskProblems(task: Fields, needsTask: boolean): readonly UsageProblem[] {
  const problems = fieldProblems(task, TASK_FIELDS, { ...NAMING, within: 'task.' });
  if (problems.length > 0 || !needsTask) return problems;
  const { text, media = [] } = task;
  if ((media as readonly unknown[]).length > 0 || String(text).trim() !== '') return [];
  const what = 'a task with text or media';
  return [expected('invalid_input', what, 'an empty one', 'Say what the agent should do.')];
}

/**
 * What messages call an agent without a model, and what it starts; null for one with a model.
 */
function loopOf(asked: AgentDefinition['spec'] | undefined): readonly [string, string] | null {
  if (asked?.evaluation !== undefined) return ['eval', 'parts'];
  if (asked?.pipeline !== undefined) return ['pipeline', 'stages'];
  return asked?.fanOut === undefined ? null : ['fan-out', 'runs'];
}

/** What an agent without a model has no use for. */
function unused(
  loop: ReturnType<typeof loopOf>,
  field: 'history' | 'settings' | 'toolChoice',
  value: unknown,
): readonly UsageProblem[] {
  if (loop === null || value === undefined) return [];
  const [noun, parts] = loop;
  const advice =
    field === 'history'
      ? `Put what its ${parts} need into \`context\`.`
      : `Set it in the agents that it starts.`;
  return [expected('invalid_input', `no \`${field}\` for a ${noun}`, 'some', advice)];
}

function invalidAs(messages: readonly (string | undefined)[]): readonly UsageProblem[] {
  return messages.flatMap((message) =>
    message === undefined ? [] : [{ code: 'invalid_input' as const, message }],
  );
}

function invalid(messages: readonly string[]): LoadOutcome {
  return { kind: 'failed', code: 'invalid_input', message: messages.join('\n') };
}

function notFound(registry: Registry, name: string): LoadOutcome {
  const names = [...registry.agents.keys()];
  const listed = names.slice(0, MAX_LISTED_NAMES).join(', ') || 'it has none';
  const more = names.length > MAX_LISTED_NAMES ? ', …' : '';
  const advice = adviceFor(name, names, 'Choose one of them.');
  const message = `Expected an agent that the worker has (${listed}${more}), got \`${name.slice(0, 200)}\`. ${advice}`;
  return { kind: 'failed', code: 'agent_not_found', message };
}

/** Why this worker cannot compile the program or run the compiled one; undefined when it can. */
function compiledProblem(
  { definition, tools }: RegisteredAgent,
  { compiled, compiles }: Pick<AgentInput, 'compiled' | 'compiles'>,
): string | undefined {
  const given: unknown = compiled;
  if (given === undefined && compiles !== true) return undefined;
  const { name, spec } = definition;
  if (spec.mode !== 'lisp') return `only mode \`lisp\` compiles, \`${name}\` is \`${spec.mode}\`.`;
  if (given === undefined) return undefined;
  if (!isCompiled(given)) {
    return 'Expected `compiled` to be what `compileAgent` returns, got something else. Compile it again.';
  }
  const id = compiledCodeId(given);
  if (id !== given.codeId) {
    return `Expected the program of compiled \`${name}\` to be ${given.codeId}, got ${id}: it was changed. Compile it again.`;
  }
  const known = [...tools.keys()].map((tool) => tool.replaceAll('-', '_'));
  const missing = given.tools.find((tool) => !known.includes(tool.replaceAll('-', '_')));
  return missing === undefined
    ? undefined
    : `compiled \`${name}\` needs tool \`${missing}\`, which the worker does not have.`;
}
