import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fitValue } from '../../../src/tools/fit-value.ts';
import type { Json } from '../../../src/core/base/json.ts';
import { parseExact, toSignature } from '../../../src/core/signature/from-json-schema.ts';
import {
  inputsSchema,
  parametersSchema,
  providerSchema,
  validationSchema,
} from '../../../src/core/signature/json-schema.ts';
import { explainSignature, parseSignature } from '../../../src/core/signature/parse-signature.ts';
import { printSignature, promptType } from '../../../src/core/signature/print-signature.ts';
import {
  hiddenFields,
  type Signature,
  type SignatureType,
} from '../../../src/core/contract/signature.ts';
import { anySignature, anyType, isOfType, valueOf } from './signature-arbitrary.ts';

function parsed(text: string): Signature {
  const reading = parseSignature(text);
  if (reading.kind === 'problem') throw new Error(explainSignature(reading));
  return reading.signature;
}

function typeOf(text: string): SignatureType {
  return parsed(text).output;
}

describe('The text of a signature [sub 14]', () => {
  test('is read with parameters, records, lists and marks', () => {
    expect(parsed('(user :string, limit :int?) -> {ids [:int], name {first :string}}')).toEqual({
      params: [
        { name: 'user', type: { kind: 'string' } },
        { name: 'limit', type: { kind: 'optional', inner: { kind: 'int' } } },
      ],
      output: {
        kind: 'record',
        fields: [
          { name: 'ids', type: { kind: 'list', item: { kind: 'int' } } },
          {
            name: 'name',
            type: { kind: 'record', fields: [{ name: 'first', type: { kind: 'string' } }] },
          },
        ],
      },
    });
  });

  test.each([
    { text: ':boolean', printed: '-> :bool' },
    { text: ' ( ) \n->\t{ } ', printed: '-> {}' },
    { text: '[{}]', printed: '-> [{}]' },
    { text: '(a :int)->{x :string?}', printed: '(a :int) -> {x :string?}' },
    { text: '-> [:string]?', printed: '-> [:string]?' },
  ])('$text is printed as $printed', ({ text, printed }) => {
    expect(printSignature(parsed(text))).toBe(printed);
  });

  test('printed and read again, any signature is the same', () => {
    fc.assert(
      fc.property(anySignature, (signature) => {
        expect(parsed(printSignature(signature))).toEqual(signature);
      }),
    );
  });

  test('no text makes the reader throw', () => {
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.constantFrom(
            '(',
            ')',
            '{',
            '}',
            '[',
            ']',
            ':',
            '?',
            '->',
            ',',
            ' ',
            'a',
            ':int',
            '\n',
            '_',
          ),
        }),
        (text) => {
          expect(['signature', 'problem']).toContain(parseSignature(text).kind);
        },
      ),
    );
  });

  const types =
    'Types are :string, :int, :float, :bool, :keyword, :map, :any, :datetime; a list is written [:type], a record {name :type}.';
  const form = 'Write it as `(name :type, …) -> :type`.';
  test.each([
    {
      text: '(a :int) -> [:list]',
      message: `a type at line 1, column 14 of \`signature\`, got \`:list\`. ${types}`,
    },
    { text: '', message: `a type at line 1, column 1 of \`signature\`, got the end. ${types}` },
    { text: '[]', message: `a type at line 1, column 2 of \`signature\`, got \`]\`. ${types}` },
    {
      text: '(a\n  string) -> :int',
      message: `a type at line 2, column 3 of \`signature\`, got \`string\`. ${types}`,
    },
    {
      text: '(a :int -> :int',
      message: `\`,\` or \`)\` at line 1, column 9 of \`signature\`, got \`-\`. ${form}`,
    },
    {
      text: '(a :int) {b :int}',
      message: `\`->\` at line 1, column 10 of \`signature\`, got \`{\`. ${form}`,
    },
    {
      text: ':int :int',
      message: `the end at line 1, column 6 of \`signature\`, got \`:int\`. ${form}`,
    },
    {
      text: '{a :int, a :int}',
      message: `a name that is not there yet at line 1, column 10 of \`signature\`, got \`a\`. ${form}`,
    },
    {
      text: '{1 :int}',
      message: `a name or \`}\` at line 1, column 2 of \`signature\`, got \`1\`. ${form}`,
    },
    {
      text: '{a :int,}',
      message: `a name at line 1, column 9 of \`signature\`, got \`}\`. ${form}`,
    },
    {
      text: '['.repeat(60),
      message: `at most 50 types in each other at line 1, column 51 of \`signature\`, got \`[\`. ${form}`,
    },
  ])('$text is refused', ({ text, message }) => {
    const reading = parseSignature(text);

    expect(reading.kind === 'problem' && explainSignature(reading)).toBe(`Expected ${message}`);
  });

  test('in prompts it has no colons, and dashes in names but for leading underscores', () => {
    expect(promptType(typeOf('{_email_ids [:int], top_hits {page_no :int?}}'))).toBe(
      '{_email-ids [int], top-hits {page-no int?}}',
    );
  });

  test('hidden fields are found in every depth', () => {
    const { params, output } = parsed('(_key :string) -> {a [{_raw :map}], b {_raw :int}?}');

    expect(hiddenFields(params)).toEqual(['_key']);
    expect(hiddenFields([{ name: 'output', type: output }])).toEqual(['_raw']);
  });
});

describe('JSON Schema of a signature [sub 14]', () => {
  test.each<{ text: string; provider: Json; validation: Json }>([
    {
      text: '{a :string, b :int, c :float, d :bool}',
      provider: {
        type: 'object',
        properties: {
          a: { type: 'string' },
          b: { type: 'integer' },
          c: { type: 'number' },
          d: { type: 'boolean' },
        },
        required: ['a', 'b', 'c', 'd'],
        additionalProperties: false,
      },
      validation: {
        type: 'object',
        properties: {
          a: { type: 'string' },
          b: { type: 'integer' },
          c: { type: 'number' },
          d: { type: 'boolean' },
        },
        required: ['a', 'b', 'c', 'd'],
      },
    },
    {
      text: '{k :keyword, at :datetime?, any :any, map :map?}',
      provider: {
        type: 'object',
        properties: {
          k: { type: 'string' },
          at: { type: 'string' },
          any: {},
          map: { type: 'object' },
        },
        required: ['k', 'any'],
        additionalProperties: false,
      },
      validation: {
        type: 'object',
        properties: {
          k: { type: 'string', pattern: expect.any(String) as string },
          at: { type: ['string', 'null'], format: 'datetime-with-offset', 'x-optional': true },
          any: {},
          map: { type: ['object', 'null'], 'x-optional': true },
        },
        required: ['k', 'any'],
      },
    },
    {
      text: '[:int]',
      provider: {
        type: 'object',
        properties: { items: { type: 'array', items: { type: 'integer' } } },
        required: ['items'],
        additionalProperties: false,
      },
      validation: { type: 'array', items: { type: 'integer' } },
    },
    {
      text: ':bool',
      provider: {
        type: 'object',
        properties: { value: { type: 'boolean' } },
        required: ['value'],
        additionalProperties: false,
      },
      validation: { type: 'boolean' },
    },
    { text: ':map', provider: { type: 'object' }, validation: { type: 'object' } },
    {
      text: '{}',
      provider: { type: 'object' },
      validation: { type: 'object', properties: {}, required: [] },
    },
  ])('$text', ({ text, provider, validation }) => {
    expect(providerSchema(typeOf(text))).toEqual(provider);
    expect(validationSchema(typeOf(text))).toEqual(validation);
  });

  test('parameters are described', () => {
    const params = [{ name: 'q', type: { kind: 'string' }, description: 'What to find' }] as const;

    expect(parametersSchema(params)).toEqual({
      type: 'object',
      properties: { q: { type: 'string', description: 'What to find' } },
      required: ['q'],
      additionalProperties: false,
    });
    expect(inputsSchema(params)).toEqual({
      type: 'object',
      properties: { q: { type: 'string' } },
      required: ['q'],
    });
  });

  test('a value of a type fits its schema', async () => {
    const typed = anyType.chain((type) => valueOf(type).map((value) => ({ type, value })));

    await fc.assert(
      fc.asyncProperty(typed, async ({ type, value }) => {
        expect(await fits(type, value)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  test('any value fits the schema of a type exactly when it is one of the type', async () => {
    const texts = fc.constantFrom(
      'a',
      ':b',
      '',
      'x y',
      '2026-05-03T09:14:00Z',
      '2026-05-03T09:14:00',
    );
    const value = fc.letrec<{ json: Json }>((tie) => ({
      json: fc.oneof(
        { maxDepth: 2 },
        fc.constantFrom<Json>(null, true, 1, 1.5),
        texts,
        fc.array(tie('json'), { maxLength: 2 }),
        fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('json'), { noNullPrototype: true }),
      ),
    })).json;
    const type = fc.constantFrom(
      ':string',
      ':int?',
      '{a :int, b :keyword?}',
      '[{c :datetime}]',
      '[:any]',
      '{a [:bool]?}',
      ':map',
      ':datetime',
      ':keyword',
      '{a {b :int}}',
      ':float',
      '[[:int]]',
    );

    await fc.assert(
      fc.asyncProperty(type, value, async (text, json) => {
        // An optional root takes null; it cannot be absent.
        expect(await fits(typeOf(text), json)).toBe(isOfType(typeOf(text), json));
      }),
      { numRuns: 500 },
    );
  });
});

async function fits(type: SignatureType, value: Json): Promise<boolean> {
  const fit = await fitValue({ json: validationSchema(type), standard: null }, value);
  return fit.kind === 'fits';
}

describe('A signature from JSON Schema [sub 14]', () => {
  test('sorts fields, marks what may be absent, keeps descriptions and closes', () => {
    const schema = {
      type: 'object',
      properties: {
        tags: { type: 'array', items: { type: 'string' } },
        age: { type: 'integer', description: 'In years' },
      },
      required: ['tags'],
      additionalProperties: false,
    };

    expect(toSignature(schema)).toEqual({
      kind: 'record',
      closed: true,
      fields: [
        {
          name: 'age',
          type: { kind: 'optional', inner: { kind: 'int' } },
          description: 'In years',
        },
        { name: 'tags', type: { kind: 'list', item: { kind: 'string' } } },
      ],
    });
    expect(parseExact(schema)).toEqual({ kind: 'type', type: toSignature(schema) });
  });

  test.each<{ name: string; schema: Json; type: string }>([
    { name: 'an object without properties', schema: { type: 'object' }, type: 'map' },
    { name: 'nothing', schema: {}, type: 'any' },
    { name: 'an enum', schema: { type: 'string', enum: ['a'] }, type: 'string' },
    { name: 'an enum without a type', schema: { enum: ['a'] }, type: 'string' },
    { name: 'a type or null', schema: { type: ['string', 'null'] }, type: 'string?' },
    { name: 'several types', schema: { type: ['string', 'integer'] }, type: 'any' },
    {
      name: 'a reference',
      schema: { $ref: '#/$defs/n', $defs: { n: { type: 'object', properties: { a: {} } } } },
      type: '{a any?}',
    },
    {
      name: 'a type inside itself',
      schema: {
        $ref: '#/$defs/n',
        $defs: { n: { type: 'object', properties: { next: { $ref: '#/$defs/n' } } } },
      },
      type: '{next any?}',
    },
    { name: 'a union', schema: { anyOf: [] }, type: 'any' },
    { name: 'a list without items', schema: { type: 'array' }, type: '[any]' },
    { name: 'no schema', schema: 3, type: 'any' },
  ])('$name is $type', ({ schema, type }) => {
    expect(promptType(toSignature(schema))).toBe(type);
  });

  test.each<{ schema: Json; message: string }>([
    {
      schema: { type: 'string', pattern: 'a', enum: ['a'] },
      message: 'unsupported JSON Schema key(s): enum, pattern',
    },
    {
      schema: { type: 'object', properties: {}, required: ['x'] },
      message: '"required" entry "x" is not a declared property',
    },
    { schema: { type: 'array' }, message: 'array type requires an "items" key' },
    { schema: { description: 'x' }, message: 'schema must have a "type" key' },
    {
      schema: { type: 'object', properties: { a: { type: 'array' } } },
      message: 'array type requires an "items" key',
    },
    { schema: { type: 'null' }, message: 'unsupported "type": "null"' },
    {
      schema: { type: 'object', additionalProperties: { type: 'string' } },
      message: '"additionalProperties" must be true or false',
    },
    { schema: true, message: 'schema must be an object' },
  ])('is refused: $message', ({ schema, message }) => {
    expect(parseExact(schema)).toEqual({ kind: 'problem', message });
  });
});
