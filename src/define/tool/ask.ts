/** What a tool returns that must know more before it can end. */
import { defined } from '../../core/base/defined.ts';
import { utf8Length, type JsonObject } from '../../core/base/json.ts';
import { toJsonResult } from '../../core/base/json-result.ts';
import { UsageError, usageErrorOf, type UsageProblem } from '../../core/base/usage-error.ts';
import type { CallInput } from '../../core/contract/call-input.ts';
import { MAX_TIMEOUT_MS } from '../../core/toolchain/ask-user.ts';
import { formProblem } from '../../core/toolchain/form.ts';
import { expected, fieldProblems, type FieldRules } from '../checks/fields.ts';
import { range, TEXT } from '../checks/kinds.ts';
import { ANSWER_KEY, callInput } from './call-input.ts';
import { readSchema, type SchemaInput } from '../schema/value-schema.ts';

/** A question of a tool; for {@link ask}. */
export interface AskOptions {
  /** What to ask, with all that a person needs to answer it: at most 8 KB. */
  readonly question: string;
  /**
   * What an answer is: a flat object of texts, numbers, true or false, choices and lists of choices,
   * or one such value. Patterns and rules of the schema library are not checked. Default: any text.
   */
  readonly schema?: SchemaInput;
  /** What the next run of the tool gets as `state`: JSON, with the answers at most 64 KB. */
  readonly state?: unknown;
  /** Milliseconds until the call fails without an answer, from 1. Default: it waits for ever. */
  readonly timeoutMs?: number;
}

/** Made by {@link ask}. */
export type AskReturn = CallInput;

/** Bytes of a question, which lists of what waits show. */
const MAX_ASKED_BYTES = 8_192;

const FIELDS: FieldRules<keyof AskOptions> = {
  question: [
    { ...TEXT, required: true },
    {
      wanted: `to have at most ${MAX_ASKED_BYTES} bytes`,
      fits: (text) => utf8Length(String(text)) <= MAX_ASKED_BYTES,
      got: (text) => `${utf8Length(String(text))} bytes`,
    },
  ],
  schema: schemaProblems,
  state: stateProblems,
  timeoutMs: range(1, MAX_TIMEOUT_MS),
};

/**
 * Returned by a tool that must ask a person before it can end. The question waits in the run, without
 * a worker; then the tool runs again, with `answer` and `state` in its context. It may ask again.
 *
 * @throws UsageError for options that do not fit. The model gets it as the tool's error.
 * @example
 * execute: async ({ city }, { answer }) => {
 *   if (typeof answer === 'string') return book(city, answer);
 *   return ask({ question: `Which hotel in ${city}?`, schema: z.enum(['Ritz', 'Astoria']) });
 * },
 */
export function ask(options: AskOptions): AskReturn {
  const problems = fieldProblems(options, FIELDS, { code: 'tool_ask', owner: '`ask`' });
  if (problems.length > 0) throw usageErrorOf(problems);
  const { question: message, timeoutMs } = options;
  const form = formOf(options.schema ?? ANY_TEXT);
  const read = toJsonResult(options.state);
  const state = read.kind === 'json' ? read.value : undefined;
  return callInput({
    requests: { [ANSWER_KEY]: { kind: 'form', message, form } },
    ...defined({ state, timeoutMs }),
  });
}

const ANY_TEXT: JsonObject = { type: 'string', minLength: 1 };

function formOf(schema: SchemaInput): JsonObject {
  const reading = readSchema(schema);
  if (reading.kind === 'schema') return reading.schema.json;
  throw new UsageError('tool_ask', `Expected a schema, got ${reading.got}. ${reading.advice}`);
}

function schemaProblems(schema: unknown): readonly UsageProblem[] {
  if (schema === undefined) return [];
  const reading = readSchema(schema);
  if (reading.kind === 'problem') {
    return [expected('tool_ask', '`schema` to be a schema', reading.got, reading.advice)];
  }
  const unfit = formProblem(reading.schema.json);
  if (unfit === undefined) return [];
  const what = '`schema` to be of texts, numbers, booleans, choices and lists of choices';
  return [
    expected('tool_ask', what, unfit, 'Ask for each part in a field of its own, or ask again.'),
  ];
}

function stateProblems(state: unknown): readonly UsageProblem[] {
  const read = toJsonResult(state);
  if (read.kind !== 'not_json') return [];
  return [expected('tool_ask', '`state` to be JSON', `${read.type} at ${read.path}`)];
}
