/**
 * Finds the one JSON value in a reply: in a forced call, in a fence, in the first brackets that
 * contain one, or in the whole text. The only repair is to remove commas before closing brackets.
 */
import { defined } from '../base/defined.ts';
import { isJsonObject, type Json, jsonType } from '../base/json.ts';
import type { Reply } from '../contract/model.ts';
import { callsOf, replyText } from '../contract/turn.ts';
import type { ReplyProblem } from '../base/problem.ts';
import type { JsonReading } from '../section/json-reader.ts';
import { readLoosely } from '../section/loose-json.ts';
import { readShape } from '../section/schema-shape.ts';
import { withLineFeeds } from '../text/line-breaks.ts';
import { alignValue } from './align-value.ts';
import { outputOf, ownSchema, type AnswerForm } from './answer-form.ts';
import { rootField } from './json-schema.ts';
import { withoutOptional, type SignatureType } from '../contract/signature.ts';

/** The tool that a model is forced to call with its answer. */
export const RESPOND_TOOL = 'respond';

/** A value to be checked, or why there is none. */
export type OutputReading =
  | { readonly kind: 'value'; readonly value: Json }
  | { readonly kind: 'unreadable'; readonly problems: readonly ReplyProblem[] };

/** Opening brackets that are tried, from the left. */
const MAX_BRACKETS = 50;

/** The part of a reply that may contain an output. */
export interface OutputSource {
  readonly text: string;
  /** The arguments of a forced call; they come first. */
  readonly args?: Json;
  /** Whether the provider stopped at its token limit. */
  readonly isCut: boolean;
}

/** The output in a reply, aligned with its type. Never throws. */
export function readOutput(form: AnswerForm, source: OutputSource): OutputReading {
  const type = outputOf(form);
  const word = bareWord(form, source);
  if (word !== undefined) return { kind: 'value', value: word };
  const found = findJson(type, source);
  if (found.kind === 'problem') {
    // A truncated reply is unreadable for that reason, whatever else is wrong with it.
    return unreadable(source.isCut ? cutOff : found.problem);
  }
  const root = unwrap(type, found.value);
  if (root.kind === 'problem') {
    return unreadable(source.isCut ? cutOff : root.problem);
  }
  return { kind: 'value', value: alignValue(type, root.value) };
}

/** The source of an output in a reply: the forced call, whatever its name, then text. */
export function sourceOf(reply: Reply): OutputSource {
  const calls = callsOf(reply);
  const call = calls.find(({ tool }) => tool === RESPOND_TOOL) ?? calls[0];
  return defined({
    text: replyText(reply),
    args: call?.args,
    isCut: reply.finishReason === 'length',
  });
}

/** What a model wrote, for a quote: its text, or the arguments of the forced call. */
export function writtenText({ text, args }: OutputSource): string {
  if (args === undefined) return text;
  return typeof args === 'string' ? args : JSON.stringify(args);
}

const cutOff: ReplyProblem = {
  code: 'truncated_reply',
  message: 'The reply was cut off by the length limit.',
};
const empty: ReplyProblem = { code: 'empty_reply', message: 'The reply is empty.' };
const noJson: ReplyProblem = { code: 'no_json', message: 'There is no JSON in the reply.' };

function unreadable(problem: ReplyProblem): OutputReading {
  return { kind: 'unreadable', problems: [problem] };
}

function findJson(type: SignatureType, source: OutputSource): JsonReading {
  const { args } = source;
  if (typeof args === 'string') return readLoosely(args);
  if (args !== undefined) return { kind: 'value', value: args };
  const text = withLineFeeds(source.text).replace(/^\uFEFF/, '');
  if (text.trim() === '') return { kind: 'problem', problem: empty };
  const fenced = fenceContent(text);
  if (fenced !== undefined) return readLoosely(fenced);
  const bracketed = firstBracketed(type, text);
  if (bracketed !== undefined) return { kind: 'value', value: bracketed };
  const whole = readLoosely(text.trim());
  if (whole.kind === 'value' || /^[{[]/.test(text.trim())) return whole;
  return { kind: 'problem', problem: noJson };
}

/** The content of the first fence that is tagged `json` or untagged, and not blank. */
function fenceContent(text: string): string | undefined {
  const lines = text.split('\n');
  for (let at = 0; at < lines.length; at++) {
    const opener = /^ {0,3}(`{3,}|~{3,})([^`]*)$/.exec(lines[at] ?? '');
    if (opener === null) continue;
    const [, fence = '', info = ''] = opener;
    const close = lines.findIndex((line, index) => index > at && closes(line, fence));
    const end = close === -1 ? lines.length : close;
    const tag = info.trim().split(/\s/)[0]?.toLowerCase() ?? '';
    const content = lines.slice(at + 1, end).join('\n');
    if ((tag === '' || tag === 'json') && content.trim() !== '') return content.trim();
    at = end;
  }
  return undefined;
}

function closes(line: string, fence: string): boolean {
  const text = line.trim();
  const mark = fence[0] ?? '`';
  return text.length >= fence.length && text === mark.repeat(text.length);
}

/** The first bracketed value whose root is the wanted one, otherwise the first that can be read. */
function firstBracketed(type: SignatureType, text: string): Json | undefined {
  const takesList = withoutOptional(type).kind === 'list';
  let first: Json | undefined;
  let looked = 0;
  for (let at = 0; at < text.length && looked < MAX_BRACKETS; at++) {
    if (text[at] !== '{' && text[at] !== '[') continue;
    looked += 1;
    const end = matchingBracket(text, at);
    if (end === undefined) continue;
    const reading = readLoosely(text.slice(at, end + 1));
    if (reading.kind === 'problem') continue;
    if (isJsonObject(reading.value) || takesList) return reading.value;
    first ??= reading.value;
  }
  return first;
}

/** The end of the bracket at `start`; skips strings and escapes. */
function matchingBracket(text: string, start: number): number | undefined {
  let depth = 0;
  let isInString = false;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (isInString) {
      if (character === '\\') at += 1;
      else if (character === '"') isInString = false;
    } else if (character === '"') isInString = true;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return undefined;
}

/** A value of a choice as a model writes it that answers in a word: `spam`, `**Spam**.` */
function bareWord(form: AnswerForm, { text, args, isCut }: OutputSource): Json | undefined {
  const schema = ownSchema(form);
  if (schema === undefined || isCut) return undefined;
  const { shape } = readShape(schema);
  if (shape.kind !== 'choice') return undefined;
  const given = typeof args === 'string' ? args : args === undefined ? text : '';
  const isSaid = (value: Json): boolean => wordOf(shown(value)) === wordOf(given);
  const exact = shape.values.find((value) => shown(value) === given.trim());
  const [only, other] = shape.values.filter(isSaid);
  return exact ?? (other === undefined ? only : undefined);
}

function shown(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A text without marks around it, in small letters. */
function wordOf(text: string): string {
  return text
    .trim()
    .replace(/^[`*_"']+|[`*_"'.]+$/g, '')
    .toLowerCase();
}

/** A list or a scalar is asked for inside an object, and accepted bare too. */
function unwrap(type: SignatureType, value: Json): JsonReading {
  const field = rootField(type);
  if (field === null) {
    // An object that was encoded twice.
    const inner = typeof value === 'string' ? readLoosely(value) : undefined;
    if (inner?.kind === 'value' && isJsonObject(inner.value)) return inner;
    return isJsonObject(value) ? { kind: 'value', value } : wrongRoot(value);
  }
  if (!isJsonObject(value)) {
    // A bare scalar, a bare list, or something that the check refuses.
    return { kind: 'value', value };
  }
  if (Object.hasOwn(value, field)) return { kind: 'value', value: value[field] ?? null };
  if (withoutOptional(type).kind === 'any') return { kind: 'value', value };
  const [form, bare] =
    field === 'items' ? ['{"items": […]}', 'an array'] : ['{"value": …}', 'a bare value'];
  const message = `expected ${form} or ${bare}, got an object without "${field}"`;
  return { kind: 'problem', problem: { code: 'json_root', message } };
}

function wrongRoot(value: Json): JsonReading {
  const message = `expected a JSON object, got ${jsonType(value)}`;
  return { kind: 'problem', problem: { code: 'json_root', message } };
}
