/** Shapes of schemas as models read them that write JSON: types, and a line for each field. */
import type { Json } from '../base/json.ts';
import { withLimits } from '../section/limit-words.ts';
import type {
  RecordShape,
  SchemaShape,
  ShapeField,
  ShapeReading,
  ShapeWord,
} from '../section/schema-shape.ts';
import { clip } from '../text/cut.ts';

/** Values of a choice that a type lists. */
const MAX_VALUES = 50;

/** Lines on one schema. */
const MAX_LINES = 100;

/** Fields inside each other that have lines of their own. */
const MAX_DEPTH = 8;

/** Characters of one type. */
const MAX_TYPE = 1_000;

const WORDS: Readonly<Record<ShapeWord, string>> = {
  string: 'string',
  int: 'integer',
  float: 'number',
  bool: 'true | false',
  nil: 'null',
  map: 'object',
  any: 'any value',
};

/** `integer 1..5`, `"good" | "bad"`, `list of string`, `{"id": string, "seats"?: integer}`. */
export function jsonTypeText(shape: SchemaShape): string {
  switch (shape.kind) {
    case 'word':
      return withLimits(WORDS[shape.word], shape.limits);
    case 'name':
      return shape.name;
    case 'choice': {
      const shown = shape.values.slice(0, MAX_VALUES).map((value: Json) => JSON.stringify(value));
      return [...shown, ...(shape.values.length > MAX_VALUES ? ['…'] : [])].join(' | ');
    }
    case 'list':
      return withLimits(`list of ${memberText(shape.item)}`, shape.limits);
    case 'tuple':
      return `[${shape.items.map(jsonTypeText).join(', ')}]`;
    case 'record': {
      const fields = shape.fields.map(
        ({ name, shape: inner, isRequired }) =>
          `${JSON.stringify(name)}${isRequired ? '' : '?'}: ${jsonTypeText(inner)}`,
      );
      const others = shape.others === undefined ? [] : [`any name: ${jsonTypeText(shape.others)}`];
      return `{${[...fields, ...others].join(', ')}}`;
    }
    case 'union':
      return shape.members.map(jsonTypeText).join(' | ');
  }
}

function memberText(shape: SchemaShape): string {
  const text = jsonTypeText(shape);
  return text.includes(' | ') && shape.kind !== 'record' ? `(${text})` : text;
}

/**
 * A line for each field, fields inside of fields with their path, and for each alternative of a
 * union: `- stars: integer 1..5. How many`. `shows`: the fields that are told.
 */
export function jsonFieldLines(
  { shape, named }: ShapeReading,
  shows: (name: string) => boolean = () => true,
): readonly string[] {
  const own = linesWithin(shape, '', shows, 0);
  const types = [...named].flatMap(([name, inner]) => [
    `- ${name} is ${clip(jsonTypeText(inner), MAX_TYPE)}`,
    ...linesWithin(inner, name, shows, 1).filter(saysMore),
  ]);
  return [...own, ...types].slice(0, MAX_LINES);
}

/** A line of a field whose type stands in the line of a named type says more by its description. */
function saysMore(line: string): boolean {
  return line.includes('. ');
}

type Shows = (name: string) => boolean;

function linesWithin(
  shape: SchemaShape,
  path: string,
  shows: Shows,
  depth: number,
): readonly string[] {
  if (depth > MAX_DEPTH) return [];
  switch (shape.kind) {
    case 'list':
      return linesWithin(shape.item, `${path}[]`, shows, depth + 1);
    case 'record':
      return shape.fields
        .filter(({ name }) => shows(name))
        .flatMap((field) => fieldLines(field, path, shows, depth));
    default:
      return [];
  }
}

function fieldLines(
  { name, shape, isRequired, description }: ShapeField,
  path: string,
  shows: Shows,
  depth: number,
): readonly string[] {
  const place = path === '' ? name : `${path}.${name}`;
  const said = description === undefined || description === '' ? '' : `. ${oneLine(description)}`;
  const head = `- ${place}${isRequired ? '' : ' (optional)'}`;
  const alternatives = recordsOf(shape);
  if (alternatives.length > 1 && shape.kind === 'union') {
    const others = shape.members.filter((member) => member.kind !== 'record');
    const all = alternatives.map((record) => [record, jsonTypeText(record)] as const);
    return [
      `${head}: one of these${said}`,
      ...all.flatMap(([record, text]) => [
        `  - ${clip(text, MAX_TYPE)}`,
        ...linesWithin(record, place, shows, depth + 1)
          .filter(saysMore)
          .map((line) => `    ${line}`),
      ]),
      ...others.map((member) => `  - ${jsonTypeText(member)}`),
    ];
  }
  const within = linesWithin(shape, place, shows, depth + 1);
  const type = within.length === 0 ? jsonTypeText(shape) : outline(shape);
  return [`${head}: ${clip(type, MAX_TYPE)}${said}`, ...within];
}

/** The type of a field whose parts have lines of their own. */
function outline(shape: SchemaShape): string {
  return shape.kind === 'list'
    ? withLimits(`list of ${outline(shape.item)}`, shape.limits)
    : 'object';
}

function recordsOf(shape: SchemaShape): readonly RecordShape[] {
  if (shape.kind !== 'union') return [];
  return shape.members.filter((member) => member.kind === 'record');
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
