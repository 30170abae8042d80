import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../../src/core/base/json.ts';
import { coerce } from '../../../src/core/section/coerce.ts';
import { GEMINI, OPEN, STRICT, dialectOf } from '../../../src/define/dialect/dialect.ts';
import { wireSchema } from '../../../src/define/dialect/wire-schema.ts';
import { checkJson } from '../../../src/define/schema/schema.ts';
import { jsonOf, schemas } from '../../support/refusing/random-schemas.ts';
import { schemaProblem } from '../../support/refusing/schemas.ts';

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

describe('a schema on the wire', () => {
  test.each([
    { dialect: OPEN, reader: 'openai' },
    { dialect: STRICT, reader: 'openai-strict' },
    { dialect: GEMINI, reader: 'gemini-json' },
  ] as const)('obeys the rules of its dialect: $dialect.name', ({ dialect, reader }) => {
    fc.assert(
      fc.property(schemas, (schema) => {
        const wire = wireSchema(jsonOf(schema), dialect);
        expect(wire.problems).toEqual([]);
        expect(schemaProblem(wire.schema, reader)).toBeUndefined();
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
    const reader = { open: 'openai', strict: 'openai-strict', gemini: 'gemini-json' } as const;
    expect(schemaProblem(wire.schema, reader[dialect.name])).toBeUndefined();
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
