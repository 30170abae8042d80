/**
 * The checks of `defineAgent`: all problems at once, so that one run of a program shows them all.
 */
import { isPlainObject } from '../../core/base/json.ts';
import type { UsageCode } from '../../core/base/usage-codes.ts';
import type { UsageProblem } from '../../core/base/usage-error.ts';
import { callbackProblems } from '../../core/start/callback-specs.ts';
import { inputProblems } from '../../core/limits/limits-input.ts';
import { settingsProblems, toolChoiceProblem } from '../../core/model/call-settings.ts';
import { PROGRAM_LIMITS } from '../../core/program-text/program-limits.ts';
import { ASK_TOOL } from '../../core/toolchain/ask-user.ts';
import { LLM_QUERY_TOOL } from '../../core/toolchain/llm-query.ts';
import { unknownOptions } from '../../core/text/option-names.ts';
import { shown } from '../../core/text/shown.ts';
import {
  expected,
  fieldProblems,
  type Kind,
  type Rule,
  type FieldRules,
} from '../checks/fields.ts';
import { DURATION, hasKind, listOf, oneOf, range, TEXTS } from '../checks/kinds.ts';
import { isName, nameProblems } from '../checks/names.ts';
import type { Guard, ToolDefinition, ValidatorDefinition } from '../definition/definitions.ts';
import type { McpServerDefinition } from '../definition/mcp-server.ts';
import { aiToolProblems, isAiTool, isProviderTool, nameOf } from '../tool/hosted-tool.ts';
import { modelProblems } from '../model/model-problems.ts';
import { paramNames } from '../schema/define-signature.ts';
import { AGENT_DEFAULTS, type ListedOptions } from './agent-options.ts';
import { compactionProblems } from './compaction-problems.ts';
import { isProgramMode, modeName, modeProblems } from './mode-problems.ts';
import { optionProblems, sectionProblems, promptProblems } from './option-problems.ts';
import { toolSearchRule } from './tool-search-problems.ts';

/** Maximum number of digits after the decimal point. A double keeps no more exactly. */
const MAX_DIGITS = 15;

const TEXT_OR_FUNCTION: Kind = {
  wanted: 'to be a text or a function',
  fits: (value) => typeof value === 'string' || typeof value === 'function',
  code: 'agent_text',
};

const TEXTS_BY_NAME: Kind = {
  wanted: 'to be texts by name',
  fits: (value) =>
    isPlainObject(value) && Object.values(value).every((text) => typeof text === 'string'),
  code: 'agent_text',
  advice: "Write it as { name: 'text' }.",
};

const FUNCTIONS: Kind = {
  wanted: 'to be a list of functions',
  fits: listOf((layer) => typeof layer === 'function'),
  code: 'middleware',
  advice: 'Write it as a list.',
};

const GUARDS: Kind = {
  wanted:
    'to be a list of { name, check }, with a name of 1 to 64 letters, digits, `_` or `-` for each',
  fits: (value) =>
    Array.isArray(value) &&
    value.every((guard) => isPlainObject(guard) && isName(guard['name']) && isGuard(guard)) &&
    new Set(value.map((guard: Guard) => guard.name)).size === value.length,
  code: 'agent_guard',
};

const FUNCTION: Kind = {
  wanted: 'to be a function',
  fits: (value) => typeof value === 'function',
  code: 'agent_redact',
};

const TIME_ZONE: Kind = {
  wanted: 'to be an IANA name such as Europe/Berlin',
  fits: (value) => typeof value === 'string' && isTimeZone(value),
  code: 'time_zone',
};

/** Checked for agents whose model writes programs. */
const PROGRAM_FIELDS: FieldRules = {
  memoryStrategy: oneOf('strict', 'rollback'),
  memoryLimitBytes: range(1),
  program: numbersByName(
    'program',
    Object.entries(PROGRAM_LIMITS).map(([name, { highest }]) => [name, range(1, highest)]),
  ),
  sizes: numbersByName(
    'sizes',
    Object.keys(AGENT_DEFAULTS.sizes).map((name) => [name, range(1)]),
  ),
};

/** Checked in mode `lisp`, whose thinking is a switch. */
const LISP_FIELDS: FieldRules = {
  completion: oneOf('implicit', 'explicit'),
  transport: oneOf('content', 'tool_call'),
  thinking: oneOf(true, false),
  journal: oneOf(true, false),
  retryTurns: range(0),
  plan: { ...TEXTS, advice: 'Write a text for each step.' },
};

/** All problems of an agent's options, without the name of the agent in front. */
export function agentProblems(options: ListedOptions): readonly UsageProblem[] {
  return [
    ...nameProblems(options.name, 'agent'),
    ...modeProblems(options),
    ...optionProblems(options),
    ...fieldProblems(options, programRules(options), { code: 'agent_option' }),
    ...fieldProblems(options, agentRules(options), { code: 'agent_option' }),
  ];
}

function programRules(options: ListedOptions): FieldRules {
  if (!isProgramMode(options)) return { programs: oneOf(true, false) };
  return modeName(options) === 'lisp' ? { ...PROGRAM_FIELDS, ...LISP_FIELDS } : PROGRAM_FIELDS;
}

function agentRules(options: ListedOptions): FieldRules {
  return {
    prompt: () => promptProblems(options),
    fieldDescriptions: TEXTS_BY_NAME,
    contextDescriptions: TEXTS_BY_NAME,
    model: modelProblems,
    settings: (settings) => messagesAs('model_settings', settingsProblems(settings)),
    toolChoice: (choice) => choiceProblems(choice, options),
    instructions: TEXT_OR_FUNCTION,
    rules: TEXT_OR_FUNCTION,
    tools: (tools) => [...toolProblems(tools), ...selfToolProblems(options)],
    toolSearch: toolSearchRule(hasServer(options) ? null : toolNames(options)),
    modelMiddleware: FUNCTIONS,
    toolMiddleware: FUNCTIONS,
    redact: FUNCTION,
    prepare: { ...FUNCTION, code: 'agent_prepare' },
    guards: GUARDS,
    validators: () => validatorProblems(options),
    sections: () => sectionProblems(options),
    limits: inputProblems,
    onEvent: callbackProblems,
    maxTurns: range(1),
    maxCallsPerTurn: range(1),
    maxContinuations: range(0),
    onRefusal: oneOf('fail', 'ask'),
    floatPrecision: range(0, MAX_DIGITS),
    precedence: oneOf('action', 'answer'),
    onUnparsed: oneOf('answer-after-two', 'retry', 'answer', 'answer-or-fail', 'fail'),
    parallel: oneOf(true, false),
    askUser: oneOf(true, false),
    llmQuery: oneOf(true, false),
    stream: oneOf('always', 'auto'),
    timeZone: TIME_ZONE,
    elsewhereMs: DURATION,
    compaction: compactionProblems,
  };
}

function messagesAs(code: UsageCode, messages: readonly string[]): readonly UsageProblem[] {
  return messages.map((message) => ({ code, message }));
}

/** Tools of servers are known when a run starts. */
function choiceProblems(choice: unknown, options: ListedOptions): readonly UsageProblem[] {
  const builtIn = [
    ...(options.askUser === true ? [ASK_TOOL] : []),
    ...(options.llmQuery === true ? [LLM_QUERY_TOOL] : []),
  ];
  const names = hasServer(options) ? undefined : [...toolNames(options), ...builtIn];
  const problem = toolChoiceProblem(choice, names);
  return messagesAs('agent_option', problem === undefined ? [] : [problem]);
}

/** An object of numbers, each of which may be left out. */
function numbersByName(field: string, kinds: readonly (readonly [string, Kind])[]): Rule {
  const [[first] = ['']] = kinds;
  const rules = Object.fromEntries(kinds);
  return [
    {
      wanted: 'to be numbers by name',
      fits: isPlainObject,
      advice: `Write it as { ${first}: 1000 }.`,
    },
    (value = {}) => [
      ...unknownOptions(value as object, Object.keys(rules), `\`${field}\``),
      ...fieldProblems(value as object, rules, { code: 'number', within: `${field}.` }),
    ],
  ];
}

/** Names are compared with `-` read as `_`: programs call tools that way. */
function toolProblems(tools: unknown): readonly UsageProblem[] {
  if (tools === undefined) return [];
  if (!Array.isArray(tools)) return [notAList('tools', 'defineTool', tools)];
  const names = new Map<string, string>();
  const servers = new Set<string>();
  return tools.flatMap((tool: unknown, index) => {
    if (isServer(tool)) {
      const isNew = !servers.has(tool.name);
      servers.add(tool.name);
      return isNew ? [] : [twoServers(tool.name)];
    }
    const place = `tools[${index}]`;
    if (isAiTool(tool)) {
      const problems = aiToolProblems(tool, place);
      if (problems.length > 0) return problems;
    } else if (!isTool(tool)) return [notMade(place, 'defineTool', tool)];
    const name = isProviderTool(tool) ? nameOf(tool.id) : (tool as ToolDefinition).spec.name;
    const folded = name.replaceAll('-', '_');
    const first = names.get(folded);
    if (first === undefined) {
      names.set(folded, name);
      return [];
    }
    const isSame = first === name;
    const what = `tool names to be unique${isSame ? '' : ' when `-` is read as `_`'}`;
    const got = isSame ? `two tools named \`${name}\`` : `\`${first}\` and \`${name}\``;
    return [expected('duplicate_tool', what, got, 'Rename one.')];
  });
}

/** `selfTool()` takes the agent's own parameters, so there must be some. */
function selfToolProblems({ tools, signature }: ListedOptions): readonly UsageProblem[] {
  if (!Array.isArray(tools)) return [];
  if (!tools.some((tool) => isTool(tool) && tool.child?.agent === null)) return [];
  // A signature that cannot be read is reported with the mode.
  const names = signature === undefined ? [] : paramNames(signature);
  if (names === undefined || names.length > 0) return [];
  const what = 'a `signature` with parameters for `selfTool()`';
  return [expected('self_tool', what, 'none', 'Add one.')];
}

function toolNames({ tools }: ListedOptions): readonly string[] {
  return Array.isArray(tools) ? tools.filter(isTool).map(({ spec }) => spec.name) : [];
}

/** A worker tells servers apart by their names. */
function twoServers(name: string): UsageProblem {
  const got = `two MCP servers named \`${name}\``;
  return expected('duplicate_server', 'server names to be unique', got, 'Rename one.');
}

function hasServer({ tools }: ListedOptions): boolean {
  return Array.isArray(tools) && tools.some(isServer);
}

function isServer(value: unknown): value is McpServerDefinition {
  return hasKind(value, 'mcp_server');
}

function isTool(value: unknown): value is ToolDefinition {
  return hasKind(value, 'tool');
}

function validatorProblems({ answer, validators }: ListedOptions): readonly UsageProblem[] {
  const names = new Set<string>();
  const own = typeof answer === 'object' ? answer.validators : [];
  return [own ?? [], validators ?? []].flatMap((list: unknown) => {
    if (!Array.isArray(list)) return [notAList('validators', 'defineValidator', list)];
    return list.flatMap((validator: unknown, index) => {
      if (!isValidator(validator)) {
        return [notMade(`validators[${index}]`, 'defineValidator', validator)];
      }
      const { name } = validator;
      const isNew = !names.has(name);
      names.add(name);
      if (isNew) return [];
      const got = `two validators named \`${name}\``;
      return [expected('duplicate_validator', 'validator names to be unique', got, 'Rename one.')];
    });
  });
}

function isGuard(guard: object): boolean {
  const names = Object.keys(guard);
  return names.length === 2 && typeof (guard as Partial<Guard>).check === 'function';
}

function isValidator(value: unknown): value is ValidatorDefinition {
  return hasKind(value, 'validator');
}

function notAList(field: string, factory: string, got: unknown): UsageProblem {
  const what = `\`${field}\` to be a list of what \`${factory}\` returns`;
  return expected('definition', what, shown(got), 'Write it as a list.');
}

function notMade(place: string, factory: string, got: unknown): UsageProblem {
  const what = `\`${place}\` to be what \`${factory}\` returns`;
  return expected('definition', what, shown(got), `Define it with \`${factory}\`.`);
}

function isTimeZone(timeZone: string): boolean {
  try {
    Intl.DateTimeFormat('en', { timeZone });
    return true;
  } catch {
    return false;
  }
}
