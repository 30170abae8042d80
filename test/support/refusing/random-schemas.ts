/** Schemas of tools and answers: what users write with zod, and what servers of tools send as JSON. */
import fc from 'fast-check';
import { z } from 'zod';
import type { JsonObject } from '../../../src/core/base/json.ts';
import { readSchema } from '../../../src/define/schema/value-schema.ts';

/** The JSON Schema of a schema of zod. */
export function jsonOf(schema: z.ZodType): JsonObject {
  const reading = readSchema(schema);
  if (reading.kind === 'problem') throw new Error(reading.advice);
  return reading.schema.json;
}

/** Schemas whose objects declare their fields, so that a strict dialect has them. */
const { schema } = fc.letrec<{ schema: z.ZodType; leaf: z.ZodType; object: z.ZodType }>((tie) => ({
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
}));

/** Any of them. */
export const schemas: fc.Arbitrary<z.ZodType> = schema;

/** What servers of tools have sent: valid or not, each was seen. */
export const SENT_BY_SERVERS: readonly JsonObject[] = [
  {},
  { type: 'object' },
  {
    type: 'object',
    properties: {},
    additionalProperties: false,
    $schema: 'http://json-schema.org/draft-07/schema#',
  },
  {
    type: 'object',
    properties: { kind: { type: 'string', enum: ['', 'shell'] } },
    required: ['kind', 'lost'],
  },
  {
    type: 'object',
    properties: { level: { type: 'integer', enum: [1, 2, 4] }, any: {}, yes: true },
  },
  {
    type: 'object',
    properties: { range: { type: 'array', items: [{ type: 'number' }, { type: 'number' }] } },
  },
  { type: 'object', properties: { n: { type: 'number', minimum: 0, exclusiveMinimum: true } } },
  {
    type: 'object',
    properties: {
      tags: { type: 'array' },
      map: { type: 'object', additionalProperties: { type: 'string' } },
    },
  },
  {
    type: 'object',
    properties: { at: { type: ['string', 'null'], format: 'uri' } },
    patternProperties: { '^x-': {} },
  },
  {
    type: 'object',
    properties: { a: { $ref: '#/$defs/node' } },
    $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
  },
  { type: 'object', properties: { a: { $ref: '#/definitions/missing' } } },
  {
    anyOf: [
      { type: 'object', properties: { a: { type: 'string' } } },
      { type: 'object', properties: { b: { type: 'number' } } },
    ],
  },
  {
    type: 'object',
    properties: { a: { type: 'string' }, b: { type: 'string' } },
    oneOf: [{ required: ['a'] }, { required: ['b'] }],
  },
  {
    type: 'object',
    properties: { 'filter[name]': { type: 'string' }, $top: { type: 'integer' } },
    required: ['filter[name]'],
  },
  {
    type: 'object',
    properties: { mode: { const: 'fast' }, size: { enum: ['s', 1, null] }, none: { enum: [] } },
  },
];
