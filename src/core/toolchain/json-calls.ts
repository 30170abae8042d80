import { isJsonObject, memberOf, type Json, jsonType } from '../base/json.ts';
import { readJson } from '../section/json-reader.ts';
import { payloadReader, readBatch, type RawBlock, type RawElement } from './call-reading.ts';
import type { Toolchain } from './toolchain.ts';

const guidanceHead = `Call tools with JSON. One call:

{"tool": "tool_name", "args": {"name": "value"}}

`;

const guidanceTail = `

[{"tool": "first_tool", "args": {"name": "value"}}, {"tool": "second_tool", "args": {}}]`;

/** How several calls of one reply run, as the heading of an example. */
export function severalCalls(parallel: boolean): string {
  return parallel
    ? 'Several calls that do not depend on each other:'
    : 'Several calls, run one after the other:';
}

/** Calls as JSON: an object with `tool` and `args`, or an array of them. */
export function jsonToolchain(): Toolchain {
  return {
    guidance: ({ parallel }) => guidanceHead + severalCalls(parallel) + guidanceTail,
    readCalls: (contents, context) => readBatch(contents.map(payloadReader(blockOf)), context),
    write: (value) => JSON.stringify(value),
    writeParameters: (schema) => ` ${JSON.stringify(schema)}`,
  };
}

function blockOf(text: string): RawBlock {
  const reading = readJson(text);
  if (reading.kind === 'problem') return { kind: 'problems', problems: [reading.problem] };
  const { value } = reading;
  return Array.isArray(value)
    ? { kind: 'elements', isList: true, elements: value.map(jsonElement) }
    : { kind: 'elements', isList: false, elements: [jsonElement(value)] };
}

/** A value that may be a call: an object with `tool` and `args`. */
export function jsonElement(value: Json): RawElement {
  if (!isJsonObject(value)) return { kind: 'other', type: jsonType(value) };
  const args = { kind: 'value', value: memberOf(value, 'args') } as const;
  return { kind: 'call', tool: memberOf(value, 'tool'), args: () => args };
}
