/** The checks of `defineTool`, and those that LLM tools and agents as tools share with it. */
import { defined } from '../../core/base/defined.ts';
import type { ToolSpec } from '../../core/contract/spec.ts';
import type { UsageProblem } from '../../core/base/usage-error.ts';
import { shown } from '../../core/text/shown.ts';
import { MAX_TIMEOUT_MS } from '../../core/toolchain/ask-user.ts';
import {
  expected,
  fieldProblems,
  type Check,
  type Fields,
  type Kind,
  type FieldRules,
} from '../checks/fields.ts';
import { FUNCTION, OBJECT, oneOf, range, STRING, SWITCH, TEXT, TEXTS } from '../checks/kinds.ts';
import { nameProblems } from '../checks/names.ts';
import { executeProblems, isolateProblems, moduleProblems } from './isolated-tool.ts';
import type { SchemaReading } from '../schema/value-schema.ts';
import {
  TOOL_BOUNDS,
  TOOL_DEFAULTS,
  type AnyToolOptions,
  type IsolatedToolOptions,
  type ToolOptions,
} from './tool-options.ts';

/** Whether results are kept. For a tool that acts, a kept result would skip a second action. */
export const CACHE_RULE: readonly [Kind, Check] = [
  { ...SWITCH, code: 'tool_cache' },
  (cache, { name, effect }) => {
    if (cache !== true || effect !== 'once') return [];
    const what = `no \`cache\` for the \`once\` tool \`${String(name)}\``;
    return [expected('tool_cache', what, 'true', 'Remove it: its second call would do nothing.')];
  },
];

/** Whether equal calls are no sign that a model goes in circles. */
export const REPEATABLE_RULE: Kind = { ...SWITCH, code: 'tool_repeatable' };

/** Who approves; a time to approve needs an approval. */
export const APPROVAL_RULE: readonly [Kind, Check] = [
  {
    wanted: "to be 'always', 'never' or a function",
    fits: (value) => value === 'always' || value === 'never' || typeof value === 'function',
    code: 'tool_approval',
    advice: 'Choose one of them.',
  },
  (approval = 'never', { name, approvalTimeoutMs }) => {
    if (approvalTimeoutMs === undefined || approval !== 'never') return [];
    const what = `no \`approvalTimeoutMs\` for \`${String(name)}\`, which needs no approval`;
    const advice = 'Set `approval`, or remove it.';
    return [expected('tool_approval', what, shown(approvalTimeoutMs), advice)];
  },
];

/** The approval as data; a function stays on the worker. */
export function approvalSpec({
  approval = 'never',
  approvalTimeoutMs,
}: {
  readonly approval?: unknown;
  readonly approvalTimeoutMs?: number;
}): Pick<ToolSpec, 'approval' | 'approvalTimeoutMs'> {
  if (approval === 'never') return {};
  return defined({ approval: approval === 'always' ? approval : 'function', approvalTimeoutMs });
}

/** How long a person has to approve. */
export const APPROVAL_TIMEOUT_RULE: Kind = range(1, MAX_TIMEOUT_MS);

const EFFECT: Kind = {
  ...oneOf('read', 'idempotent', 'once'),
  wanted: "to be 'read', 'idempotent' or 'once'",
  code: 'tool_effect',
};

const RETRY_FIELDS: FieldRules = {
  attempts: range(1),
  initialMs: range(1),
  factor: { ...range(1), fits: (value) => Number.isFinite(value) && Number(value) >= 1 },
};

const TOOL_FIELDS: FieldRules<keyof ToolOptions | keyof IsolatedToolOptions> = {
  name: (name) => nameProblems(name),
  description: {
    ...TEXT,
    wanted: 'to say what the tool does',
    required: true,
    code: 'tool_description',
    advice: 'Write a sentence.',
  },
  policy: { ...STRING, code: 'tool_policy' },
  execute: executeProblems,
  isolate: isolateProblems,
  module: moduleProblems,
  heapMb: range(TOOL_BOUNDS.minHeapMb),
  effect: [EFFECT, onceProblems],
  local: localProblems,
  timeoutMs: range(1),
  maxResultBytes: range(1, TOOL_BOUNDS.maxResultBytes),
  approvalTimeoutMs: APPROVAL_TIMEOUT_RULE,
  retry: retryProblems,
  cache: CACHE_RULE,
  repeatable: REPEATABLE_RULE,
  final: { ...SWITCH, code: 'tool_final' },
  readsContext: [{ ...SWITCH, code: 'tool_context' }, contextProblems],
  approval: APPROVAL_RULE,
  enabled: { ...FUNCTION, code: 'tool_enabled' },
  asks: { ...FUNCTION, code: 'tool_ask' },
  search: {
    ...OBJECT,
    code: 'tool_search',
    fields: { domain: TEXT, categories: TEXTS, keywords: TEXTS, queries: TEXTS },
  },
  sequential: [],
  // Read as schemas, see `schemaProblems`.
  parameters: [],
  jsonSchema: [],
  output: [],
};

/** All problems of a tool's options, except those of its schemas. */
export function toolProblems(options: AnyToolOptions): readonly UsageProblem[] {
  const of = `\`${options.name}\``;
  return fieldProblems(options, TOOL_FIELDS, { code: 'number', of, owner: `tool ${of}` });
}

/** The problems of the schema of the arguments. */
export function parameterProblems(name: string, reading?: SchemaReading): readonly UsageProblem[] {
  return schemaProblems(`\`parameters\` of \`${name}\` to be a schema for an object`, reading);
}

/** The problems of a schema; `what` says in the message what was expected. */
export function schemaProblems(what: string, reading?: SchemaReading): readonly UsageProblem[] {
  if (reading?.kind !== 'problem') return [];
  return [expected('tool_schema', what, reading.got, reading.advice)];
}

function onceProblems(effect: unknown, { name, retry }: Fields): readonly UsageProblem[] {
  const { attempts } = Object(retry ?? {}) as Fields;
  if (effect !== 'once' || attempts === undefined || attempts === 1) return [];
  const what = `a single attempt of the \`once\` tool \`${String(name)}\``;
  return [
    expected('once_retry', what, shown(attempts), "Remove `retry`, or use effect 'idempotent'."),
  ];
}

function contextProblems(readsContext: unknown, { name, local }: Fields): readonly UsageProblem[] {
  if (readsContext !== true || local !== true) return [];
  const advice = 'Remove one of them: a local call cannot ask the run that waits for it.';
  const what = `\`readsContext\` or \`local\` of \`${String(name)}\``;
  return [expected('tool_context', what, 'both', advice)];
}

function localProblems(local: unknown, options: Fields): readonly UsageProblem[] {
  const given = options as unknown as ToolOptions;
  const effect = given.effect ?? TOOL_DEFAULTS.effect;
  if (local === 'auto' && effect !== 'read') {
    const what = `\`local: 'auto'\` of \`${given.name}\` only with effect 'read'`;
    return [expected('local_tool', what, `'${effect}'`, 'Change the effect, or remove `local`.')];
  }
  if (local !== true) return [];
  const timeoutMs = given.timeoutMs ?? TOOL_DEFAULTS.localTimeoutMs;
  if (effect === 'read' && timeoutMs <= TOOL_BOUNDS.localTimeoutMs) return [];
  const what = `the local tool \`${given.name}\` to have effect 'read' and a \`timeoutMs\` of at most ${TOOL_BOUNDS.localTimeoutMs}`;
  const got = `'${effect}' and ${timeoutMs}`;
  return [expected('local_tool', what, got, 'Change them, or remove `local`.')];
}

function retryProblems(retry: unknown, { name }: Fields): readonly UsageProblem[] {
  const naming = { code: 'number', within: 'retry.', of: `\`${String(name)}\`` } as const;
  return fieldProblems(Object(retry ?? {}) as object, RETRY_FIELDS, naming);
}
