import { type JsonObject, jsonType } from '../base/json.ts';
import { yamlValue } from '../section/yaml-reader.ts';
import { parseYamlTree, type YamlNode } from '../section/yaml-tree.ts';
import { indent } from '../text/line-breaks.ts';
import { yamlText } from '../text/yaml-text.ts';
import {
  payloadReader,
  readBatch,
  type RawArgs,
  type RawBlock,
  type RawElement,
} from './call-reading.ts';
import { severalCalls } from './json-calls.ts';
import type { Toolchain } from './toolchain.ts';

const guidanceHead = `Call tools with YAML. One call:

tool: tool_name
args:
  name: value

`;

const guidanceTail = `

- tool: first_tool
  args:
    name: value
- tool: second_tool
  args: {}

Quote text that contains ": " or " #". Write long text as a "|" block.`;

/** A tool name is text, even a plain scalar such as `123`. */
const toolNameSchema: JsonObject = { type: 'string' };

/** Calls as YAML: a mapping with `tool` and `args`, or a sequence of them. */
export function yamlToolchain(): Toolchain {
  return {
    guidance: ({ parallel }) => guidanceHead + severalCalls(parallel) + guidanceTail,
    readCalls: (contents, context) => readBatch(contents.map(payloadReader(blockOf)), context),
    write: yamlText,
    writeParameters: (schema) => `\n${indent(yamlText(schema), 4)}`,
  };
}

function blockOf(payload: string): RawBlock {
  const tree = parseYamlTree(payload);
  if (tree.kind === 'problems') return tree;
  const { root, text } = tree;
  return root.kind === 'list'
    ? { kind: 'elements', isList: true, elements: root.items.map((i) => elementOf(text, i)) }
    : { kind: 'elements', isList: false, elements: [elementOf(text, root)] };
}

function elementOf(text: string, node: YamlNode): RawElement {
  if (node.kind !== 'map') return otherElement(text, node);
  const tool = node.entries.find(({ key }) => key === 'tool')?.value;
  const args = node.entries.find(({ key }) => key === 'args')?.value;
  return {
    kind: 'call',
    tool: tool?.kind === 'scalar' ? scalarText(text, tool) : undefined,
    // Read in two steps, because the tool's name decides the schema of its arguments.
    args: (schema): RawArgs =>
      args === undefined ? { kind: 'value', value: undefined } : yamlValue(text, args, schema),
  };
}

function scalarText(text: string, node: YamlNode): string | undefined {
  const reading = yamlValue(text, node, toolNameSchema);
  return reading.kind === 'value' && typeof reading.value === 'string' ? reading.value : undefined;
}

function otherElement(text: string, node: YamlNode): RawElement {
  const reading = yamlValue(text, node);
  return { kind: 'other', type: reading.kind === 'value' ? jsonType(reading.value) : 'number' };
}
