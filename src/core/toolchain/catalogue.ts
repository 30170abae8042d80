/** The tools of an agent as text: the section `tools` of a prompt, and lists of arguments. */
import type { ToolSpec } from '../contract/spec.ts';
import type { Json, JsonObject } from '../base/json.ts';
import type { ModelTool } from '../contract/model.ts';
import {
  readShape,
  type SchemaShape,
  type ShapeField,
  type ShapeReading,
  type ShapeWord,
} from '../section/schema-shape.ts';
import { withLimits } from '../section/limit-words.ts';
import { indentRest } from '../text/line-breaks.ts';
import { nativeName } from './native-calls.ts';
import type { Toolchain } from './toolchain.ts';

/**
 * `You can use these tools:` and a block for each, in the agent's order; empty if there are none.
 */
export function catalogueText(tools: readonly ToolSpec[], toolchain: Toolchain): string {
  if (tools.length === 0) return '';
  const blocks = tools.map((tool) => catalogueBlock(tool, toolchain));
  return ['You can use these tools:', ...blocks].join('\n\n');
}

/** The block of one tool: name, description, policy, parameters. */
export function catalogueBlock(tool: ToolSpec, toolchain: Toolchain): string {
  const parameters =
    tool.parameters === null ? ' none' : toolchain.writeParameters(tool.parameters);
  return [
    `- ${tool.name}: ${indentRest(tool.description, 2)}`,
    ...(tool.policy === undefined ? [] : [`  Policy: ${indentRest(tool.policy, 2)}`]),
    `  Parameters:${parameters}`,
  ].join('\n');
}

/** The tool as it is declared to a provider; a policy follows the description. */
export function modelTool(tool: ToolSpec): ModelTool {
  const policy = tool.policy === undefined ? '' : `\n\nPolicy: ${tool.policy}`;
  return {
    name: nativeName(tool.name),
    description: tool.description + policy,
    parameters: tool.parameters ?? { type: 'object', properties: {} },
  };
}

/** A line for each property of `schema`, in its order: `- name (type, required): description`. */
export function fieldLines(schema: JsonObject | null): string {
  if (schema === null) return '';
  const { shape, named } = readShape(schema);
  if (shape.kind !== 'record') return '';
  return shape.fields.map((field) => fieldLine(field, named)).join('\n');
}

type Named = ShapeReading['named'];

function fieldLine({ name, shape, isRequired, description }: ShapeField, named: Named): string {
  const suffix = description === undefined || description === '' ? '' : `: ${description}`;
  return `- ${name} (${fieldType(shape, named)}${isRequired ? ', required' : ''})${suffix}`;
}

/** The words of JSON Schema for a shape. An object shows only that it is one. */
function fieldType(shape: SchemaShape, named: Named): string {
  switch (shape.kind) {
    case 'word':
      return withLimits(TYPE_WORDS[shape.word], shape.limits);
    case 'choice':
      return `one of ${shape.values.map(plainText).join(', ')}`;
    case 'list':
      return `list of ${fieldType(shape.item, named)}`;
    case 'tuple':
      return 'array';
    case 'record':
      return 'object';
    case 'union':
      return [...new Set(shape.members.map((member) => fieldType(member, named)))].join(' or ');
    case 'name': {
      const target = named.get(shape.name);
      // A name that stands for another name is a type inside itself.
      return target === undefined || target.kind === 'name' || target.kind === 'union'
        ? shape.name
        : fieldType(target.kind === 'list' ? { kind: 'tuple', items: [] } : target, named);
    }
  }
}

const TYPE_WORDS: Readonly<Record<ShapeWord, string>> = {
  string: 'string',
  int: 'integer',
  float: 'number',
  bool: 'boolean',
  nil: 'null',
  map: 'object',
  any: 'any',
};

function plainText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
