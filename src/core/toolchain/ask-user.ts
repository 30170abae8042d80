/** The built-in tool by which a model asks a person. */
import type { OpenInput } from '../contract/pending.ts';
import type { ToolSpec } from '../contract/spec.ts';
import type { Json, JsonObject } from '../base/json.ts';
import { clip } from '../text/cut.ts';
import { NO_ACTIVITY_FIELDS } from './llm-query.ts';
import { foldedLabel } from '../text/folded-label.ts';
import { spanText } from '../text/span-text.ts';

/** The name of the built-in tool. */
export const ASK_TOOL = 'ask_user';

/** Ten years. Longer is forever, and dates after 2262 overflow the service's. */
export const MAX_TIMEOUT_MS = 315_360_000_000;

/** Characters of a question that an error quotes. */
const MAX_QUOTED = 200;

/** Options that a person can be shown at once. */
export const MAX_OPTIONS = 100;

/** UTF-8 bytes of the JSON of a question with options and details, which the state keeps. */
export const MAX_QUESTION_BYTES = 65_536;

const PARAMETERS: JsonObject = {
  type: 'object',
  properties: {
    question: {
      type: 'string',
      minLength: 1,
      description: 'what to ask, with all that a person needs to answer it',
    },
    options: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      minItems: 1,
      maxItems: MAX_OPTIONS,
      description: 'choices; the result is the chosen one',
    },
    free: { type: 'boolean', description: 'with options: true also accepts other text' },
    default: { type: 'string', description: 'the result when nobody answers in time' },
    timeoutMs: {
      type: 'integer',
      minimum: 1,
      maximum: MAX_TIMEOUT_MS,
      description: 'how long to wait; without it as long as it takes',
    },
    details: { description: 'more for the person to see' },
  },
  required: ['question'],
  additionalProperties: false,
};

/** The arguments in a program: options may be any values, and keys have dashes. */
export const askProgramSchema: JsonObject = {
  type: 'object',
  properties: {
    question: { type: 'string', minLength: 1 },
    options: { type: 'array', minItems: 1, maxItems: MAX_OPTIONS },
    free: { type: 'boolean' },
    default: {},
    'timeout-ms': { type: 'integer', minimum: 1, maximum: MAX_TIMEOUT_MS },
    details: {},
  },
  required: ['question'],
  additionalProperties: false,
};

/** The built-in tool as plain data. Fields for tool activities are not used. */
export function askToolSpec(): ToolSpec {
  return {
    name: ASK_TOOL,
    description: 'Ask a person and wait for the answer.',
    policy:
      'Ask only what you cannot find out yourself. Other calls of the same step go on meanwhile.',
    parameters: PARAMETERS,
    ...NO_ACTIVITY_FIELDS,
  };
}

/** A question as a model or a program asks it. */
export interface Question {
  readonly question: string;
  /** At least one; absent: any text is an answer. */
  readonly options?: readonly string[];
  /** With options: whether any other text is accepted too. */
  readonly free: boolean;
  /** The answer at the deadline if none was given. */
  readonly default?: Json;
  readonly timeoutMs?: number;
  readonly details?: Json;
  /** Set if a tool or its server asks. */
  readonly input?: OpenInput;
}

/** The question in arguments that fit the schema, or a problem that the schema cannot express. */
export function readQuestion(
  args: JsonObject,
):
  | { readonly kind: 'question'; readonly question: Question }
  | { readonly kind: 'unfit'; readonly line: string } {
  const { free, ...fields } = args as unknown as Omit<Question, 'free'> & {
    readonly free?: boolean;
  };
  const equal = equalOptions(fields.options ?? []);
  if (equal !== null) {
    return { kind: 'unfit', line: `options: items ${equal.join(', ')} are equal` };
  }
  return { kind: 'question', question: { ...fields, free: free ?? false } };
}

/** The indexes of two options that a person could not tell apart; null if there are none. */
export function equalOptions(options: readonly string[]): readonly [number, number] | null {
  const labels = options.map(foldedLabel);
  const second = labels.findIndex((label, index) => labels.indexOf(label) !== index);
  return second < 0 ? null : [labels.indexOf(labels[second] ?? ''), second];
}

/** The tool's error after the deadline: `Nobody answered "…" within 24 h.` */
export function unansweredText(question: string, timeoutMs: number): string {
  return `Nobody answered "${clip(question, MAX_QUOTED)}" within ${spanText(timeoutMs)}.`;
}
