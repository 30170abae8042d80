/** Tells a model which JSON to write: an example by type, and descriptions of fields. */
import { defined } from '../base/defined.ts';
import type { Json } from '../base/json.ts';
import { exampleIn, type Notation } from './example.ts';
import { promptType } from './print-signature.ts';
import {
  isHidden,
  withoutOptional,
  type SignatureField,
  type SignatureType,
} from '../contract/signature.ts';
import { alignValue } from './align-value.ts';
import { rootField } from './json-schema.ts';

/** Models neither see hidden fields nor are asked for them. */
const JSON_NOTATION: Notation = {
  keyword: '"name"',
  separator: ', ',
  field: (name, value) => `${JSON.stringify(name)}: ${value}`,
  shows: (name) => !isHidden(name),
};

/** One line of an example: the JSON of a value of `type`. */
export function exampleJson(type: SignatureType): string {
  const field = rootField(type);
  const text = exampleIn(JSON_NOTATION, type);
  return field === null ? text : `{${JSON.stringify(field)}: ${text}}`;
}

/**
 * The value of the example, as an answer has it, if an answer hardly equals it by chance: it has a
 * text, a moment or a fraction. Undefined for one of numbers, true and empty maps alone.
 */
export function tellingExample(type: SignatureType): Json | undefined {
  if (!isTelling(type)) return undefined;
  return alignValue(type, JSON.parse(exampleIn(JSON_NOTATION, type)) as Json);
}

function isTelling(type: SignatureType): boolean {
  switch (type.kind) {
    case 'int':
    case 'bool':
    case 'map':
      return false;
    case 'list':
      return isTelling(type.item);
    case 'optional':
      return isTelling(type.inner);
    case 'record':
      return type.fields.some((field) => !isHidden(field.name) && isTelling(field.type));
    default:
      return true;
  }
}

/** The prompt of an output: `head`, an example, and a line for each field that needs one. */
export function outputFormat(
  type: SignatureType,
  head = 'Answer with one JSON object of this form:',
): string {
  return [head, '```json', exampleJson(type), '```', ...describedFields(type)].join('\n');
}

/** `type` with `descriptions` of its fields, by path or by name; they replace its own. */
export function withDescriptions(
  type: SignatureType,
  descriptions: { readonly [name: string]: string },
  path = '',
): SignatureType {
  switch (type.kind) {
    case 'list':
      return { ...type, item: withDescriptions(type.item, descriptions, path) };
    case 'optional':
      return { ...type, inner: withDescriptions(type.inner, descriptions, path) };
    case 'record':
      return { ...type, fields: describeFields(type.fields, descriptions, path) };
    default:
      return type;
  }
}

/** The same for fields. */
export function describeFields(
  fields: readonly SignatureField[],
  descriptions: { readonly [name: string]: string },
  path = '',
): readonly SignatureField[] {
  const said = new Map(Object.entries(descriptions));
  return fields.map((field) => {
    const place = path === '' ? field.name : `${path}.${field.name}`;
    const description = said.get(place) ?? said.get(field.name) ?? field.description;
    return defined({
      ...field,
      type: withDescriptions(field.type, descriptions, place),
      description,
    });
  });
}

/** A line for each field that has a description or is optional, nested ones with their path. */
export function describedFields(type: SignatureType): readonly string[] {
  return linesOf(type, rootField(type) === 'items' ? 'items' : '');
}

function linesOf(type: SignatureType, path: string): readonly string[] {
  const inner = withoutOptional(type);
  if (inner.kind === 'list') return linesOf(inner.item, `${path}[]`);
  if (inner.kind !== 'record') return [];
  return inner.fields.flatMap((field) => {
    if (isHidden(field.name)) return [];
    const place = path === '' ? field.name : `${path}.${field.name}`;
    return [...fieldLine(field, place), ...linesOf(field.type, place)];
  });
}

function fieldLine({ type, description }: SignatureField, place: string): readonly string[] {
  const isOptional = type.kind === 'optional';
  if (description === undefined && !isOptional) return [];
  const kind = promptType(withoutOptional(type));
  const words = description === undefined || description === '' ? '' : `: ${description}`;
  return [`- \`${place}\` (${kind}${isOptional ? ', optional' : ''})${words}`];
}
