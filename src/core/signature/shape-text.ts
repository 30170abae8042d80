/** Shapes of schemas as programs read them: types and examples on one line. */
import type { Json } from '../base/json.ts';
import { wordOfValues, type SchemaShape, type ShapeReading } from '../section/schema-shape.ts';
import { promptName } from './print-signature.ts';

/** Values of a choice that a type lists. */
const MAX_VALUES = 50;

/** Values in an example; a record beyond that is `{}`. */
const MAX_PARTS = 60;

/** The text of a shape: `{id string, seats int?}`, `[Flight | map]`, `"a" | "b"`. */
export function shapeText(shape: SchemaShape): string {
  switch (shape.kind) {
    case 'word':
      return shape.word;
    case 'name':
      return shape.name;
    case 'choice': {
      const values = shape.values.slice(0, MAX_VALUES).map(valueText);
      return [...values, ...(shape.values.length > MAX_VALUES ? ['…'] : [])].join(' | ');
    }
    case 'list':
      return `[${shapeText(shape.item)}]`;
    case 'tuple':
      return `[${shape.items.map(shapeText).join(', ')}]`;
    case 'record': {
      const fields = shape.fields.map(({ name, shape: inner, isRequired }) => {
        const { text, isOptional } = optionalText(inner);
        return `${promptName(name)} ${text}${isRequired && !isOptional ? '' : '?'}`;
      });
      const others = shape.others === undefined ? [] : [`... ${memberText(shape.others)}`];
      return `{${[...fields, ...others].join(', ')}}`;
    }
    case 'union': {
      const { text, isOptional } = optionalText(shape);
      return isOptional ? `${text}?` : shape.members.map(shapeText).join(' | ');
    }
  }
}

/** The type of a parameter, whose values are listed on a line of their own. */
export function parameterText(shape: SchemaShape, isRequired: boolean): string {
  const { text, isOptional } =
    shape.kind === 'choice'
      ? { text: wordOfValues(shape.values), isOptional: false }
      : optionalText(shape);
  return `${text}${isRequired && !isOptional ? '' : '?'}`;
}

/** A union with null as its other members, in parentheses if there are several. */
function optionalText(shape: SchemaShape): { readonly text: string; readonly isOptional: boolean } {
  if (shape.kind !== 'union') return { text: memberText(shape), isOptional: false };
  const others = shape.members.filter((one) => !(one.kind === 'word' && one.word === 'nil'));
  const [only] = others;
  const isOptional = others.length < shape.members.length;
  const text =
    others.length === 1 && only !== undefined
      ? memberText(only)
      : `(${others.map(shapeText).join(' | ')})`;
  return { text, isOptional };
}

function memberText(shape: SchemaShape): string {
  const text = shapeText(shape);
  const isSeveral = shape.kind === 'union' || (shape.kind === 'choice' && shape.values.length > 1);
  return isSeveral && text.includes(' | ') ? `(${text})` : text;
}

function valueText(value: Json): string {
  return value === null ? 'nil' : JSON.stringify(value);
}

/** How an example is written. */
export interface ExampleNotation {
  readonly field: (name: string, value: string) => string;
  readonly value: (value: Json) => string;
}

/**
 * A value of the shape, on one line. Inside a named shape only the fields that it must have are
 * shown; a shape that must contain itself is cut.
 */
export function shapeExample(reading: ShapeReading, notation: ExampleNotation): string {
  return exampleOf(reading.shape, { named: reading.named, notation, left: MAX_PARTS }, []);
}

interface Writing {
  readonly named: ShapeReading['named'];
  readonly notation: ExampleNotation;
  left: number;
}

function exampleOf(shape: SchemaShape, writing: Writing, open: readonly string[]): string {
  writing.left -= 1;
  switch (shape.kind) {
    case 'word':
      return EXAMPLES[shape.word];
    case 'choice':
      return writing.notation.value(shape.values[0] ?? null);
    case 'list':
      return shape.item.kind === 'name' && open.includes(shape.item.name)
        ? '[]'
        : `[${exampleOf(shape.item, writing, open)}]`;
    case 'tuple':
      return `[${shape.items.map((item) => exampleOf(item, writing, open)).join(' ')}]`;
    case 'record': {
      if (writing.left < 0) return '{}';
      const fields = shape.fields
        .filter(({ isRequired }) => isRequired || open.length === 0)
        .map((field) => writing.notation.field(field.name, exampleOf(field.shape, writing, open)));
      return `{${fields.join(' ')}}`;
    }
    case 'union': {
      const [first] = shape.members.filter((one) => !(one.kind === 'word' && one.word === 'nil'));
      return first === undefined ? 'nil' : exampleOf(first, writing, open);
    }
    case 'name': {
      const target = writing.named.get(shape.name);
      if (target === undefined || open.includes(shape.name)) return '{}';
      return exampleOf(target, writing, [...open, shape.name]);
    }
  }
}

const EXAMPLES = {
  string: '"text"',
  int: '1',
  float: '1.5',
  bool: 'true',
  nil: 'nil',
  map: '{}',
  any: '"anything"',
} as const;
