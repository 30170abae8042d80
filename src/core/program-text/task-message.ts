/** The first message to a model that writes programs: its data, its tools and the task. */
import { withCommas } from '../../lisp/base/with-commas.ts';
import type { AgentSpec, ProgramSizes, ToolSpec } from '../contract/spec.ts';
import { type JsonObject, isJsonObject, type Json, jsonType } from '../base/json.ts';
import { readShape } from '../section/schema-shape.ts';
import {
  answerExample,
  answerLines as linesOfAnswer,
  ownSchema,
} from '../signature/answer-form.ts';
import { describedFields } from '../signature/describe-output.ts';
import { promptType } from '../signature/print-signature.ts';
import { shapeText } from '../signature/shape-text.ts';
import { ASK_TOOL, askProgramSchema } from '../toolchain/ask-user.ts';
import { framedLine } from '../text/untrusted.ts';
import { hiddenTexts, withoutHidden } from './hidden-values.ts';
import { isHidden } from '../contract/signature.ts';
import { fromJson, printValue } from '../../lisp.ts';
import { exampleLisp, lispOf, toolLines } from './tool-lines.ts';

/** The material of the first message. */
export interface TaskMessage {
  readonly spec: AgentSpec;
  readonly sizes: ProgramSizes;
  /** Hidden keys included. */
  readonly context: JsonObject;
  readonly contextDescriptions: { readonly [name: string]: string };
  /** Definitions that the run begins with. */
  readonly memory: readonly { readonly name: string; readonly preview: string }[];
  readonly task: string;
  /** False on the last turns: tools still work but are not listed. */
  readonly withTools: boolean;
}

/** The text of the message; empty parts are left out. */
export function taskMessage(given: TaskMessage): string {
  const { spec, sizes, context, contextDescriptions, memory, task, withTools } = given;
  const hidden = hiddenTexts([context]);
  return [
    ...(withTools ? toolLines(spec.tools.map(asProgramsSee)) : []),
    ...dataLines(context, contextDescriptions, sizes),
    ...(memory.length === 0
      ? []
      : [
          ';; memory',
          ...memory.map(
            ({ name, preview }) => `${name} = ${framedLine(withoutHidden(preview, hidden))}`,
          ),
        ]),
    ...answerLines(spec),
    ...(task === '' ? [] : ['<task>', task.replaceAll(/<\/task/gi, '<\\/task'), '</task>']),
  ].join('\n');
}

/** In a program, `ask_user` accepts more: its options may be any values. */
function asProgramsSee(tool: ToolSpec): ToolSpec {
  return tool.name === ASK_TOOL ? { ...tool, parameters: askProgramSchema } : tool;
}

function answerLines({ answer }: AgentSpec): readonly string[] {
  const { output } = answer;
  if (output === undefined) return [';; answer', 'any    e.g. (return "text")'];
  const schema = ownSchema(answer);
  if (schema !== undefined) return schemaLines(answer, schema);
  const words = describedFields(output)
    .filter((line) => line.includes('): '))
    // A list is not wrapped here, unlike where JSON is asked for.
    .map((line) => `;   ${framedLine(line.slice(2).replace('`items[]', '`[]'))}`);
  return [';; answer', `${promptType(output)}    e.g. (return ${exampleLisp(output)})`, ...words];
}

/** The same of an answer whose schema says more than its type. */
function schemaLines(answer: AgentSpec['answer'], schema: JsonObject): readonly string[] {
  const { shape, named } = readShape(schema);
  const example = answerExample(answer);
  return [
    ';; answer',
    `${shapeText(shape)}${example === undefined ? '' : `    e.g. (return ${lispOf(example)})`}`,
    ...[...named].map(([name, inner]) => `;   ${name} = ${shapeText(inner)}`),
    ...linesOfAnswer(answer).map((line) => `;   ${/^ */.exec(line)?.[0] ?? ''}${framedLine(line)}`),
  ];
}

/** The column after a name, unless the name is longer. */
const NAME_WIDTH = 18;

/** `;; data` and its lines; none without keys. Hidden keys show only their names. */
export function dataLines(
  context: JsonObject,
  descriptions: { readonly [name: string]: string },
  sizes: ProgramSizes,
): readonly string[] {
  const keys = Object.keys(context).filter((key) => key !== 'task');
  const lines = keys.map((key) => {
    const meaning = Object.hasOwn(descriptions, key) ? descriptions[key] : undefined;
    const about = meaning === undefined ? '' : ` -- ${framedLine(meaning)}`;
    const words = isHidden(key) ? 'hidden' : describe(context[key] ?? null, sizes);
    return `${nameOf(key).padEnd(NAME_WIDTH)} ; ${words}${about}`;
  });
  return lines.length === 0 ? [] : [';; data', ...lines];
}

/** A key that cannot be written as a symbol is listed too, so that the caller can rename it. */
function nameOf(key: string): string {
  return /^[A-Za-z0-9_][A-Za-z0-9_?!.-]*$/.test(key)
    ? `data/${key}`
    : `; ${framedLine(JSON.stringify(key))} has no name in programs`;
}

function describe(value: Json, sizes: ProgramSizes): string {
  const sample = sampleOf(value, sizes);
  return sample === '' ? sizeOf(value) : `${sizeOf(value)}; sample: ${sample}`;
}

/** The kind of a value, named as in signatures, and its size. */
function sizeOf(value: Json): string {
  if (Array.isArray(value)) {
    const kinds = [...new Set(value.map((item: Json) => kindOf(item)))];
    const of = kinds.length === 0 ? '' : ` of ${kinds.length === 1 ? (kinds[0] ?? '') : 'any'}`;
    return `list${of}, ${counted(value.length, 'item')}`;
  }
  if (isJsonObject(value)) return `map, ${counted(Object.keys(value).length, 'key')}`;
  if (typeof value === 'string') return `string, ${counted(value.length, 'char')}`;
  return kindOf(value);
}

function kindOf(value: Json): string {
  const type = jsonType(value);
  switch (type) {
    case 'array':
      return 'list';
    case 'object':
      return 'map';
    case 'boolean':
      return 'bool';
    case 'number':
      return Number.isSafeInteger(value) ? 'int' : 'float';
    default:
      return type === 'null' ? 'nil' : type;
  }
}

/** The first items of a list as far as there is room, or the beginning of any other value. */
function sampleOf(value: Json, { sampleItems, sampleChars }: ProgramSizes): string {
  const bounds = { elements: sampleItems, text: sampleChars, total: sampleChars, hides: true };
  const print = (json: Json): string => printValue(fromJson(json), 'preview', bounds);
  if (value === null || (Array.isArray(value) && value.length === 0)) return '';
  if (!Array.isArray(value)) return framedLine(print(value));
  const shown: string[] = [];
  for (const item of value.slice(0, sampleItems) as readonly Json[]) {
    const text = print(item);
    const isFull = [...shown, text].join(' ').length > sampleChars;
    if (isFull && shown.length > 0) break;
    shown.push(text);
  }
  const rest = shown.length < value.length ? ' …' : '';
  return framedLine(`[${shown.join(' ')}${rest}]`);
}

function counted(count: number, noun: string): string {
  return `${withCommas(count)} ${noun}${count === 1 ? '' : 's'}`;
}
