/** The tools of an agent as a model that writes programs reads them: types, example, meaning. */
import type { Json } from '../base/json.ts';
import type { SignatureType } from '../contract/signature.ts';
import type { ToolSpec } from '../contract/spec.ts';
import {
  readShape,
  type SchemaShape,
  type ShapeField,
  type ShapeReading,
} from '../section/schema-shape.ts';
import { exampleIn, type Notation } from '../signature/example.ts';
import { promptName } from '../signature/print-signature.ts';
import { shapeExample } from '../signature/shape-example.ts';
import {
  exampleText,
  parameterText,
  shapeText,
  type ExampleNotation,
} from '../signature/shape-text.ts';
import { framedLine } from '../text/untrusted.ts';
import { fromJson, printValue } from '../../lisp.ts';

/** Lines on the fields inside parameters, for each tool. */
const MAX_FIELD_LINES = 100;

/** `;; tools` and a block for each of `tools`; `;; no tools` if there are none. */
export function toolLines(tools: readonly ToolSpec[]): readonly string[] {
  return tools.length === 0 ? [';; no tools'] : [';; tools', ...tools.flatMap(linesOf)];
}

function linesOf({ name, description, policy, parameters, output }: ToolSpec): readonly string[] {
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
      (field) => `${keyOf(field.name)} ${lispOf(shapeExample({ ...reading, shape: field.shape }))}`,
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
  return wordLines(promptName(name), description, shape);
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
          ...wordLines(place, field.description, limited(field.shape)),
          ...describedInside(field.shape, place),
        ];
      });
    default:
      return [];
  }
}

/** A shape whose type does not show its values, as it does those of a choice. */
function limited(shape: SchemaShape): SchemaShape | undefined {
  return shape.kind === 'choice' ? undefined : shape;
}

function wordLines(
  place: string,
  description: string | undefined,
  shape: SchemaShape | undefined,
): readonly string[] {
  const choices = shape?.kind === 'choice' ? shape.values : undefined;
  const limits = shape?.kind === 'word' || shape?.kind === 'list' ? (shape.limits ?? []) : [];
  const words = [
    ...(description === undefined ? [] : [framedLine(description)]),
    ...(choices === undefined
      ? []
      : [`one of ${choices.map((choice) => JSON.stringify(choice)).join(', ')}`]),
    ...limits.map(framedLine),
  ].filter((text) => text !== '');
  return words.length === 0 ? [] : [`;   ${place}: ${words.join('; ')}`];
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

/** The program text of a value that an example has. */
export function lispOf(value: Json): string {
  return exampleText(value, SHAPE_NOTATION);
}

/** The same of values; one of a choice is written as JSON, which programs read. */
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
