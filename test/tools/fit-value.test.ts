import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { fitValue } from '../../src/tools/fit-value.ts';
import type { StandardSchema } from '../../src/define/schema/standard-schema.ts';
import { readSchema } from '../../src/define/schema/value-schema.ts';
import type { Json, JsonObject } from '../../src/core/base/json.ts';
import { cpuClock } from '../support/cpu-time.ts';

const duration = { type: 'string', format: 'duration' };
const moment = { type: 'string', format: 'date-time' };

/** What `value` comes to in an object with the one property `a`. */
async function fitProperty(schema: JsonObject, value: Json): Promise<unknown> {
  const fit = await fitValue(
    { json: { type: 'object', properties: { a: schema } }, standard: null },
    { a: value },
  );
  return fit.kind === 'fits' ? (fit.value as { a: Json }).a : fit.lines;
}

describe('[row 15] types, as they arrive', () => {
  test.each([
    { name: 'text', schema: { type: 'string' }, value: '5', arrives: '5' },
    { name: 'a boolean', schema: { type: 'boolean' }, value: true, arrives: true },
    { name: 'anything', schema: {}, value: [null], arrives: [null] },
    { name: 'an integer as text', schema: { type: 'integer' }, value: '5', arrives: 5 },
    { name: 'a boolean as text', schema: { type: 'boolean' }, value: 'true', arrives: true },
    { name: 'null for no value', schema: { type: 'string' }, value: null, arrives: undefined },
    { name: 'an integer', schema: { type: 'integer' }, value: 5.0, arrives: 5 },
    { name: 'a number', schema: { type: 'number' }, value: 0.5, arrives: 0.5 },
    { name: 'null', schema: { type: ['string', 'null'] }, value: null, arrives: null },
    {
      name: 'a date',
      schema: { type: 'string', format: 'date' },
      value: '2026-03-10',
      arrives: '2026-03-10',
    },
    ...['09:05', '09:05:06', '09:05:06.789', '09:05:06Z', '09:05:06+02:00'].map((value) => ({
      name: `the time ${value}`,
      schema: { type: 'string', format: 'time' },
      value,
      arrives: value,
    })),
    ...[
      [79.99, 0.01],
      [0.3, 0.1],
      [1_234_567.89, 0.01],
      [35, 5],
    ].map(([value = 0, multipleOf = 0]) => ({
      name: `${value}, a multiple of ${multipleOf}`,
      schema: { type: 'number', multipleOf },
      value,
      arrives: value,
    })),
    {
      name: 'a moment without zone',
      schema: moment,
      value: '2026-03-10 09:05',
      arrives: '2026-03-10T09:05:00Z',
    },
    {
      name: 'a moment with offset',
      schema: moment,
      value: '2026-03-10T09:05:06+02:00',
      arrives: '2026-03-10T09:05:06+02:00',
    },
    { name: 'a duration in units', schema: duration, value: '1h30m', arrives: 'PT1H30M' },
    { name: 'a duration in ms', schema: duration, value: 90_000, arrives: 'PT1M30S' },
    { name: 'a negative fraction', schema: duration, value: '-1.5s', arrives: '-PT1.5S' },
    {
      name: 'a duration as ms',
      schema: { type: 'integer', format: 'duration' },
      value: '2m',
      arrives: 120_000,
    },
  ])('$name', async ({ schema, value, arrives }) => {
    expect(await fitProperty(schema, value)).toEqual(arrives);
  });

  test.each([
    {
      name: 'text for an integer',
      schema: { type: 'integer' },
      value: 'five',
      line: 'a: expected integer, got string "five"',
    },
    {
      name: 'text for a boolean',
      schema: { type: 'boolean' },
      value: 'yes',
      line: 'a: expected boolean, got string "yes"',
    },
    {
      name: 'no date',
      schema: { type: 'string', format: 'date' },
      value: '2026-02-30',
      line: 'a: expected a date, got string "2026-02-30"',
    },
    {
      name: 'no time',
      schema: { type: 'string', format: 'time' },
      value: '25:00:00Z',
      line: 'a: expected a time, got string "25:00:00Z"',
    },
    {
      name: 'half a time',
      schema: { type: 'string', format: 'time' },
      value: '9:05',
      line: 'a: expected a time, got string "9:05"',
    },
    {
      name: 'no multiple',
      schema: { type: 'number', multipleOf: 0.01 },
      value: 79.995,
      line: 'a: expected a multiple of 0.01, got number 79.995',
    },
    {
      name: 'no moment',
      schema: moment,
      value: 'tomorrow',
      line: 'a: expected a date-time, got string "tomorrow"',
    },
    {
      name: 'no duration',
      schema: duration,
      value: 'long',
      line: 'a: expected a duration, got string "long"',
    },
    {
      name: 'null without leave',
      schema: { type: 'array', items: { type: 'string' } },
      value: [null],
      line: 'a[0]: expected string, got null',
    },
  ])('or are refused: $name', async ({ schema, value, line }) => {
    expect(await fitProperty(schema, value)).toEqual([line]);
  });

  test('defaults are filled in at every depth, and the value given is left alone', async () => {
    const json = {
      type: 'object',
      properties: {
        page: { type: 'integer', default: 1 },
        sort: { type: 'object', properties: { by: { default: 'name' } }, default: {} },
      },
    };
    const given = { word: 'x' };

    const fit = await fitValue({ json, standard: null }, given);

    expect(fit).toEqual({ kind: 'fits', value: { word: 'x', page: 1, sort: { by: 'name' } } });
    expect(given).toEqual({ word: 'x' });
  });

  test('keys keep the order in which they were written, defaults behind', async () => {
    const json = { type: 'object', properties: { a: {}, b: {}, c: { default: 1 } } };

    const fit = await fitValue({ json, standard: null }, { z: 1, b: 2, a: 3 });

    expect(JSON.stringify(fit)).toBe('{"kind":"fits","value":{"z":1,"b":2,"a":3,"c":1}}');
  });

  test('unknown properties pass, unless the schema forbids them', async () => {
    const open = { type: 'object', properties: { name: {} } };

    expect(await fitValue({ json: open, standard: null }, { nmae: 1 })).toEqual({
      kind: 'fits',
      value: { nmae: 1 },
    });
    expect(
      await fitValue(
        { json: { ...open, additionalProperties: false }, standard: null },
        { nmae: 1 },
      ),
    ).toEqual({ kind: 'unfit', lines: ['nmae: unknown property, did you mean name?'] });
  });
});

describe('[row 16] what ajv finds, as lines', () => {
  test.each<{ name: string; schema: JsonObject; value: Json; lines: readonly string[] }>([
    {
      name: 'required, at the root and below',
      schema: {
        type: 'object',
        required: ['b'],
        properties: { a: { type: 'array', items: { type: 'object', required: ['x'] } } },
      },
      value: { a: [{ x: 1 }, {}] },
      lines: ['a[1].x: missing', 'b: missing'],
    },
    {
      name: 'one of several types',
      schema: { type: ['string', 'null'] },
      value: 5,
      lines: ['(value): expected string or null, got number 5'],
    },
    {
      name: 'enum and const',
      schema: { properties: { a: { enum: ['x', 1] }, b: { const: true } } },
      value: { a: 'y', b: 1 },
      lines: ['a: expected one of "x", 1, got string "y"', 'b: expected true, got number 1'],
    },
    {
      name: 'bounds of numbers',
      schema: {
        items: { minimum: 5, exclusiveMaximum: 2, maximum: 3, exclusiveMinimum: 9, multipleOf: 3 },
      },
      value: [4],
      lines: [
        '[0]: expected a number <= 3, got number 4',
        '[0]: expected a number >= 5, got number 4',
        '[0]: expected a number < 2, got number 4',
        '[0]: expected a number > 9, got number 4',
        '[0]: expected a multiple of 3, got number 4',
      ],
    },
    {
      name: 'sizes',
      schema: {
        properties: {
          a: { minLength: 3 },
          b: { maxItems: 1 },
          c: { minProperties: 1 },
        },
      },
      value: { a: 'éx', b: [1, 2], c: {} },
      lines: [
        'a: expected at least 3 characters, got 2',
        'b: expected at most 1 items, got 2',
        'c: expected at least 1 properties, got 0',
      ],
    },
    {
      name: 'pattern and format',
      schema: { properties: { a: { pattern: '^x' }, b: { type: 'string', format: 'email' } } },
      value: { a: 'y', b: 'nobody' },
      lines: [
        'a: expected text matching ^x, got string "y"',
        'b: expected a email, got string "nobody"',
      ],
    },
    {
      name: 'equal items',
      schema: { uniqueItems: true },
      value: [1, 2, 1],
      lines: ['(value): items 0, 2 are equal'],
    },
    {
      name: 'anyOf, one line however much is wrong inside, behind a reference too',
      schema: {
        properties: { a: { anyOf: [{ type: 'string' }, { $ref: '#/$defs/shape' }] } },
        $defs: { shape: { type: 'object', required: ['q', 'r'] } },
      },
      value: { a: {} },
      lines: [
        'a: fits none of the 2 allowed shapes; the nearest is shape: a.q: missing; a.r: missing',
      ],
    },
    {
      name: 'anyOf of a schema that refers to itself, at its root',
      schema: { anyOf: [{ type: 'string' }, { type: 'object', properties: { k: { $ref: '#' } } }] },
      value: { k: { k: 5 } },
      lines: [
        '(value): fits none of the 2 allowed shapes; the nearest is shape 2: k.k: expected object, got number 5',
      ],
    },
    {
      name: 'anyOf of a node and null, deep in a list of nodes',
      schema: {
        properties: {
          first: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] },
          other: { $ref: '#/$defs/node' },
        },
        $defs: {
          node: {
            type: 'object',
            properties: {
              v: { type: 'integer' },
              next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] },
            },
            required: ['v'],
          },
        },
      },
      value: { first: { v: 1, next: { v: 'a' } }, other: { v: 'b', next: { v: 1, next: 3 } } },
      lines: [
        'first: fits none of the 2 allowed shapes',
        'other.next: fits none of the 2 allowed shapes',
        'other.v: expected integer, got string "b"',
      ],
    },
    {
      name: 'anyOf beside other keywords, which say more',
      schema: {
        required: ['a'],
        properties: { a: {}, 'b/c': { type: 'string', minLength: 3, anyOf: [{ minLength: 5 }] } },
        anyOf: [{ required: ['x'] }],
      },
      value: { 'b/c': 'd' },
      lines: [
        '(value): fits none of the 1 allowed shapes; the nearest is shape 1: x: missing',
        'a: missing',
        '["b/c"]: fits none of the 1 allowed shapes; the nearest is shape 1: ["b/c"]: expected at least 5 characters, got 1',
        '["b/c"]: expected at least 3 characters, got 1',
      ],
    },
    {
      name: 'oneOf, none and two',
      schema: {
        properties: {
          a: { oneOf: [{ type: 'string' }, { type: 'null' }, { type: 'array' }] },
          b: { oneOf: [{ type: 'number' }, { type: 'integer' }] },
        },
      },
      value: { a: 1, b: 1 },
      lines: ['a: fits none of the 3 allowed shapes', 'b: fits 2 shapes, expected exactly one'],
    },
    {
      name: 'anything else',
      schema: { not: {} },
      value: 1,
      lines: ['(value): does not fit (not)'],
    },
  ])('$name', async ({ schema, value, lines }) => {
    expect(await fitValue({ json: schema, standard: null }, value)).toEqual({
      kind: 'unfit',
      lines,
    });
  });

  test('25 problems are 20 lines and a count', async () => {
    const json = { items: { type: 'string' } };
    const value = Array.from({ length: 25 }, (_, index) => index);

    const fit = await fitValue({ json, standard: null }, value);

    expect(fit).toEqual({
      kind: 'unfit',
      lines: [
        ...value.slice(0, 20).map((n) => `[${n}]: expected string, got number ${n}`),
        'and 5 more',
      ],
    });
  });

  test('a list of 40,000 wrong items takes seconds, not minutes: nothing compares all errors with all', async () => {
    const json = { items: { anyOf: [{ type: 'string' }, { type: 'array' }] } };
    const cpuMs = cpuClock();

    const fit = await fitValue(
      { json, standard: null },
      Array.from({ length: 40_000 }, () => 1),
    );

    expect(fit).toMatchObject({ kind: 'unfit' });
    expect(cpuMs()).toBeLessThan(5_000);
  });
});

describe("[row 16] a schema library's own check", () => {
  const reading = readSchema(
    z
      .object({ from: z.number(), to: z.number(), tags: z.array(z.string()).default([]) })
      .refine(({ from, to }) => from <= to, { message: 'ends before it begins', path: ['to'] }),
  );
  if (reading.kind === 'problem') throw new Error(reading.advice);
  const { schema } = reading;

  test('runs behind ajv, and its output is what arrives', async () => {
    expect(await fitValue(schema, { from: 1, to: 2 })).toEqual({
      kind: 'fits',
      value: { from: 1, to: 2, tags: [] },
    });
  });

  test('is told in its own words', async () => {
    expect(await fitValue(schema, { from: 2, to: 1 })).toEqual({
      kind: 'unfit',
      lines: ['to: ends before it begins'],
    });
  });

  test('does not run while ajv finds something', async () => {
    expect(await fitValue(schema, { from: 'x', to: 1 })).toEqual({
      kind: 'unfit',
      lines: ['from: expected number, got string "x"'],
    });
  });

  test('may name places by keys, by records of keys, or not at all', async () => {
    const standard: StandardSchema = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: async () => ({
          issues: [
            { message: 'odd', path: ['rows', 0, { key: 'id' }] },
            { message: 'wrong as a whole' },
          ],
        }),
      },
    };

    expect(await fitValue({ json: {}, standard }, {})).toEqual({
      kind: 'unfit',
      lines: ['(value): wrong as a whole', 'rows[0].id: odd'],
    });
  });
});

describe('a union that no shape fits', () => {
  const shapes = z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('circle'), r: z.number() }),
    z.object({ kind: z.literal('box'), w: z.number().max(9), h: z.number() }),
  ]);
  const jsonOf = (schema: z.ZodType): JsonObject => {
    const reading = readSchema(schema);
    if (reading.kind === 'problem') throw new Error(reading.advice);
    return reading.schema.json;
  };

  test.each<{ name: string; schema: JsonObject; value: Json; lines: readonly string[] }>([
    {
      name: 'names the nearest by its mark, and what it lacks',
      schema: jsonOf(z.object({ shape: shapes })),
      value: { shape: { kind: 'box', w: 10 } },
      lines: [
        'shape: fits none of the 2 allowed shapes; the nearest is the one with kind "box": shape.h: missing; shape.w: expected a number <= 9, got number 10',
      ],
    },
    {
      name: 'names the values of an enum that may be null',
      schema: jsonOf(z.object({ mood: z.enum(['good', 'bad']).nullable() })),
      value: { mood: 'so so' },
      lines: [
        'mood: fits none of the 2 allowed shapes; the nearest is shape 1: mood: expected one of "good", "bad", got string "so so"',
      ],
    },
    {
      name: 'follows references of its shapes',
      schema: {
        type: 'object',
        properties: { a: { anyOf: [{ $ref: '#/$defs/Long' }, { type: 'null' }] } },
        $defs: { Long: { type: 'object', properties: { x: {} }, required: ['x'] } },
      },
      value: { a: {} },
      lines: ['a: fits none of the 2 allowed shapes; the nearest is Long: a.x: missing'],
    },
  ])('$name', async ({ schema, value, lines }) => {
    expect(await fitValue({ json: schema, standard: null }, value)).toEqual({
      kind: 'unfit',
      lines,
    });
  });
});
