/**
 * Writes a schema in a dialect that takes only a part of JSON Schema. What a keyword says that the
 * dialect lacks is told in the description; values are always checked against the schema itself.
 *
 * I1  The result is finite and bounded: a reference that is written out is cut inside itself.
 * I2  Every part has a type, an `anyOf` or a reference.
 */
import { defined } from '../../core/base/defined.ts';
import { isJsonObject, type Json, type JsonObject, jsonType } from '../../core/base/json.ts';
import { LIMITS, limitWords } from '../../core/section/limit-words.ts';
import { schemaAt } from '../../core/section/schema-target.ts';
import type { Dialect } from './dialect.ts';
import { merged, resolved, withoutAllOf } from './merge.ts';

/** Why a dialect cannot have a schema. */
export interface DialectProblem {
  /** The place in a value: `filters.tags[]`. */
  readonly path: string;
  readonly message: string;
}

/** Parts that are written; later ones are any object. */
const MAX_PARTS = 5_000;

/** How often a reference is written out inside itself. */
const MAX_REPEATS = 2;

/** Schemas inside each other. */
const MAX_DEPTH = 60;

/** Characters of a default that the description tells. */
const MAX_DEFAULT = 200;

interface Writer {
  readonly root: JsonObject;
  readonly dialect: Dialect;
  readonly problems: DialectProblem[];
  /** References that are being written out. */
  readonly open: string[];
  left: number;
}

/** Names of fields, and `[]` for the items of a list. */
type Path = readonly string[];
type Draft = { [keyword: string]: Json };

/** `schema`, whose root is an object, in `dialect`; problems if that would change its meaning. */
export function writeSubset(
  schema: JsonObject,
  dialect: Dialect,
): { readonly schema: JsonObject; readonly problems: readonly DialectProblem[] } {
  const writer: Writer = { root: schema, dialect, problems: [], open: [], left: MAX_PARTS };
  const written = writePart(writer, schema, []);
  if (dialect.isInlined) return { schema: written, problems: writer.problems };
  const maps = ['$defs', 'definitions'].flatMap((keyword) => {
    const parts = schema[keyword];
    if (!isJsonObject(parts)) return [];
    const entries = Object.entries(parts).map(([name, part]) => [
      name,
      writePart(writer, part, [name]),
    ]);
    return [[keyword, Object.fromEntries(entries) as JsonObject] as const];
  });
  return { schema: { ...written, ...Object.fromEntries(maps) }, problems: writer.problems };
}

function writePart(writer: Writer, part: Json, path: Path): JsonObject {
  writer.left -= 1;
  if (!isJsonObject(part)) return anything(writer, path, []);
  if (writer.left < 0 || path.length > MAX_DEPTH) return { type: 'object' };
  const { $ref: pointer } = part;
  if (typeof pointer !== 'string') return writeWhole(writer, part, path);
  const isKept = !writer.dialect.isInlined && schemaAt(pointer, writer.root) !== undefined;
  const isAlone = Object.keys(part).every((key) => NOTES.includes(key) || key === '$ref');
  if (isKept && isAlone) return { $ref: pointer };
  const repeats = writer.open.filter((other) => other === pointer).length;
  const target = resolved(part, writer.root);
  if (repeats >= MAX_REPEATS) {
    const { type } = target;
    const said = 'The same again, as above.';
    return type === 'array'
      ? { type, items: { type: 'object' }, description: said }
      : { type: typeof type === 'string' ? type : 'object', description: said };
  }
  writer.open.push(pointer);
  const written = writeWhole(writer, target, path);
  writer.open.pop();
  return written;
}

/** Words about a schema that do not constrain values. */
const NOTES: readonly string[] = ['title', 'description', 'default', 'examples', '$comment'];

function writeWhole(writer: Writer, part: JsonObject, path: Path): JsonObject {
  const whole = withoutAllOf(part, writer.root);
  const { anyOf, oneOf, ...base } = whole;
  const union = Array.isArray(anyOf) ? anyOf : oneOf;
  if (Array.isArray(union) && union.length > 0) {
    return writeUnion(writer, base, union as readonly Json[], path);
  }
  const values = Array.isArray(base['enum'])
    ? (base['enum'] as readonly Json[])
    : base['const'] === undefined
      ? undefined
      : [base['const']];
  if (values !== undefined && values.length > 0) return writeValues(writer, base, values, path);
  const types = typesOf(base);
  const others = types.filter((type) => type !== 'null');
  if (others.length > 1) {
    const { type: _type, ...same } = base;
    return writeUnion(
      writer,
      same,
      types.map((type) => ({ type })),
      path,
    );
  }
  const [type = types[0]] = others;
  if (type === undefined) return anything(writer, path, wordsOf(writer, base));
  const typed = writeTyped(writer, base, type, path);
  return others.length < types.length && type !== 'null' ? nullable(writer, typed) : typed;
}

function typesOf({ type, properties, items, prefixItems }: JsonObject): readonly string[] {
  if (typeof type === 'string') return [type];
  if (Array.isArray(type)) return type.filter((one): one is string => typeof one === 'string');
  if (isJsonObject(properties)) return ['object'];
  return items !== undefined || prefixItems !== undefined ? ['array'] : [];
}

/** What stands beside a union applies to each of its members. */
function writeUnion(
  writer: Writer,
  base: JsonObject,
  members: readonly Json[],
  path: Path,
): JsonObject {
  const {
    description: _description,
    title: _title,
    default: _default,
    $defs: _defs,
    ...others
  } = base;
  const hasBase = Object.keys(others).some((keyword) => keyword !== 'discriminator');
  const whole = members.map((member): Json => {
    if (!hasBase || !isJsonObject(member)) return member;
    return merged(withoutAllOf(resolved(member, writer.root), writer.root), others);
  });
  const values = whole.map(literalsOf);
  if (values.every((list) => list !== undefined)) {
    return writeValues(writer, base, values.flat(), path);
  }
  const written = whole.map((member) => writePart(writer, member, path));
  const flat = written.flatMap((member): readonly JsonObject[] =>
    Array.isArray(member['anyOf']) && member['description'] === undefined
      ? (member['anyOf'] as readonly JsonObject[])
      : [member],
  );
  const distinct = [...new Map(flat.map((member) => [JSON.stringify(member), member])).values()];
  const words = wordsOf(writer, { ...base, ...NO_LIMITS });
  const valued = distinct.filter(({ type }) => type !== 'null');
  return writer.dialect.marksNull && valued.length > 0 && valued.length < distinct.length
    ? described(nullable(writer, unionOf(valued)), words)
    : described(unionOf(distinct), words);
}

function unionOf(members: readonly JsonObject[]): JsonObject {
  const [only] = members;
  return members.length === 1 && only !== undefined ? only : { anyOf: members };
}

/** The limits of a base are those of its members. */
const NO_LIMITS: JsonObject = Object.fromEntries(LIMITS.map((keyword) => [keyword, null]));

function literalsOf(member: Json): readonly Json[] | undefined {
  if (!isJsonObject(member) || Object.hasOwn(member, 'description')) return undefined;
  if (member['const'] !== undefined) return [member['const']];
  return Array.isArray(member['enum']) ? (member['enum'] as readonly Json[]) : undefined;
}

function writeValues(
  writer: Writer,
  base: JsonObject,
  values: readonly Json[],
  path: Path,
): JsonObject {
  const words = wordsOf(writer, { ...base, ...NO_LIMITS });
  const others = values.filter((value) => value !== null);
  if (others.length === 0) return described({ type: 'null' }, words);
  // Values with parts have no place in an `enum` of the dialects.
  if (others.some((value) => typeof value === 'object')) {
    const said = `one of ${others.map((value) => JSON.stringify(value)).join(', ')}`;
    const { enum: _enum, const: _const, ...rest } = base;
    const types = [...new Set(values.map(jsonType))];
    return writeWhole(
      writer,
      { type: types, ...rest, description: sentences([...words, said]) },
      path,
    );
  }
  const isText = writer.dialect.hasTextEnums;
  const shown = isText ? others.map(String).filter((text) => text !== '') : others;
  if (shown.length === 0) return described({ type: 'string' }, [...words, 'an empty text']);
  const types = isText ? ['string'] : [...new Set(others.map(jsonType))];
  const [type = 'string'] = types;
  const written: JsonObject = {
    type: types.length === 1 ? type : types,
    enum: [...new Set(shown)],
  };
  return described(
    others.length < values.length ? nullable(writer, written) : written,
    isText && others.includes('') ? [...words, 'or an empty text'] : words,
  );
}

function writeTyped(writer: Writer, base: JsonObject, type: string, path: Path): JsonObject {
  const { limits = LIMITS, formats } = writer.dialect;
  const kept: Draft = { type };
  for (const keyword of limits) {
    const value = base[keyword];
    if (value === undefined || isOtherFormat(keyword, value, formats)) continue;
    kept[keyword] = value;
  }
  const words = wordsOf(writer, base);
  if (type === 'object') return writeObject(writer, base, kept, words, path);
  if (type === 'array') return described({ ...kept, ...itemsOf(writer, base, path) }, words);
  return described(kept, words);
}

/** A list whose places differ has items of any of them. */
function itemsOf(writer: Writer, base: JsonObject, path: Path): JsonObject {
  const at = [...path, '[]'];
  const { items, prefixItems } = base;
  const places = Array.isArray(prefixItems) ? (prefixItems as readonly Json[]) : [];
  const rest = isJsonObject(items) ? [items] : [];
  if (places.length === 0) {
    return {
      items: rest[0] === undefined ? anything(writer, at, []) : writePart(writer, rest[0], at),
    };
  }
  return { items: writeUnion(writer, {}, [...places, ...rest], at) };
}

function writeObject(
  writer: Writer,
  base: JsonObject,
  kept: JsonObject,
  words: readonly string[],
  path: Path,
): JsonObject {
  const { properties, required, additionalProperties: others } = base;
  const { isClosed } = writer.dialect;
  const fields = isJsonObject(properties) ? Object.entries(properties) : [];
  const needed = Array.isArray(required) ? (required as readonly Json[]) : [];
  const isMap = fields.length === 0 && others !== false;
  if (isMap && isClosed) {
    writer.problems.push({
      path: textOf(path),
      message: 'an object whose fields the schema does not name',
    });
  }
  const written = fields.map(([name, field]): readonly [string, JsonObject] => {
    const schema = writePart(writer, field, [...path, name]);
    return [name, isClosed && !needed.includes(name) ? nullable(writer, schema) : schema];
  });
  const said = isMap && isJsonObject(others) ? [mapWords(others)] : [];
  const names = fields.map(([name]) => name);
  const all = isClosed ? names : names.filter((name) => needed.includes(name));
  return described(
    defined({
      ...kept,
      properties: fields.length === 0 && !isClosed ? undefined : Object.fromEntries(written),
      required: all.length === 0 && !isClosed ? undefined : all,
      additionalProperties: isClosed ? false : undefined,
    }),
    [...words, ...said],
  );
}

function mapWords(others: JsonObject): string {
  const types = typesOf(others).join(' or ');
  return `fields of any name${types === '' ? '' : `, each ${types}`}`;
}

/** Whether a keyword is a format that the dialect lacks. */
function isOtherFormat(keyword: string, value: Json, formats: Dialect['formats']): boolean {
  return keyword === 'format' && formats?.some((format) => format === value) === false;
}

/** The description, and what of the schema the dialect has no keyword for. */
function wordsOf({ dialect }: Writer, base: JsonObject): readonly string[] {
  const { limits = LIMITS, formats } = dialect;
  const lost = Object.entries(base).filter(
    ([keyword, value]) => !limits.includes(keyword) || isOtherFormat(keyword, value, formats),
  );
  const { description, default: standard } = base;
  return [
    ...(typeof description === 'string' && description !== '' ? [description] : []),
    ...limitWords(Object.fromEntries(lost) as JsonObject),
    ...(standard === undefined
      ? []
      : [`default ${JSON.stringify(standard).slice(0, MAX_DEFAULT)}`]),
  ];
}

function described(schema: JsonObject, words: readonly string[]): JsonObject {
  if (words.length === 0) return schema;
  const own = schema['description'];
  const all = typeof own === 'string' ? [...words, own] : words;
  const [only = ''] = all;
  return { ...schema, description: all.length === 1 && own === undefined ? only : sentences(all) };
}

function textOf(path: Path): string {
  const [first = '(root)', ...others] = path;
  return others.reduce((text, name) => (name === '[]' ? `${text}[]` : `${text}.${name}`), first);
}

function sentences(words: readonly string[]): string {
  return words
    .map((text) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`)
    .map((text) => (/[.!?]$/.test(text) ? text : `${text}.`))
    .join(' ');
}

/** Any value, for which a strict dialect has no schema. */
function anything(writer: Writer, path: Path, words: readonly string[]): JsonObject {
  if (writer.dialect.isClosed) {
    writer.problems.push({ path: textOf(path), message: 'a value of any type' });
  }
  const list: JsonObject = { type: 'array', items: { type: 'string' } };
  const types = ['string', 'number', 'boolean', 'object'].map((type): JsonObject => ({ type }));
  return described({ anyOf: [...types, list] }, words);
}

/** `schema`, or null. */
function nullable(writer: Pick<Writer, 'dialect'>, schema: JsonObject): JsonObject {
  const { type, anyOf, enum: values } = schema;
  const withNull = Array.isArray(values)
    ? { enum: [...values.filter((it) => it !== null), null] }
    : {};
  if (typeof type === 'string') {
    return type === 'null' ? schema : { ...schema, type: [type, 'null'], ...withNull };
  }
  if (Array.isArray(type)) return { ...schema, type: [...new Set([...type, 'null'])], ...withNull };
  const members = Array.isArray(anyOf) ? (anyOf as readonly JsonObject[]) : [schema];
  if (members.some((member) => member['type'] === 'null')) return schema;
  const [first, ...rest] = members;
  if (writer.dialect.marksNull && Array.isArray(anyOf) && first !== undefined) {
    return { ...schema, anyOf: [nullable(writer, first), ...rest] };
  }
  const description = Array.isArray(anyOf) ? schema['description'] : undefined;
  return defined({ anyOf: [...members, { type: 'null' }], description });
}
