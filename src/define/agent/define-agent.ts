import { defined } from '../../core/base/defined.ts';
import type {
  AgentSpec,
  LispSpec,
  OwnName,
  ProgramSpec,
  ReactSpec,
  SectionSpec,
  SignatureSpec,
  TextSource,
} from '../../core/contract/spec.ts';
import { usageErrorOf } from '../../core/base/usage-error.ts';
import { coerce } from '../../core/section/coerce.ts';
import { answerExample, ownSchema, type AnswerForm } from '../../core/signature/answer-form.ts';
import {
  AGENT_DEFAULTS,
  MODE_TURNS,
  type AgentOptions,
  type AvailableMode,
  type ListedOptions,
  type ModeName,
} from './agent-options.ts';
import { agentProblems } from './agent-problems.ts';
import { resolvedTool } from '../tool/agent-tool.ts';
import { hostedTool, isProviderTool } from '../tool/hosted-tool.ts';
import { listedTools } from '../tool/listed-tools.ts';
import {
  defineSignature,
  type DefinedSignature,
  type SignatureInput,
} from '../schema/define-signature.ts';
import type { AgentContext, AgentValue } from './agent-types.ts';
import { checkJson } from '../schema/schema.ts';
import type {
  AgentDefinition,
  AnswerDefinition,
  TextFunction,
  ToolDefinition,
  ValidatorDefinition,
} from '../definition/definitions.ts';
import { askToolSpec } from '../../core/toolchain/ask-user.ts';
import { llmQuerySpec } from '../../core/toolchain/llm-query.ts';
import { searchToolSpec } from '../../core/tool-search/query.ts';
import { isProgramMode } from './mode-problems.ts';
import { chosenAnswer, chosenFormat, chosenToolchain, SECTION_NAMES } from './reply-layout.ts';
import { strictProblems } from './strict-problems.ts';
import { modelOf } from '../model/model-entry.ts';
import { isLocalSearch, toolSearchSpec } from '../definition/tool-search-options.ts';

/**
 * Defines an agent, which workers can run and clients can start. Checks all options. The signature
 * and the answer give the types of the value and the context of its runs.
 *
 * @throws UsageError with all problems of the options, a line each.
 * @example
 * const researcher = defineAgent({
 *   name: 'researcher',
 *   model: 'openai/gpt-5',
 *   instructions: 'You find sources.',
 *   tools: [search],
 * });
 */
export function defineAgent<
  const Signature extends SignatureInput = never,
  Answer extends AnswerDefinition | OwnName = never,
  Named extends ModeName = 'chat',
>(
  given: AgentOptions<Signature, Answer, Named>,
): AgentDefinition<AgentValue<Signature, Answer, Named>, AgentContext<Signature, Named>> {
  const { tools: named, problems: unnamed } = listedTools(given.tools);
  const options: ListedOptions = defined({ ...given, tools: named });
  const problems = [...unnamed, ...agentProblems(options)];
  if (problems.length > 0) throw usageErrorOf(problems, `Agent \`${String(options.name)}\`: `);
  const { name, limits, onEvent, compaction, elsewhereMs, instructions, rules } = options;
  const signature = definedSignature(options);
  const validators = agentValidators(options);
  const spec = agentSpec(options, validators, signature);
  const tools = ownTools(options, signature);
  const unstrict = strictProblems(options.model, spec, tools);
  if (unstrict.length > 0) throw usageErrorOf(unstrict, `Agent \`${name}\`: `);
  return defined({
    kind: 'agent',
    name,
    spec,
    model: modelOf(name, options.model),
    limits,
    onEvent,
    maxTurns: allTurns(options),
    compaction,
    elsewhereMs,
    instructions: typeof instructions === 'function' ? instructions : undefined,
    rules: typeof rules === 'function' ? rules : undefined,
    prompt: typeof options.prompt === 'function' ? options.prompt : undefined,
    tools,
    prepare: options.prepare,
    servers: serversOf(options),
    toolSearch: usedToolSearch(options),
    stream: options.stream,
    middleware: middlewareOf(options),
    redact: options.redact,
    inputs: signature?.inputs,
    validators,
    guards: options.guards?.length === 0 ? undefined : options.guards,
    standards: {
      answer: chosenAnswer(options.answer).standard ?? signature?.output?.standard ?? null,
      sections: new Map(ownSections(options).map(({ spec, standard }) => [spec.name, standard])),
    },
  });
}

/** The mode by its current name; unknown modes were refused before. */
function modeOf({ mode = AGENT_DEFAULTS.mode }: ListedOptions): AvailableMode {
  return mode === 'ptc_lisp' ? 'lisp' : mode;
}

/** Maximum number of turns of a run, repairs included; undefined: as many as the limits allow. */
function allTurns(options: ListedOptions): number | undefined {
  const turns = options.maxTurns ?? MODE_TURNS[modeOf(options)];
  return turns === undefined
    ? undefined
    : turns + (options.retryTurns ?? AGENT_DEFAULTS.retryTurns);
}

/** The validators of an agent, those of its answer first. */
function agentValidators(options: ListedOptions): readonly ValidatorDefinition[] {
  return [...chosenAnswer(options.answer).validators, ...(options.validators ?? [])];
}

/** The agent's own sections, its own thinking section included. */
function ownSections(
  options: ListedOptions,
): readonly NonNullable<ListedOptions['sections']>[number][] {
  const { thinking, sections = [] } = options;
  return typeof thinking === 'object' ? [thinking, ...sections] : sections;
}

function agentSpec(
  options: ListedOptions,
  validators: readonly ValidatorDefinition[],
  signature: DefinedSignature | undefined,
): AgentDefinition['spec'] {
  const mode = modeOf(options);
  const isReact = mode === 'react';
  const told = mode === 'text' ? readSignature(options) : signature;
  const answer = answerSpec(options, mode, told?.output ?? null);
  const { prompt, fieldDescriptions, contextDescriptions, floatPrecision } = options;
  const isTemplate = typeof prompt === 'string' && prompt.trim() !== '{{task}}';
  return defined({
    v: 1,
    name: options.name,
    description: options.description,
    mode,
    settings: options.settings,
    toolChoice: options.toolChoice,
    prompt: isTemplate ? prompt : undefined,
    signature: signatureSpec(signature),
    fieldDescriptions,
    contextDescriptions,
    floatPrecision,
    instructions: textSource(options.instructions),
    rules: textSource(options.rules),
    ...toolSpecs(options, signature),
    ...hostedSpecs(options),
    toolchain: toolchainSpec(options, isReact),
    answer: { ...answer, validators: validators.map(({ name }) => name) },
    react: isReact ? reactSpec(options, answer) : null,
    program: isProgramMode(options) ? programSpec(options, mode) : undefined,
    examples: options.examples ?? [],
    parallel: options.parallel ?? AGENT_DEFAULTS.parallel,
    maxCallsPerTurn: options.maxCallsPerTurn ?? AGENT_DEFAULTS.maxCallsPerTurn,
    maxContinuations: options.maxContinuations,
    guards: options.guards?.length ? options.guards.map(({ name }) => name) : undefined,
    onRefusal: options.onRefusal === 'ask' ? 'ask' : undefined,
    timeZone: options.timeZone ?? AGENT_DEFAULTS.timeZone,
    queues: options.queues ?? {},
  });
}

function signatureSpec(signature: DefinedSignature | undefined): SignatureSpec | undefined {
  return signature && { text: signature.text, params: signature.params };
}

/** Mode `text` ignores the signature, but tells its output; in other modes it was checked before. */
function definedSignature(options: ListedOptions): DefinedSignature | undefined {
  return options.mode === 'text' ? undefined : readSignature(options);
}

function readSignature({
  signature,
  fieldDescriptions,
}: ListedOptions): DefinedSignature | undefined {
  if (signature === undefined) return undefined;
  const reading = defineSignature(signature, fieldDescriptions);
  return reading.kind === 'signature' ? reading.signature : undefined;
}

/** An output is answered as JSON. Any text is answered as text in modes that write text. */
function answerSpec(
  options: ListedOptions,
  mode: AvailableMode,
  output: DefinedSignature['output'],
): AnswerDefinition['spec'] {
  const own = chosenAnswer(options.answer).spec;
  // These modes write text, so there is nothing to check.
  const isText = isAnyText(output) && mode !== 'json' && mode !== 'lisp';
  if (output === null || isText) return own;
  const { schema, type } = output;
  // The reply of mode `text` is the answer, whatever it is.
  const kind = mode === 'text' ? ('text' as const) : ('json' as const);
  const answer = { kind, section: own.section, schema, output: type };
  return hasFittingExample(answer, output) ? answer : { ...answer, hasExample: false };
}

/** Whether every text is an answer: one of a few words, or of a form, is checked. */
function isAnyText(output: DefinedSignature['output']): boolean {
  if (output?.type.kind !== 'string') return false;
  const words = ['type', 'title', 'description'];
  return Object.keys(output.schema).every((keyword) => words.includes(keyword));
}

/** Whether the example that a prompt would show fits the schema and the library's own check. */
function hasFittingExample(
  answer: AnswerForm,
  { schema, standard }: NonNullable<DefinedSignature['output']>,
): boolean {
  // The example of an output in words is made from its type.
  const isInWords = standard === null && ownSchema(answer) === undefined;
  const example = isInWords ? undefined : answerExample(answer);
  if (example === undefined) return true;
  if (checkJson(schema, coerce(example, schema)).errors.length > 0) return false;
  if (standard === null) return true;
  try {
    const checked = standard['~standard'].validate(example);
    return checked instanceof Promise || checked.issues === undefined;
  } catch {
    return false;
  }
}

/** Without tools there is nothing to search. */
function usedToolSearch({ tools = [], toolSearch }: ListedOptions): ListedOptions['toolSearch'] {
  return tools.length === 0 ? undefined : toolSearch;
}

function middlewareOf(options: ListedOptions): AgentDefinition['middleware'] {
  const { modelMiddleware: model = [], toolMiddleware: tool = [] } = options;
  return model.length + tool.length === 0 ? undefined : { model, tool };
}

/** The tools of an agent; `selfTool` is completed from the agent's own options. */
function ownTools(
  { name, description, tools = [] }: ListedOptions,
  signature: DefinedSignature | undefined,
): readonly ToolDefinition[] {
  const spec = defined({ description, signature: signatureSpec(signature) });
  const agent = defined({ name, inputs: signature?.inputs, spec });
  return tools.flatMap((tool): readonly ToolDefinition[] => {
    if (!('kind' in tool) || tool.kind !== 'tool') return [];
    return [tool.child?.agent === null ? resolvedTool(tool, agent) : tool];
  });
}

/** The servers among the tools; a specification has their tools once a worker has listed them. */
function serversOf({ tools = [] }: ListedOptions): AgentDefinition['servers'] {
  const servers = tools.filter((tool) => 'kind' in tool && tool.kind === 'mcp_server');
  return servers.length === 0 ? undefined : servers;
}

/** The tools that providers run, as data. */
function hostedSpecs({ tools = [] }: ListedOptions): Pick<AgentSpec, 'hosted'> {
  const hosted = tools.filter(isProviderTool).map(hostedTool);
  return hosted.length === 0 ? {} : { hosted };
}

/** The tools as data, with the built-in ones, whose calls are handled like any call. */
function toolSpecs(
  options: ListedOptions,
  signature: DefinedSignature | undefined,
): Pick<AgentSpec, 'tools' | 'toolSearch'> {
  const own = ownTools(options, signature).map(({ spec }) => spec);
  const builtIn = [
    ...(options.askUser === true ? [askToolSpec()] : []),
    ...(options.llmQuery === true ? [llmQuerySpec()] : []),
  ];
  const tools = [...own, ...builtIn];
  const toolSearch = usedToolSearch(options);
  if (toolSearch === undefined) return { tools };
  // Servers may have to be asked first for what they have.
  const isLocal = isLocalSearch(toolSearch) && serversOf(options) === undefined;
  const given = toolSearchSpec(toolSearch);
  // The built-in tools are always shown: no model would search for them.
  const search = { ...given, pins: [...given.pins, ...builtIn.map(({ name }) => name)] };
  return {
    tools: [...tools, searchToolSpec(search, isLocal)],
    toolSearch: search,
  };
}

function toolchainSpec(options: ListedOptions, isReact: boolean): AgentSpec['toolchain'] {
  if (!isReact) return { kind: 'native', section: SECTION_NAMES.action };
  const { kind, section } = chosenToolchain(options.toolchain);
  return { kind, section };
}

function reactSpec(options: ListedOptions, answer: AnswerDefinition['spec']): ReactSpec {
  const { kind, strict } = chosenFormat(options.format);
  const { markers = AGENT_DEFAULTS.markers } = options;
  const { onUnparsed: forText, onUnparsedWithSchema: forJson } = AGENT_DEFAULTS;
  const hasSchema = answer.kind === 'json' || answer.schema !== undefined;
  const onUnparsed = hasSchema ? forJson : forText;
  return defined({
    prompt: typeof options.prompt === 'function' ? true : undefined,
    format: { kind, strict },
    thinking: thinkingSpec(options.thinking ?? true),
    sections: (options.sections ?? []).map(({ spec }) => spec),
    precedence: options.precedence ?? AGENT_DEFAULTS.precedence,
    onUnparsed: options.onUnparsed ?? onUnparsed,
    markers: markers === false ? null : markers,
  });
}

function thinkingSpec(thinking: NonNullable<ListedOptions['thinking']>): SectionSpec | null {
  if (thinking === false) return null;
  if (typeof thinking === 'object') return thinking.spec;
  const guidance = thinking === true ? AGENT_DEFAULTS.thinking : thinking;
  return { name: SECTION_NAMES.thinking, kind: 'text', guidance };
}

function programSpec(options: ListedOptions, mode: AvailableMode): ProgramSpec {
  return defined({
    limits: options.program ?? {},
    memoryLimitBytes: options.memoryLimitBytes ?? AGENT_DEFAULTS.memoryLimitBytes,
    memoryStrategy: options.memoryStrategy ?? AGENT_DEFAULTS.memoryStrategy,
    sizes: { ...AGENT_DEFAULTS.sizes, ...options.sizes },
    lisp: mode === 'lisp' ? lispSpec(options) : undefined,
  });
}

function lispSpec(options: ListedOptions): LispSpec {
  return {
    maxTurns: options.maxTurns ?? MODE_TURNS.lisp,
    retryTurns: options.retryTurns ?? AGENT_DEFAULTS.retryTurns,
    completion: options.completion ?? AGENT_DEFAULTS.completion,
    transport: options.transport ?? AGENT_DEFAULTS.transport,
    thinking: options.thinking === true,
    plan: options.plan ?? [],
    journal: options.journal ?? false,
  };
}

function textSource(text: string | TextFunction | undefined): TextSource | null {
  if (text === undefined) return null;
  return typeof text === 'function' ? { kind: 'function' } : { kind: 'text', text };
}
