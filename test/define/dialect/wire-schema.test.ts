import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../../src/core/base/json.ts';
import { coerce } from '../../../src/core/section/coerce.ts';
import { GEMINI, OPEN, STRICT, dialectOf } from '../../../src/define/dialect/dialect.ts';
import { wireSchema } from '../../../src/define/dialect/wire-schema.ts';
import { checkJson } from '../../../src/define/schema/schema.ts';
import { readSchema } from '../../../src/define/schema/value-schema.ts';

/** What a provider says of a schema; empty: it takes it. */
type Rules = (schema: JsonObject) => readonly string[];

function partsOf(schema: Json, path = ''): readonly (readonly [string, JsonObject])[] {
  if (!isJsonObject(schema)) return [];
  const below = Object.entries(schema).flatMap(([keyword, value]) => {
    if (['properties', '$defs', 'definitions'].includes(keyword) && isJsonObject(value)) {
      return Object.entries(value).flatMap(([name, part]) => partsOf(part, `${path}.${name}`));
    }
    if (['anyOf', 'oneOf', 'allOf', 'prefixItems'].includes(keyword) && Array.isArray(value)) {
      return value.flatMap((part: Json, index) => partsOf(part, `${path}.${keyword}${index}`));
    }
    return ['items', 'additionalProperties'].includes(keyword) ? partsOf(value, `${path}[]`) : [];
  });
  return [[path === '' ? 'root' : path, schema], ...below];
}

const common: Rules = (schema) => [
  ...(schema['type'] === 'object' ? [] : ['the root is no object']),
  ...['anyOf', 'oneOf', 'allOf', 'enum', 'not', '$ref']
    .filter((keyword) => Object.hasOwn(schema, keyword))
    .map((keyword) => `${keyword} at the root`),
  ...partsOf(schema).flatMap(([path, part]) => [
    ...(part['type'] === 'array' && !isJsonObject(part['items']) ? [`${path}: no items`] : []),
    ...Object.keys(isJsonObject(part['properties']) ? part['properties'] : {})
      .filter((name) => !/^[A-Za-z0-9_.-]{1,64}$/.test(name))
      .map((name) => `${path}: bad name ${name}`),
  ]),
];

const TAKEN_BY_OPENAI = new Set(
  [
    'type properties required additionalProperties items enum anyOf $ref $defs definitions',
    'description minimum maximum exclusiveMinimum exclusiveMaximum multipleOf format pattern',
    'minItems maxItems',
  ].flatMap((names) => names.split(' ')),
);

const openAiStrict: Rules = (schema) =>
  partsOf(schema).flatMap(([path, part]) => {
    const names = Object.keys(isJsonObject(part['properties']) ? part['properties'] : {});
    const required = (part['required'] ?? []) as readonly Json[];
    return [
      ...Object.keys(part)
        .filter((keyword) => !TAKEN_BY_OPENAI.has(keyword))
        .map((keyword) => `${path}: ${keyword} is not permitted`),
      ...(part['type'] === 'object' && part['additionalProperties'] !== false
        ? [`${path}: additionalProperties must be false`]
        : []),
      ...names.filter((name) => !required.includes(name)).map((it) => `${path}: requires ${it}`),
      ...(['type', 'anyOf', '$ref'].some((keyword) => Object.hasOwn(part, keyword))
        ? []
        : [`${path}: must have a type`]),
      ...(Object.hasOwn(part, '$ref') && Object.keys(part).length > 1
        ? [`${path}: $ref has keywords beside it`]
        : []),
    ];
  });

const gemini: Rules = (schema) =>
  partsOf(schema).flatMap(([path, part]) => [
    ...['$ref', '$defs', 'oneOf', 'allOf', 'const', 'not', 'prefixItems']
      .filter((keyword) => Object.hasOwn(part, keyword))
      .map((keyword) => `${path}: ${keyword}`),
    ...(Object.hasOwn(part, 'type') || Object.hasOwn(part, 'anyOf') ? [] : [`${path}: no type`]),
    ...(Array.isArray(part['enum']) &&
    part['enum'].some((it) => it !== null && typeof it !== 'string')
      ? [`${path}: enum of other values than text`]
      : []),
    ...(part['type'] === 'string' && ![undefined, 'date-time'].includes(part['format'] as string)
      ? [`${path}: format ${JSON.stringify(part['format'])}`]
      : []),
    ...(Object.hasOwn(part, 'anyOf') &&
    Object.keys(part).some((it) => !['anyOf', 'description'].includes(it))
      ? [`${path}: any_of must be the only field`]
      : []),
    ...((part['required'] ?? []) as readonly string[])
      .filter(
        (name) => !isJsonObject(part['properties']) || !Object.hasOwn(part['properties'], name),
      )
      .map((name) => `${path}: requires ${name}, which is no property`),
  ]);

function jsonOf(schema: z.ZodType): JsonObject {
  const reading = readSchema(schema);
  if (reading.kind === 'problem') throw new Error(reading.advice);
  return reading.schema.json;
}

/** Schemas whose objects declare their fields, so that a strict dialect has them. */
const { schema: schemas } = fc.letrec<{ schema: z.ZodType; leaf: z.ZodType; object: z.ZodType }>(
  (tie) => ({
    leaf: fc.constantFrom<z.ZodType>(
      z.string(),
      z.string().min(1).max(9),
      z.email(),
      z.iso.datetime(),
      z.iso.date(),
      z.int().min(1).max(5),
      z.number().gt(0),
      z.boolean(),
      z.enum(['good', 'bad']),
      z.literal(7),
      z.literal([1, 2, 3]),
      z.literal(true),
      z.string().nullable(),
      z.string().default('x').describe('Some text'),
    ),
    object: fc
      .dictionary(
        fc.constantFrom('a', 'b_c', 'straße', 'x y', 'n'.repeat(70), 'value'),
        fc.tuple(tie('schema'), fc.boolean()),
        { maxKeys: 4 },
      )
      .map((fields) =>
        z.strictObject(
          Object.fromEntries(
            Object.entries(fields).map(([name, [field, isOptional]]) => [
              name,
              isOptional ? field.optional() : field,
            ]),
          ),
        ),
      ),
    schema: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      tie('leaf'),
      tie('object'),
      tie('schema').map((item) => z.array(item).max(3)),
      fc.tuple(tie('schema'), tie('schema')).map((members) => z.union(members)),
      fc
        .tuple(tie('leaf'), tie('leaf'))
        .map(([a, b]) =>
          z.discriminatedUnion('kind', [
            z.object({ kind: z.literal('a'), a }),
            z.object({ kind: z.literal('b'), b: b.optional() }),
          ]),
        ),
    ),
  }),
);

describe('a schema on the wire', () => {
  test.each([
    { dialect: OPEN, rules: [common] },
    { dialect: STRICT, rules: [common, openAiStrict] },
    { dialect: GEMINI, rules: [common, gemini] },
  ])('obeys the rules of its dialect: $dialect.name', ({ dialect, rules }) => {
    fc.assert(
      fc.property(schemas, (schema) => {
        const wire = wireSchema(jsonOf(schema), dialect);
        expect(wire.problems).toEqual([]);
        expect(rules.flatMap((rule) => rule(wire.schema))).toEqual([]);
      }),
    );
  });

  const trees: JsonObject = {
    type: 'object',
    properties: {
      name: { type: 'string' },
      children: { type: 'array', items: { $ref: '#' } },
      parent: { $ref: '#/properties/name', description: 'Its name.' },
    },
    required: ['name'],
  };

  test.each([OPEN, STRICT, GEMINI])('recursion and odd references in $name', (dialect) => {
    const wire = wireSchema(trees, dialect);
    const rules = { open: [], strict: [openAiStrict], gemini: [gemini] }[dialect.name];
    expect([common, ...rules].flatMap((rule) => rule(wire.schema))).toEqual([]);
    const unresolved = partsOf(wire.schema).filter(([, { $ref }]) => $ref === '#');
    expect(unresolved).toEqual([]);
  });

  test.each([
    {
      name: 'a union',
      schema: {
        oneOf: [
          { type: 'object', properties: { kind: { const: 'a' }, value: { type: 'number' } } },
          { type: 'object', properties: { kind: { const: 'b' } } },
        ],
      },
      value: { kind: 'a', value: 1 },
      sent: { value_: { kind: 'a', value: 1 } },
    },
    {
      name: 'a field of the name of the wrapper',
      schema: { anyOf: [{ type: 'object', properties: { value: { type: 'number' } } }] },
      value: { value: 1 },
      sent: { value_: { value: 1 } },
    },
    { name: 'a list', schema: { type: 'array', items: {} }, value: [1], sent: { items: [1] } },
    {
      name: 'names of other letters',
      schema: {
        type: 'object',
        properties: {
          straße: { type: 'object', properties: { 'Nr.': { type: 'string' }, 'x y': {} } },
          stra_e: { type: 'string' },
          others: { type: 'object', additionalProperties: {} },
        },
      },
      value: { straße: { 'Nr.': '1', 'x y': 2 }, stra_e: 'own', others: { x_y: 1, straße: 2 } },
      sent: { stra_e_2: { 'Nr.': '1', x_y: 2 }, stra_e: 'own', others: { x_y: 1, straße: 2 } },
    },
  ])('$name goes there and comes back', ({ schema, value, sent }) => {
    const wire = wireSchema(schema as JsonObject, OPEN);
    expect(wire.encode(value as Json)).toEqual(sent);
    expect(wire.decode(sent as Json)).toEqual(value);
    // A model that leaves the wrapper out is understood.
    expect(wire.decode(value as Json)).toEqual(value);
  });

  test('one object of several parts stays one object', () => {
    const both = jsonOf(z.intersection(z.object({ a: z.string() }), z.object({ b: z.int() })));
    expect(wireSchema(both, OPEN).schema).toEqual({
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'integer' } },
      required: ['a', 'b'],
    });
    const oneOfTwo: JsonObject = {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' } },
      anyOf: [{ required: ['a'] }, { required: ['b'] }],
    };
    expect(wireSchema(oneOfTwo, OPEN).schema).toEqual({
      type: 'object',
      properties: oneOfTwo['properties'],
    });
  });

  test('a schema that its provider takes is sent as it is', () => {
    const schema = jsonOf(
      z.object({ mood: z.enum(['good', 'bad']), stars: z.int().min(1).max(5) }),
    );
    expect(wireSchema(schema, OPEN).schema).toBe(schema);
  });

  test('limits without a keyword are told in the description', () => {
    const schema = jsonOf(
      z.object({ stars: z.int().min(1).max(5).describe('How many'), note: z.string().max(80) }),
    );
    expect(wireSchema(schema, GEMINI).schema['properties']).toEqual({
      stars: { type: 'integer', description: 'How many. 1..5.' },
      note: { type: 'string', description: 'at most 80 characters' },
    });
  });

  test('null for a field that a strict schema made one is no field', () => {
    const schema = jsonOf(
      z.object({ a: z.string(), b: z.int().optional(), c: z.enum(['x']).optional() }),
    );
    const { schema: strict } = wireSchema(schema, STRICT);
    const value: Json = { a: 'text', b: null, c: null };
    expect(checkJson(strict, value).errors).toEqual([]);
    expect(coerce(value, schema)).toEqual({ a: 'text' });
  });

  test('what cannot be strict is named with its path', () => {
    const schema = jsonOf(
      z.object({
        rows: z.array(z.object({ tags: z.record(z.string(), z.number()), x: z.unknown() })),
      }),
    );
    expect(wireSchema(schema, STRICT).problems).toEqual([
      { path: 'rows[].tags', message: 'an object whose fields the schema does not name' },
      { path: 'rows[].x', message: 'a value of any type' },
    ]);
  });

  test('references to references stay bounded', () => {
    const $defs: { [name: string]: Json } = {
      t0: { type: 'object', properties: { a: { type: 'string' } } },
    };
    for (let level = 1; level < 30; level++) {
      const $ref = `#/$defs/t${level - 1}`;
      $defs[`t${level}`] = {
        type: 'object',
        properties: { l: { $ref }, r: { $ref } },
        allOf: [{ $ref }, { $ref }],
      };
    }
    const { schema } = wireSchema({ $ref: '#/$defs/t29', $defs }, GEMINI);
    expect(JSON.stringify(schema).length).toBeLessThan(1_000_000);
  });

  test.each([
    { provider: 'openai.chat', isStrict: true, dialect: STRICT },
    { provider: 'openai.responses', isStrict: false, dialect: OPEN },
    { provider: 'google.generative-ai', isStrict: true, dialect: GEMINI },
    { provider: 'google.vertex.chat', isStrict: false, dialect: GEMINI },
    { provider: 'vertex.anthropic.messages', isStrict: false, dialect: OPEN },
  ])('the dialect of $provider', ({ provider, isStrict, dialect }) => {
    expect(dialectOf(provider, isStrict)).toBe(dialect);
  });
});
