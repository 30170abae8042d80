/** What is wrong with the options of a tool: every check of `defineTool`, but compiling the schema. */
import { MAX_TIMEOUT_MS } from '../../core/toolchain/ask-user.ts';
import { shown } from '../../core/text/shown.ts';
import type { UsageProblem } from '../../core/base/usage-error.ts';
import {
  RESERVED_TOOL_NAMES,
  TOOL_BOUNDS,
  TOOL_DEFAULTS,
  type ParametersInput,
  type ToolOptions,
} from './tool-options.ts';
import { unknownFields } from '../checks/unknown-fields.ts';
import type { SchemaReading } from '../schema/value-schema.ts';

type Options = ToolOptions<ParametersInput>;

const TOOL_FIELDS: readonly (keyof Options)[] = [
  'name',
  'description',
  'policy',
  'parameters',
  'jsonSchema',
  'effect',
  'local',
  'timeoutMs',
  'retry',
  'sequential',
  'maxResultBytes',
  'output',
  'cache',
  'approval',
  'approvalTimeoutMs',
  'search',
  'execute',
];

/** All problems of a tool's options, in the order of the fields. */
export function toolProblems(options: Options): readonly UsageProblem[] {
  return [
    ...nameProblems(options.name),
    ...textProblems(options),
    ...effectProblems(options),
    ...localProblems(options),
    ...numberProblems(options),
    ...cacheProblems(options),
    ...approvalProblems(options),
    ...searchProblems(options),
    ...unknownFields(options, TOOL_FIELDS, `tool \`${options.name}\``),
  ];
}

/** What is wrong with the name of a tool or, in the same words, of a validator. */
export function nameProblems(
  name: unknown,
  noun: 'agent' | 'pipeline' | 'tool' | 'validator' = 'tool',
): readonly UsageProblem[] {
  if (typeof name !== 'string' || !/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(name)) {
    const got = typeof name === 'string' ? `\`${name.slice(0, 200)}\`` : shown(name);
    return [
      {
        code: `${noun}_name`,
        message: `Expected ${noun === 'agent' ? 'an' : 'a'} ${noun} name of 1 to 64 letters, digits, \`_\` or \`-\` that starts with a letter, got ${got}. Rename it.`,
      },
    ];
  }
  if (noun !== 'tool' || !RESERVED_TOOL_NAMES.includes(name.replaceAll('-', '_'))) return [];
  const message = `Expected a free tool name, got the built-in \`${name}\`. Rename it.`;
  return [{ code: 'reserved_name', message }];
}

function textProblems(options: Options): readonly UsageProblem[] {
  const problems: UsageProblem[] = [];
  const { name, description, policy } = options;
  if (typeof description !== 'string' || description.trim() === '') {
    const message = `Expected \`description\` of \`${name}\` to say what the tool does, got ${shown(description)}. Write a sentence.`;
    problems.push({ code: 'tool_description', message });
  }
  if (policy !== undefined && typeof policy !== 'string') {
    const message = `Expected \`policy\` of \`${name}\` to be a text, got ${shown(policy)}. Change it.`;
    problems.push({ code: 'tool_policy', message });
  }
  if (typeof options.execute !== 'function') {
    const message = `Expected \`execute\` of \`${name}\` to be a function, got ${shown(options.execute)}. Write the function that does the work.`;
    problems.push({ code: 'tool_execute', message });
  }
  return problems;
}

/** What is wrong with the schema of the arguments. */
export function parameterProblems(name: string, reading?: SchemaReading): readonly UsageProblem[] {
  if (reading?.kind !== 'problem') return [];
  const message = `Expected \`parameters\` of \`${name}\` to be a schema for an object, got ${reading.got}. ${reading.advice}`;
  return [{ code: 'tool_schema', message }];
}

/** What is wrong with the schema of the output. */
export function outputProblems(name: string, reading?: SchemaReading): readonly UsageProblem[] {
  if (reading?.kind !== 'problem') return [];
  const message = `Expected \`output\` of \`${name}\` to be a schema, got ${reading.got}. ${reading.advice}`;
  return [{ code: 'tool_schema', message }];
}

/** A kept result of a tool that acts would make a second, wanted, action silently not happen. */
export function cacheProblems({
  name,
  cache,
  effect,
}: Pick<Options, 'name' | 'cache' | 'effect'>): readonly UsageProblem[] {
  if (cache === undefined || typeof cache === 'boolean') {
    if (cache !== true || effect !== 'once') return [];
    const message = `Expected no \`cache\` for the \`once\` tool \`${name}\`, got true. Remove it: its second call would do nothing.`;
    return [{ code: 'tool_cache', message }];
  }
  const message = `Expected \`cache\` of \`${name}\` to be true or false, got ${shown(cache)}. Change it.`;
  return [{ code: 'tool_cache', message }];
}

/** What is wrong with `approval`, and with `approvalTimeoutMs` beside it. */
export function approvalProblems({
  name,
  approval,
  approvalTimeoutMs,
}: {
  readonly name: string;
  readonly approval?: unknown;
  readonly approvalTimeoutMs?: number;
}): readonly UsageProblem[] {
  const isKnown = approval === undefined || approval === 'always' || approval === 'never';
  if (!isKnown && typeof approval !== 'function') {
    const message = `Expected \`approval\` of \`${name}\` to be 'always', 'never' or a function, got ${shown(approval)}. Choose one of them.`;
    return [{ code: 'tool_approval', message }];
  }
  if (approvalTimeoutMs === undefined || (approval !== undefined && approval !== 'never'))
    return [];
  const message = `Expected no \`approvalTimeoutMs\` for \`${name}\`, which nobody approves, got ${shown(approvalTimeoutMs)}. Set \`approval\`, or remove it.`;
  return [{ code: 'tool_approval', message }];
}

function searchProblems({ name, search }: Options): readonly UsageProblem[] {
  if (search === undefined) return [];
  const problem = (field: string, wanted: string, got: unknown): UsageProblem => ({
    code: 'tool_search',
    message: `Expected \`${field}\` of \`${name}\` to be ${wanted}, got ${shown(got)}. Change it.`,
  });
  const given: unknown = search;
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return [problem('search', 'an object', given)];
  }
  const { domain, ...lists } = search;
  const names = ['categories', 'keywords', 'queries'] as const;
  return [
    ...(domain === undefined || isText(domain) ? [] : [problem('search.domain', 'a text', domain)]),
    ...names.flatMap((field) => {
      const list: unknown = lists[field];
      if (list === undefined || (Array.isArray(list) && list.every(isText))) return [];
      return [problem(`search.${field}`, 'a list of texts', list)];
    }),
    ...unknownFields(search, ['domain', ...names], `\`search\` of \`${name}\``),
  ];
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '';
}

function localProblems(options: Options): readonly UsageProblem[] {
  if (options.local !== true) return [];
  const effect = options.effect ?? TOOL_DEFAULTS.effect;
  const timeoutMs = options.timeoutMs ?? TOOL_DEFAULTS.localTimeoutMs;
  if (effect === 'read' && timeoutMs <= TOOL_BOUNDS.localTimeoutMs) return [];
  const message = `Expected the local tool \`${options.name}\` to have effect 'read' and a \`timeoutMs\` of at most ${TOOL_BOUNDS.localTimeoutMs}, got '${effect}' and ${timeoutMs}. Change them, or remove \`local\`.`;
  return [{ code: 'local_tool', message }];
}

function effectProblems(options: Options): readonly UsageProblem[] {
  const problems: UsageProblem[] = [];
  const { name, effect, retry } = options;
  if (effect !== undefined && !['read', 'idempotent', 'once'].includes(effect)) {
    const message = `Expected \`effect\` of \`${name}\` to be 'read', 'idempotent' or 'once', got ${shown(effect)}. Choose one of them.`;
    problems.push({ code: 'tool_effect', message });
  }
  if (effect === 'once' && retry?.attempts !== undefined && retry.attempts !== 1) {
    const message = `Expected a single attempt of the \`once\` tool \`${name}\`, got ${retry.attempts}. Remove \`retry\`, or use effect 'idempotent'.`;
    problems.push({ code: 'once_retry', message });
  }
  return problems;
}

/** What is wrong with the numbers of a tool; an LLM tool has but one of them. */
export function numberProblems(
  options: Pick<Options, 'name' | 'timeoutMs' | 'maxResultBytes' | 'approvalTimeoutMs' | 'retry'>,
): readonly UsageProblem[] {
  const { name, timeoutMs, maxResultBytes, approvalTimeoutMs, retry } = options;
  const rows: readonly [string, unknown, min: number, max: number, whole: boolean][] = [
    ['timeoutMs', timeoutMs, 1, Infinity, true],
    ['maxResultBytes', maxResultBytes, 1, TOOL_BOUNDS.maxResultBytes, true],
    ['approvalTimeoutMs', approvalTimeoutMs, 1, MAX_TIMEOUT_MS, true],
    ['retry.attempts', retry?.attempts, 1, Infinity, true],
    ['retry.initialMs', retry?.initialMs, 1, Infinity, true],
    ['retry.factor', retry?.factor, 1, Infinity, false],
  ];
  return rows.flatMap(([field, value, min, max, whole]) => {
    if (value === undefined) return [];
    const isKind = whole ? Number.isSafeInteger(value) : Number.isFinite(value);
    if (isKind && (value as number) >= min && (value as number) <= max) return [];
    const range = max === Infinity ? `from ${min} up` : `from ${min} to ${max}`;
    const message = `Expected \`${field}\` of \`${name}\` ${range}, got ${shown(value)}. Change it.`;
    return [{ code: 'number', message }];
  });
}
