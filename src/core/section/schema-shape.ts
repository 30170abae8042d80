/**
 * What a JSON Schema describes, for texts that models read: types, records, lists and unions, with
 * local references followed. Values are always checked against the schema itself.
 *
 * I1  A target that several places refer to, or that contains itself, has a name and is read once.
 *     So a shape is no longer than its schema, and finite.
 * I2  What cannot be read, or lies too deep, is `any`. Nothing throws.
 */
import { defined } from '../base/defined.ts';
import { isJsonObject, type Json, type JsonObject, jsonType } from '../base/json.ts';
import { limitWords } from './limit-words.ts';
import { sampleOf } from './sample.ts';
import { schemaAt } from './schema-target.ts';

/** Types without parts. `map` is an object without declared fields. */
export type ShapeWord = 'string' | 'int' | 'float' | 'bool' | 'nil' | 'map' | 'any';

/** The shape of a place in a value. */
export type SchemaShape =
  | WordShape
  /** One of these values; at least one. */
  | { readonly kind: 'choice'; readonly values: readonly Json[] }
  | ListShape
  | { readonly kind: 'tuple'; readonly items: readonly SchemaShape[] }
  | RecordShape
  /** At least two members, none of them a union. */
  | { readonly kind: 'union'; readonly members: readonly SchemaShape[] }
  /** A shape of {@link ShapeReading.named}. */
  | { readonly kind: 'name'; readonly name: string };

/** A value without parts. */
export interface WordShape {
  readonly kind: 'word';
  readonly word: ShapeWord;
  /** What it must be beyond its type, in words: `1..5`, `format email`. Absent: nothing. */
  readonly limits?: readonly string[];
  /** A value within the limits, if there are limits and one is known. */
  readonly sample?: Json;
}

/** A list of any length within its limits. */
export interface ListShape {
  readonly kind: 'list';
  readonly item: SchemaShape;
  readonly limits?: readonly string[];
  /** How many items it must have at least; absent: none. */
  readonly least?: number;
}

/** An object with declared fields, in the author's order. */
export interface RecordShape {
  readonly kind: 'record';
  readonly fields: readonly ShapeField[];
  /** The shape of all other fields; absent: they are not described. */
  readonly others?: SchemaShape;
  readonly closed?: true;
}

/** A field of a record. */
export interface ShapeField {
  readonly name: string;
  readonly shape: SchemaShape;
  readonly isRequired: boolean;
  readonly description?: string;
}

/** The shape of a schema, and the shapes that it names. */
export interface ShapeReading {
  readonly shape: SchemaShape;
  readonly named: ReadonlyMap<string, SchemaShape>;
}

/** Schemas nested inside each other; deeper ones are `any`. */
const MAX_DEPTH = 50;

/** Schemas that are read; later ones are `any`. Reached only by `allOf` of shared parts. */
const MAX_SCHEMAS = 10_000;

/** Members of a union that are considered; a larger one is `any`. */
const MAX_MEMBERS = 64;

const ANY: SchemaShape = { kind: 'word', word: 'any' };

const WORDS: { readonly [type: string]: ShapeWord } = {
  string: 'string',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'nil',
};

/** The same for one schema: its references, and what was read. */
interface Reader {
  readonly root: JsonObject;
  readonly uses: ReadonlyMap<string, number>;
  /** Names by pointer. */
  readonly names: Map<string, string>;
  /** Pointers whose targets are still to be read under their names. */
  readonly waiting: string[];
  /** Targets that are being read as parts of another schema. */
  readonly open: Set<string>;
  schemas: number;
}

const known = new WeakMap<JsonObject, ShapeReading>();

/** The shape of `schema`. Each schema object is read once. */
export function readShape(schema: Json): ShapeReading {
  if (!isJsonObject(schema)) return { shape: ANY, named: new Map() };
  const found = known.get(schema);
  if (found !== undefined) return found;
  const reader: Reader = {
    root: schema,
    uses: usesIn(schema),
    names: new Map(),
    waiting: [],
    open: new Set(),
    schemas: 0,
  };
  const shape = shapeOf(reader, schema, 0);
  const named = new Map<string, SchemaShape>();
  // Reading a target may add others to the end.
  for (const pointer of reader.waiting) {
    const target = schemaAt(pointer, schema) ?? true;
    named.set(reader.names.get(pointer) ?? pointer, shapeOf(reader, target, 0));
  }
  const reading = { shape, named };
  known.set(schema, reading);
  return reading;
}

/** How often each pointer is referred to. */
function usesIn(schema: JsonObject): ReadonlyMap<string, number> {
  const uses = new Map<string, number>();
  const left: Json[] = [schema];
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    if (at === null || typeof at !== 'object') continue;
    const pointer = isJsonObject(at) ? at['$ref'] : undefined;
    if (typeof pointer === 'string') uses.set(pointer, (uses.get(pointer) ?? 0) + 1);
    for (const part of Object.values(at) as readonly Json[]) left.push(part);
  }
  return uses;
}

function shapeOf(reader: Reader, schema: Json, depth: number): SchemaShape {
  reader.schemas += 1;
  if (!isJsonObject(schema) || depth > MAX_DEPTH || reader.schemas > MAX_SCHEMAS) return ANY;
  const keywords = Object.keys(schema);
  const { $ref: pointer } = schema;
  // A reference that says nothing else may be shown by its name.
  if (
    typeof pointer === 'string' &&
    keywords.every((key) => !isConstraint(key) || key === '$ref')
  ) {
    return referredShape(reader, pointer, depth);
  }
  const target = typeof pointer === 'string' ? partOf(reader, pointer, depth) : ANY;
  const all = listOf(schema['allOf']).map((part) => conjunctOf(reader, part, depth));
  const together = [ownShape(reader, schema, depth), target, ...all].reduce(both);
  return [schema['anyOf'], schema['oneOf']]
    .filter((members) => Array.isArray(members))
    .map((members) => unionOf(reader, members as readonly Json[], depth))
    .reduce(both, together);
}

/** Words about a schema; all other keywords constrain values. */
function isConstraint(keyword: string): boolean {
  return ![
    'title',
    'description',
    'default',
    'examples',
    '$comment',
    '$defs',
    'definitions',
  ].includes(keyword);
}

/** Whether a schema is as short as a name for it. */
function isSimple(schema: Json): boolean {
  if (!isJsonObject(schema)) return true;
  const parts = ['$ref', 'allOf', 'anyOf', 'oneOf', 'properties', 'items', 'prefixItems'];
  return (
    ![...parts, 'additionalProperties'].some((keyword) => isJsonObject(schema[keyword])) &&
    !parts.some((keyword) => Array.isArray(schema[keyword]) || typeof schema[keyword] === 'string')
  );
}

function referredShape(reader: Reader, pointer: string, depth: number): SchemaShape {
  const target = schemaAt(pointer, reader.root);
  if (target === undefined) return ANY;
  const isShared = (reader.uses.get(pointer) ?? 0) > 1;
  // Another place than a definition is reached without a reference too.
  const isDefinition = /^#\/(?:\$defs|definitions)\/[^/]+$/.test(pointer);
  if (isSimple(target) || (isDefinition && !isShared)) return shapeOf(reader, target, depth + 1);
  const name = reader.names.get(pointer) ?? freeName(reader, pointer);
  if (!reader.names.has(pointer)) {
    reader.names.set(pointer, name);
    reader.waiting.push(pointer);
  }
  return { kind: 'name', name };
}

/** The last part of the pointer, numbered if it is taken. */
function freeName(reader: Reader, pointer: string): string {
  const last = /[^/#]*$/.exec(pointer)?.[0].replaceAll(/[^\w.-]/g, '_') ?? '';
  const base = last === '' ? 'Root' : last;
  const taken = new Set(reader.names.values());
  let name = base;
  for (let count = 2; taken.has(name); count++) name = `${base}${count}`;
  return name;
}

/** A member of `allOf`: a reference is read in place, so that its fields join the others. */
function conjunctOf(reader: Reader, part: Json, depth: number): SchemaShape {
  const pointer = isJsonObject(part) ? part['$ref'] : undefined;
  return typeof pointer === 'string'
    ? both(partOf(reader, pointer, depth), shapeOf(reader, withoutReference(part), depth + 1))
    : shapeOf(reader, part, depth + 1);
}

function withoutReference(part: Json): Json {
  if (!isJsonObject(part)) return part;
  return Object.fromEntries(Object.entries(part).filter(([keyword]) => keyword !== '$ref'));
}

/** The target of a reference, as a part of the schema around it; `any` inside of itself. */
function partOf(reader: Reader, pointer: string, depth: number): SchemaShape {
  const target = schemaAt(pointer, reader.root);
  if (target === undefined || reader.open.has(pointer)) return ANY;
  reader.open.add(pointer);
  const shape = shapeOf(reader, target, depth + 1);
  reader.open.delete(pointer);
  return shape;
}

/** What the schema says itself, without its references and unions. */
function ownShape(reader: Reader, schema: JsonObject, depth: number): SchemaShape {
  if (Array.isArray(schema['enum'])) return choiceOf(schema['enum'] as readonly Json[]);
  if (schema['const'] !== undefined) return choiceOf([schema['const']]);
  const { type } = schema;
  if (Array.isArray(type)) {
    return joined((type as readonly Json[]).map((one) => typedShape(reader, schema, one, depth)));
  }
  if (type !== undefined) return typedShape(reader, schema, type, depth);
  if (isJsonObject(schema['properties'])) return recordOf(reader, schema, depth);
  const hasItems = schema['items'] !== undefined || schema['prefixItems'] !== undefined;
  return hasItems ? listShape(reader, schema, depth) : ANY;
}

function choiceOf(values: readonly Json[]): SchemaShape {
  return values.length === 0 ? ANY : { kind: 'choice', values };
}

function typedShape(reader: Reader, schema: JsonObject, type: Json, depth: number): SchemaShape {
  if (type === 'object') return recordOf(reader, schema, depth);
  if (type === 'array') return listShape(reader, schema, depth);
  const word = typeof type === 'string' && Object.hasOwn(WORDS, type) ? WORDS[type] : undefined;
  if (word === undefined) return ANY;
  const limits = limitWords(schema);
  if (limits.length === 0) return { kind: 'word', word };
  const sample = sampleOf(schema, word);
  return defined({ kind: 'word' as const, word, limits, sample });
}

function listShape(reader: Reader, schema: JsonObject, depth: number): SchemaShape {
  const prefix = listOf(schema['prefixItems']);
  if (prefix.length > 0) {
    return { kind: 'tuple', items: prefix.map((item) => shapeOf(reader, item, depth + 1)) };
  }
  const { items, minItems: least } = schema;
  const limits = limitWords(schema);
  return defined({
    kind: 'list' as const,
    item: items === undefined ? ANY : shapeOf(reader, items, depth + 1),
    limits: limits.length === 0 ? undefined : limits,
    least: typeof least === 'number' && least > 0 ? least : undefined,
  });
}

function recordOf(reader: Reader, schema: JsonObject, depth: number): SchemaShape {
  const { properties, additionalProperties: others } = schema;
  if (properties === undefined && others === undefined) return { kind: 'word', word: 'map' };
  const required = listOf(schema['required']);
  const fields = Object.entries(isJsonObject(properties) ? properties : {}).map(
    ([name, member]): ShapeField => {
      const shape = shapeOf(reader, member, depth + 1);
      const isRequired = required.includes(name);
      const description = descriptionOf(reader, member);
      return { name, shape, isRequired, ...(description === undefined ? {} : { description }) };
    },
  );
  return {
    kind: 'record',
    fields,
    ...(others === false ? { closed: true } : {}),
    ...(isJsonObject(others) ? { others: shapeOf(reader, others, depth + 1) } : {}),
  };
}

/** The description of a schema, or that of the target of its reference. */
function descriptionOf(reader: Reader, schema: Json): string | undefined {
  if (!isJsonObject(schema)) return undefined;
  const { description, $ref: pointer } = schema;
  if (typeof description === 'string') return description;
  const target = typeof pointer === 'string' ? schemaAt(pointer, reader.root) : undefined;
  const said = isJsonObject(target) ? target['description'] : undefined;
  return typeof said === 'string' ? said : undefined;
}

function unionOf(reader: Reader, members: readonly Json[], depth: number): SchemaShape {
  if (members.length > MAX_MEMBERS) return ANY;
  return joined(members.map((member) => shapeOf(reader, member, depth + 1)));
}

/** Any of `shapes`, each once; `any` if one of them is. */
function joined(shapes: readonly SchemaShape[]): SchemaShape {
  const flat = shapes.flatMap((shape) => (shape.kind === 'union' ? shape.members : [shape]));
  const distinct = [...new Map(flat.map((shape) => [JSON.stringify(shape), shape])).values()];
  const [first, second] = distinct;
  if (first === undefined || distinct.some(isAny)) return ANY;
  return second === undefined ? first : { kind: 'union', members: distinct };
}

/** Values that fit both: fields of records are joined; else the one that says more is taken. */
function both(one: SchemaShape, other: SchemaShape): SchemaShape {
  if (isAny(one) || isMap(one, other)) return other;
  if (isAny(other) || isMap(other, one)) return one;
  if (one.kind === 'record' && other.kind === 'record') return merged(one, other);
  if (other.kind === 'union' && one.kind === 'record') {
    return joined(other.members.map((member) => both(one, member)));
  }
  if (one.kind === 'union' && other.kind === 'record') {
    return joined(one.members.map((member) => both(member, other)));
  }
  return one.kind === 'word' ? other : one;
}

function merged(one: RecordShape, other: RecordShape): RecordShape {
  const fields = new Map(one.fields.map((field) => [field.name, field]));
  for (const field of other.fields) {
    const before = fields.get(field.name);
    const shape = before === undefined ? field.shape : both(before.shape, field.shape);
    const isRequired = field.isRequired || before?.isRequired === true;
    fields.set(field.name, { ...before, ...field, shape, isRequired });
  }
  return { ...one, ...other, fields: [...fields.values()] };
}

function isAny(shape: SchemaShape): boolean {
  return shape.kind === 'word' && shape.word === 'any';
}

function isMap(shape: SchemaShape, other: SchemaShape): boolean {
  const isWord = shape.kind === 'word' && shape.word === 'map';
  return isWord && ['record', 'union', 'name'].includes(other.kind);
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

/** The type of all `values` of a choice; `any` if they differ. */
export function wordOfValues(values: readonly Json[]): ShapeWord {
  const words = new Set(
    values.map((value) =>
      Number.isSafeInteger(value) ? 'int' : (WORDS[jsonType(value)] ?? 'any'),
    ),
  );
  const [word] = words;
  return words.size === 1 && word !== undefined ? word : 'any';
}
