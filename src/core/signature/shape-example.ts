/** A value of a shape, for models that are to write such a value. */
import type { Json } from '../base/json.ts';
import type { SchemaShape, ShapeReading } from '../section/schema-shape.ts';

/** Values in an example; a record beyond that is `{}`. */
const MAX_PARTS = 60;

/** Items of a list that must have several. */
const MAX_ITEMS = 5;

interface Writing {
  readonly named: ShapeReading['named'];
  readonly shows: (name: string) => boolean;
  left: number;
}

/**
 * A value of the shape. Inside a named shape only the fields that it must have are there; a shape
 * that must contain itself is cut. `shows`: the fields that may be there; default: all.
 */
export function shapeExample(
  { shape, named }: ShapeReading,
  shows: (name: string) => boolean = () => true,
): Json {
  return exampleOf(shape, { named, shows, left: MAX_PARTS }, []);
}

function exampleOf(shape: SchemaShape, writing: Writing, open: readonly string[]): Json {
  writing.left -= 1;
  switch (shape.kind) {
    case 'word':
      return shape.sample ?? EXAMPLES[shape.word];
    case 'choice':
      return shape.values[0] ?? null;
    case 'list': {
      const { item, least = 1 } = shape;
      if (item.kind === 'name' && open.includes(item.name)) return [];
      const value = exampleOf(item, writing, open);
      return Array.from({ length: Math.min(least, MAX_ITEMS) }, () => value);
    }
    case 'tuple':
      return shape.items.map((item) => exampleOf(item, writing, open));
    case 'record': {
      if (writing.left < 0) return {};
      const fields = shape.fields
        .filter(({ name, isRequired }) => writing.shows(name) && (isRequired || open.length === 0))
        .map((field) => [field.name, exampleOf(field.shape, writing, open)] as const);
      return Object.fromEntries(fields);
    }
    case 'union': {
      const [first] = shape.members.filter((one) => !(one.kind === 'word' && one.word === 'nil'));
      return first === undefined ? null : exampleOf(first, writing, open);
    }
    case 'name': {
      const target = writing.named.get(shape.name);
      if (target === undefined || open.includes(shape.name)) return {};
      return exampleOf(target, writing, [...open, shape.name]);
    }
  }
}

const EXAMPLES = {
  string: 'text',
  int: 1,
  float: 1.5,
  bool: true,
  nil: null,
  map: {},
  any: 'anything',
} as const;

/**
 * Whether an answer hardly equals the example by chance: a text, a moment or a fraction in it is
 * free to be anything.
 */
export function isTelling({ shape, named }: ShapeReading): boolean {
  return tells(shape, named, []);
}

function tells(shape: SchemaShape, named: ShapeReading['named'], open: readonly string[]): boolean {
  switch (shape.kind) {
    case 'word':
      return ['string', 'float', 'any'].includes(shape.word);
    case 'choice':
      return false;
    case 'list':
      return tells(shape.item, named, open);
    case 'tuple':
      return shape.items.some((item) => tells(item, named, open));
    case 'record':
      return shape.fields.some((field) => tells(field.shape, named, open));
    case 'union': {
      const [first] = shape.members.filter((one) => !(one.kind === 'word' && one.word === 'nil'));
      return first !== undefined && tells(first, named, open);
    }
    case 'name': {
      const target = named.get(shape.name);
      const isOpen = open.includes(shape.name);
      return target !== undefined && !isOpen && tells(target, named, [...open, shape.name]);
    }
  }
}
