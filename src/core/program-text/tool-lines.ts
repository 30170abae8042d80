/** The tools of an agent as a model that writes programs reads them: types, example, meaning. */
import { isJsonObject, type Json, type JsonObject, memberOf } from '../base/json.ts';
import { withoutOptional, type SignatureField, type SignatureType } from '../contract/signature.ts';
import type { ToolSpec } from '../contract/spec.ts';
import {
  readShape,
  type SchemaShape,
  type ShapeField,
  type ShapeReading,
} from '../section/schema-shape.ts';
import { exampleIn, type Notation } from '../signature/example.ts';
import { plainType } from '../signature/from-json-schema.ts';
import { promptName, promptType } from '../signature/print-signature.ts';
import {
  parameterText,
  shapeExample,
  shapeText,
  type ExampleNotation,
} from '../signature/shape-text.ts';
import { framedLine } from '../text/untrusted.ts';
import { fromJson, printValue } from '../../lisp.ts';

/** Lines on the fields inside parameters, for each tool. */
const MAX_FIELD_LINES = 100;

/**
 * `;; tools` and a block for each of `tools`; `;; no tools` if there are none. `isWhole`: types
 * behind references and unions are shown; runs of older workers show them as `any`.
 */
export function toolLines(tools: readonly ToolSpec[], isWhole: boolean): readonly string[] {
  const lines = isWhole ? wholeLines : linesOf;
  return tools.length === 0 ? [';; no tools'] : [';; tools', ...tools.flatMap(lines)];
}

function wholeLines({
  name,
  description,
  policy,
  parameters,
  output,
}: ToolSpec): readonly string[] {
  const reading = readShape(parameters ?? { type: 'object', properties: {} });
  const fields = fieldsOfShape(reading.shape);
  const params = fields.map(
    ({ name: field, shape, isRequired }) =>
      `${promptName(field)} ${parameterText(shape, isRequired)}`,
  );
  const result = output === undefined ? null : readShape(output);
  const args = fields
    .filter(({ isRequired }) => isRequired)
    .map(
      (field) =>
        `${keyOf(field.name)} ${shapeExample({ ...reading, shape: field.shape }, SHAPE_NOTATION)}`,
    );
  return [
    `tool/${name}(${params.join(', ')}) -> ${result === null ? 'any' : shapeText(result.shape)}  ; ${framedLine(description)}`,
    `;   ${args.length === 0 ? `(tool/${name})` : `(tool/${name} {${args.join(' ')}})`}`,
    ...namedLines(reading),
    ...(result === null ? [] : namedLines(result)),
    ...fields.flatMap(wordsOfField),
    ...insideLines(reading),
    ...(policy === undefined || policy === '' ? [] : [`;   Policy: ${framedLine(policy)}`]),
  ];
}

function fieldsOfShape(shape: SchemaShape): readonly ShapeField[] {
  return shape.kind === 'record' ? shape.fields : [];
}

/** A line for each named type: `;   Flight = {id string}`. */
function namedLines({ named }: ShapeReading): readonly string[] {
  return [...named].map(([name, shape]) => `;   ${name} = ${shapeText(shape)}`);
}

/** What the type of a parameter does not express: its meaning and its allowed values. */
function wordsOfField({ name, shape, description }: ShapeField): readonly string[] {
  return wordLines(
    promptName(name),
    description,
    shape.kind === 'choice' ? shape.values : undefined,
  );
}

/** The meaning of fields inside parameters and named types, with their paths. */
function insideLines({ shape, named }: ShapeReading): readonly string[] {
  const parameters = fieldsOfShape(shape).flatMap((field) =>
    describedInside(field.shape, promptName(field.name)),
  );
  const inNamed = [...named].flatMap(([name, inner]) => describedInside(inner, name));
  return [...parameters, ...inNamed].slice(0, MAX_FIELD_LINES);
}

function describedInside(shape: SchemaShape, path: string): readonly string[] {
  switch (shape.kind) {
    case 'list':
      return describedInside(shape.item, `${path}[]`);
    case 'union':
      return shape.members.flatMap((member) => describedInside(member, path));
    case 'record':
      return shape.fields.flatMap((field) => {
        const place = `${path}.${promptName(field.name)}`;
        return [
          ...wordLines(place, field.description, undefined),
          ...describedInside(field.shape, place),
        ];
      });
    default:
      return [];
  }
}

function wordLines(
  place: string,
  description: string | undefined,
  choices: readonly Json[] | undefined,
): readonly string[] {
  const words = [
    ...(description === undefined ? [] : [framedLine(description)]),
    ...(choices === undefined
      ? []
      : [`one of ${choices.map((choice) => JSON.stringify(choice)).join(', ')}`]),
  ].filter((text) => text !== '');
  return words.length === 0 ? [] : [`;   ${place}: ${words.join('; ')}`];
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
  return wordLines(
    promptName(name),
    typeof description === 'string' ? description : undefined,
    Array.isArray(choices) ? (choices as readonly Json[]) : undefined,
  );
}

function fieldsOf(parameters: JsonObject | null): readonly SignatureField[] {
  if (parameters === null) return [];
  const type = withoutOptional(typeOf(parameters));
  return type.kind === 'record' ? type.fields : [];
}

/** The type of a schema, its fields in the author's order. */
function typeOf(schema: Json): SignatureType {
  return inWrittenOrder(plainType(schema), schema);
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

/** Keys are keywords with `-` for `_`; programs also have hidden fields. */
const LISP: Notation = {
  keyword: ':name',
  separator: ' ',
  field: (name, value) => `${keyOf(name)} ${value}`,
  shows: () => true,
};

/** The program text of an example of `type`. */
export function exampleLisp(type: SignatureType): string {
  return exampleIn(LISP, type);
}

/** The same of a shape; a value of a choice is written as JSON, which programs read. */
const SHAPE_NOTATION: ExampleNotation = {
  field: LISP.field,
  value: (value) => (value === null ? 'nil' : printValue(fromJson(value), 'preview')),
};

/** A key as a program writes it: a keyword if the name can be one. */
function keyOf(name: string): string {
  if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(name)) return JSON.stringify(name);
  const [leading = ''] = /^_*/.exec(name) ?? [];
  return `:${leading}${name.slice(leading.length).replaceAll('_', '-')}`;
}
