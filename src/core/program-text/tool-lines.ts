/** Tools as programs call them: a line with types, an example call, and descriptions. */
import type { ToolSpec } from '../contract/spec.ts';
import { isJsonObject, memberOf, type Json, type JsonObject } from '../base/json.ts';
import { toSignature } from '../signature/from-json-schema.ts';
import { promptName, promptType } from '../signature/print-signature.ts';
import { withoutOptional, type SignatureField, type SignatureType } from '../contract/signature.ts';
import { framedLine } from './framing.ts';
import { exampleLisp, keyOf } from './lisp-example.ts';

/** `;; tools` and a block for each of `tools`; `;; no tools` if there are none. */
export function toolLines(tools: readonly ToolSpec[]): readonly string[] {
  return tools.length === 0 ? [';; no tools'] : [';; tools', ...tools.flatMap(linesOf)];
}

function linesOf({ name, description, policy, parameters, output }: ToolSpec): readonly string[] {
  const fields = fieldsOf(parameters);
  const params = fields.map((field) => `${promptName(field.name)} ${promptType(field.type)}`);
  const result = output === undefined ? 'any' : promptType(typeOf(output));
  const required = fields.filter(({ type }) => type.kind !== 'optional');
  const args = required.map((field) => `${keyOf(field.name)} ${exampleLisp(field.type)}`);
  const example = args.length === 0 ? `(tool/${name})` : `(tool/${name} {${args.join(' ')}})`;
  return [
    `tool/${name}(${params.join(', ')}) -> ${result}  ; ${framedLine(description)}`,
    `;   ${example}`,
    ...fields.flatMap(({ name: field }) =>
      wordsOf(field, memberOf(parameters?.['properties'], field)),
    ),
    ...(policy === undefined || policy === '' ? [] : [`;   Policy: ${framedLine(policy)}`]),
  ];
}

/** What a type cannot express about a parameter: its meaning and its allowed values. */
function wordsOf(name: string, schema: Json | undefined): readonly string[] {
  if (!isJsonObject(schema)) return [];
  const { description, enum: choices } = schema;
  const words = [
    ...(typeof description === 'string' ? [framedLine(description)] : []),
    ...(Array.isArray(choices)
      ? [`one of ${choices.map((choice: Json) => JSON.stringify(choice)).join(', ')}`]
      : []),
  ].filter((text) => text !== '');
  return words.length === 0 ? [] : [`;   ${promptName(name)}: ${words.join('; ')}`];
}

function fieldsOf(parameters: JsonObject | null): readonly SignatureField[] {
  if (parameters === null) return [];
  const type = withoutOptional(typeOf(parameters));
  return type.kind === 'record' ? type.fields : [];
}

/** The type of a schema, its fields in the author's order. */
function typeOf(schema: Json): SignatureType {
  return inWrittenOrder(toSignature(schema).type, schema);
}

function inWrittenOrder(type: SignatureType, schema: Json): SignatureType {
  if (!isJsonObject(schema)) return type;
  switch (type.kind) {
    case 'optional':
      return { ...type, inner: inWrittenOrder(type.inner, schema) };
    case 'list':
      return { ...type, item: inWrittenOrder(type.item, schema['items'] ?? null) };
    case 'record': {
      const { properties } = schema;
      const names = isJsonObject(properties) ? Object.keys(properties) : [];
      const fields = type.fields
        .toSorted((a, b) => names.indexOf(a.name) - names.indexOf(b.name))
        .map((field) => ({
          ...field,
          type: inWrittenOrder(field.type, memberOf(properties, field.name) ?? null),
        }));
      return { ...type, fields };
    }
    default:
      return type;
  }
}
