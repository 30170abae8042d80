import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../src/core/base/json.ts';
import { readShape } from '../../../src/core/section/schema-shape.ts';
import { toSignature } from '../../../src/core/signature/from-json-schema.ts';
import { shapeExample } from '../../../src/core/signature/shape-example.ts';
import { exampleText, shapeText } from '../../../src/core/signature/shape-text.ts';

const notation = { field: (name: string, value: string) => `${name} ${value}`, value: String };

/** The text of a shape, with its named types after it. */
function textOf(schema: Json): string {
  const { shape, named } = readShape(schema);
  const others = [...named].map(([name, inner]) => `; ${name} = ${shapeText(inner)}`);
  return shapeText(shape) + others.join('');
}

const flight = {
  type: 'object',
  properties: { id: { type: 'string' }, seats: { type: ['integer', 'null'] } },
  required: ['id', 'seats'],
};

describe('The shape of a schema [L15]', () => {
  test.each<{ name: string; schema: Json; text: string }>([
    {
      name: 'a reference is followed',
      schema: {
        type: 'object',
        properties: { flights: { type: 'array', items: { $ref: '#/$defs/flight' } } },
        required: ['flights'],
        $defs: { flight },
      },
      text: '{flights [{id string, seats int?}]}',
    },
    {
      name: 'a union in a list',
      schema: {
        type: 'array',
        items: { anyOf: [{ $ref: '#/definitions/flight' }, { type: 'object' }] },
        definitions: { flight },
      },
      text: '[{id string, seats int?} | map]',
    },
    {
      name: 'a union in a field stands in parentheses',
      schema: {
        type: 'object',
        properties: { id: { oneOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }] } },
        required: ['id'],
      },
      text: '{id (string | int)?}',
    },
    {
      name: 'constants tell members of a union apart',
      schema: {
        anyOf: [
          { type: 'object', properties: { kind: { const: 'a' } }, required: ['kind'] },
          { type: 'object', properties: { kind: { enum: ['b', 'c'] } }, required: ['kind'] },
        ],
      },
      text: '{kind "a"} | {kind ("b" | "c")}',
    },
    {
      name: 'the parts of allOf are one record',
      schema: {
        allOf: [{ $ref: '#/$defs/base' }, { properties: { b: { type: 'number' } } }],
        required: ['b'],
        $defs: { base: { type: 'object', properties: { a: { type: 'boolean' } } } },
      },
      text: '{a bool?, b float?}',
    },
    {
      name: 'fields beside a union belong to each member',
      schema: {
        type: 'object',
        properties: { at: { type: 'string' } },
        required: ['at'],
        oneOf: [{ properties: { x: { type: 'integer' } } }, { required: ['at'] }],
      },
      text: '{at string}',
    },
    {
      name: 'a type inside itself has a name',
      schema: {
        $ref: '#/$defs/Node',
        $defs: {
          Node: {
            type: 'object',
            properties: {
              value: { type: 'integer' },
              children: { type: 'array', items: { $ref: '#/$defs/Node' } },
            },
            required: ['value'],
          },
        },
      },
      text: 'Node; Node = {value int, children [Node]?}',
    },
    {
      name: 'a reference to the root',
      schema: { type: 'object', properties: { next: { $ref: '#' } } },
      text: '{next Root?}; Root = {next Root?}',
    },
    { name: 'a tuple', schema: { prefixItems: [{ type: 'string' }, {}] }, text: '[string, any]' },
    {
      name: 'a map with values of one type',
      schema: { type: 'object', additionalProperties: { type: 'integer' } },
      text: '{... int}',
    },
    { name: 'a reference to nothing', schema: { $ref: '#/$defs/no' }, text: 'any' },
    {
      name: 'references in a circle',
      schema: { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
      text: 'a; a = a',
    },
  ])('$name', ({ schema, text }) => {
    expect(textOf(schema)).toBe(text);
  });

  test('stays as short as its schema when parts refer to parts', () => {
    const $defs: { [name: string]: Json } = { d0: { type: 'object', properties: { x: {} } } };
    for (let index = 1; index <= 60; index++) {
      const part = { $ref: `#/$defs/d${index - 1}` };
      $defs[`d${index}`] = {
        type: 'object',
        properties: { a: part, b: part },
        required: ['a', 'b'],
      };
    }
    const schema = { $ref: '#/$defs/d60', $defs };

    expect(textOf(schema).length).toBeLessThan(2_000);
    expect(exampleText(shapeExample(readShape(schema)), notation).length).toBeLessThan(2_000);
    expect(JSON.stringify(toSignature(schema)).length).toBeLessThan(200_000);
  });

  test('is found for any schema, and each has an example', () => {
    const pointer = fc.constantFrom('#', '#/$defs/a', '#/$defs/b', '#/properties/a', 'x', '#/no');
    const { schema } = fc.letrec<{ schema: Json }>((tie) => ({
      schema: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom<Json>(true, {}, { type: 'string' }, { enum: [1, null] }, { const: 'x' }),
        pointer.map(($ref): Json => ({ $ref })),
        fc.array(tie('schema'), { maxLength: 3 }).map((allOf): Json => ({ allOf })),
        fc.array(tie('schema'), { maxLength: 3 }).map((anyOf): Json => ({ anyOf })),
        tie('schema').map((items): Json => ({ type: 'array', items })),
        fc.tuple(tie('schema'), tie('schema'), pointer).map(([a, b, $ref]): Json => ({
          properties: { a, b },
          required: ['a'],
          allOf: [{ $ref }],
        })),
      ),
    }));
    fc.assert(
      fc.property(schema, schema, schema, (root, a, b) => {
        const whole = { ...(root as JsonObject), $defs: { a, b } };
        const reading = readShape(whole);
        const notation = {
          field: (name: string, value: string) => `${name} ${value}`,
          value: String,
        };
        expect(textOf(whole).length).toBeLessThan(100_000);
        expect(exampleText(shapeExample(reading), notation).length).toBeLessThan(100_000);
        expect(toSignature(whole)).toBeDefined();
      }),
    );
  });
});
