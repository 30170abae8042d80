/** The tools of an agent as text: the section `tools` of a prompt, and lists of arguments. */
import type { ToolSpec } from '../contract/spec.ts';
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import type { ModelTool } from '../contract/model.ts';
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
  const properties = schema?.['properties'];
  if (!isJsonObject(properties)) return '';
  const required = Array.isArray(schema?.['required'])
    ? (schema['required'] as readonly Json[])
    : [];
  return Object.entries(properties)
    .map(([name, field]) => fieldLine(name, field, required.includes(name)))
    .join('\n');
}

function fieldLine(name: string, field: Json, isRequired: boolean): string {
  const description = isJsonObject(field) ? field['description'] : undefined;
  const suffix = typeof description === 'string' && description !== '' ? `: ${description}` : '';
  return `- ${name} (${fieldType(field)}${isRequired ? ', required' : ''})${suffix}`;
}

function fieldType(field: Json | undefined): string {
  if (!isJsonObject(field)) return 'any';
  const values = field['enum'];
  if (Array.isArray(values)) return `one of ${values.map(plainText).join(', ')}`;
  const type = field['type'];
  if (typeof type !== 'string') return 'any';
  return type === 'array' ? `list of ${fieldType(field['items'])}` : type;
}

function plainText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
