/** Shapes of schemas as programs read them: types and examples on one line. */
import { isJsonObject, type Json } from '../base/json.ts';
import { wordOfValues, type SchemaShape } from '../section/schema-shape.ts';
import { promptName } from './print-signature.ts';

/** Values of a choice that a type lists. */
const MAX_VALUES = 50;

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
  /** A value without parts. */
  readonly value: (value: Json) => string;
}

/** An example on one line. */
export function exampleText(value: Json, notation: ExampleNotation): string {
  if (Array.isArray(value)) {
    return `[${value.map((item: Json) => exampleText(item, notation)).join(' ')}]`;
  }
  if (!isJsonObject(value)) return notation.value(value);
  const fields = Object.entries(value).map(([name, item]) =>
    notation.field(name, exampleText(item, notation)),
  );
  return `{${fields.join(' ')}}`;
}
