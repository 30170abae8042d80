/** How a model is told what JSON to write: an example by type, and what needs words. */
import type { JsonObject } from '../json.ts';
import { promptType } from './print-signature.ts';
import { isHidden, withoutOptional, type SignatureField, type SignatureType } from './signature.ts';
import { rootField } from './json-schema.ts';

/** One line of an example: the JSON of a value of `type`, as a model should write it. */
export function exampleJson(type: SignatureType): string {
  const field = rootField(type);
  const text = exampleOf(type);
  return field === null ? text : `{${JSON.stringify(field)}: ${text}}`;
}

/**
 * A line for each field that has a description or may be absent, nested ones with their path.
 * `descriptions` are by path or by name, and win over those of the fields.
 */
export function describedFields(
  type: SignatureType,
  descriptions: JsonObject = {},
): readonly string[] {
  return linesOf(type, rootField(type) === 'items' ? 'items' : '', descriptions);
}

function exampleOf(type: SignatureType): string {
  switch (type.kind) {
    case 'string':
      return '"text"';
    case 'int':
      return '1';
    case 'float':
      return '1.5';
    case 'bool':
      return 'true';
    case 'keyword':
      return '"name"';
    case 'datetime':
      return '"2026-05-03T09:14:00Z"';
    case 'any':
      return '"anything"';
    case 'map':
      return '{}';
    case 'list':
      return `[${exampleOf(type.item)}]`;
    case 'optional':
      return exampleOf(type.inner);
    case 'record': {
      const fields = type.fields
        .filter(({ name }) => !isHidden(name))
        .map((field) => `${JSON.stringify(field.name)}: ${exampleOf(field.type)}`);
      return `{${fields.join(', ')}}`;
    }
  }
}

function linesOf(type: SignatureType, path: string, descriptions: JsonObject): readonly string[] {
  const inner = withoutOptional(type);
  if (inner.kind === 'list') return linesOf(inner.item, `${path}[]`, descriptions);
  if (inner.kind !== 'record') return [];
  return inner.fields.flatMap((field) => {
    if (isHidden(field.name)) return [];
    const place = path === '' ? field.name : `${path}.${field.name}`;
    return [...fieldLine(field, place, descriptions), ...linesOf(field.type, place, descriptions)];
  });
}

function fieldLine(
  field: SignatureField,
  place: string,
  descriptions: JsonObject,
): readonly string[] {
  const path = place.replaceAll('[]', '');
  const given = descriptions[path] ?? descriptions[field.name] ?? field.description;
  const isOptional = field.type.kind === 'optional';
  if (given === undefined && !isOptional) return [];
  const kind = promptType(withoutOptional(field.type));
  const words = typeof given === 'string' && given !== '' ? `: ${given}` : '';
  return [`- \`${place}\` (${kind}${isOptional ? ', optional' : ''})${words}`];
}
