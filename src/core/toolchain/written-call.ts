/**
 * A call that a model wrote as text, in place of the provider's native one: JSON with the name of a
 * tool of the agent and its arguments.
 */
import { isJsonObject, memberOf, type Json } from '../base/json.ts';
import { readJson } from '../section/json-reader.ts';
import { withLineFeeds } from '../text/line-breaks.ts';

/** Larger texts are answers; a call is small. */
const MAX_CHARACTERS = 16_384;

/** How models name the tool of a call, and its arguments. */
const TOOL_FIELDS: readonly string[] = ['tool', 'name', 'tool_name', 'function_name', 'action'];
const ARGS_FIELDS: readonly string[] = ['args', 'arguments', 'parameters', 'input', 'action_input'];

/** What may be around the JSON: a code block, or the tags of some models. */
const WRAPPERS: readonly (readonly [open: string, close: string])[] = [
  ['```', '```'],
  ['<tool_call>', '</tool_call>'],
  ['<function_call>', '</function_call>'],
];

/**
 * The tool of `tools` that `text` calls; undefined when the text is anything else. The JSON is the
 * whole text, or its last code block or tag, which nothing follows: a text that goes on after it is
 * written for people.
 */
export function writtenCall(text: string, tools: readonly string[]): string | undefined {
  const whole = withLineFeeds(text).trim();
  if (whole.length > MAX_CHARACTERS || !whole.includes('{')) return undefined;
  const reading = readJson(unwrapped(whole));
  return reading.kind === 'value' ? calledTool(reading.value, tools) : undefined;
}

/** The inside of the wrapper with which `text` ends; the text itself if there is none. */
function unwrapped(text: string): string {
  for (const [open, close] of WRAPPERS) {
    const end = text.endsWith(close) ? text.length - close.length : text.length;
    const start = text.lastIndexOf(open, end - 1);
    const isBlock = open === close;
    if (start === -1 || (isBlock && end === text.length)) continue;
    const inside = text.slice(start + open.length, end);
    // The line that opens a code block may name its language.
    return (isBlock ? inside.slice(inside.indexOf('\n') + 1) : inside).trim();
  }
  return text;
}

function calledTool(value: Json, tools: readonly string[]): string | undefined {
  if (Array.isArray(value)) {
    const called = value.map((one: Json) => calledTool(one, tools));
    return called.every((name) => name !== undefined) ? called[0] : undefined;
  }
  if (!isJsonObject(value)) return undefined;
  const calls = memberOf(value, 'tool_calls');
  if (Array.isArray(calls)) return calledTool(calls, tools);
  const inner = memberOf(value, 'function');
  if (isJsonObject(inner)) return calledTool(inner, tools);
  const name = [...TOOL_FIELDS, 'function']
    .map((field) => memberOf(value, field))
    .find((field) => typeof field === 'string' && tools.includes(field));
  const hasArgs = ARGS_FIELDS.some((field) => Object.hasOwn(value, field));
  return hasArgs ? (name as string | undefined) : undefined;
}
