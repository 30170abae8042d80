import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/core/base/json.ts';
import { readYaml } from '../../../src/core/section/yaml-reader.ts';
import { timedRead } from '../../support/reply-readers.ts';
import { yamlText } from '../../../src/core/text/yaml-text.ts';

const advice = 'Quote text that contains ": " or " #", or write it as a "|" block.';

const string = { type: 'string' };
const integer = { type: 'integer' };

describe('YAML by schema [row 14]', () => {
  test.each<{ title: string; text: string; schema?: Json; value: Json }>([
    { title: 'an integer', text: '007', value: 7 },
    { title: 'text that looks like an integer', text: '007', schema: string, value: '007' },
    { title: 'an integer that is wanted', text: '007', schema: integer, value: 7 },
    { title: 'both allowed', text: '007', schema: { type: ['string', 'integer'] }, value: 7 },
    { title: 'a date', text: '2026-03-10', value: '2026-03-10' },
    { title: 'a time', text: '10:30', value: '10:30' },
    { title: 'a duration', text: '1h30m', schema: integer, value: '1h30m' },
    { title: 'yes', text: 'yes', value: 'yes' },
    { title: 'true', text: 'true', value: true },
    { title: 'text that looks like a boolean', text: 'true', schema: string, value: 'true' },
    { title: 'null', text: 'null', value: null },
    { title: 'a tilde', text: '~', value: null },
    { title: 'nothing', text: 'a:', value: { a: null } },
    { title: 'text that looks like null', text: 'null', schema: string, value: 'null' },
    {
      title: 'null where it is allowed',
      text: 'null',
      schema: { type: ['string', 'null'] },
      value: null,
    },
    { title: 'an octal', text: '0o17', value: 15 },
    { title: 'a hexadecimal', text: '0x1F', value: 31 },
    { title: 'a float', text: '1.50', value: 1.5 },
    { title: 'text that looks like a float', text: '1.50', schema: string, value: '1.50' },
    {
      title: 'a float for an integer or text',
      text: '1.5',
      schema: { type: ['integer', 'string'] },
      value: '1.5',
    },
    {
      title: 'an integer for a number',
      text: '5',
      schema: { type: ['number', 'string'] },
      value: 5,
    },
    { title: 'infinity, which is no JSON', text: '.inf', value: '.inf' },
    {
      title: 'a large integer as text',
      text: '12345678901234567890',
      schema: string,
      value: '12345678901234567890',
    },
    { title: 'quoted text', text: '"007"', schema: integer, value: '007' },
    { title: 'tagged text', text: '!!str 5', value: '5' },
    { title: 'a tagged number', text: '!!int "5"', value: 5 },
    { title: 'block text', text: 'a: |\n  x: y # z\n\n  "q"\n', value: { a: 'x: y # z\n\n"q"\n' } },
    { title: 'folded text', text: 'a: >-\n  x\n  y\n', value: { a: 'x y' } },
    { title: 'an enum of text', text: '1', schema: { enum: ['1', '2'] }, value: '1' },
    { title: 'a constant', text: 'true', schema: { const: 'true' }, value: 'true' },
    {
      title: 'nested places',
      text: 'list: [1, 2]\nmap: {x: 3}\nnot_named: 4\nplain: 5',
      schema: {
        type: 'object',
        properties: {
          list: { type: 'array', items: string },
          map: { type: 'object', additionalProperties: string },
          plain: integer,
        },
      },
      value: { list: ['1', '2'], map: { x: '3' }, not_named: 4, plain: 5 },
    },
    {
      title: 'a tuple',
      text: '[1, 2, 3]',
      schema: { prefixItems: [string, integer], items: string },
      value: ['1', 2, '3'],
    },
    {
      title: 'a local reference',
      text: 'id: 1\nnext: {id: 2, next: {id: 3}}',
      schema: {
        $ref: '#/$defs/node',
        $defs: { node: { properties: { id: string, next: { $ref: '#/$defs/node' } } } },
      },
      value: { id: '1', next: { id: '2', next: { id: '3' } } },
    },
    {
      title: 'allOf',
      text: 'a: 1\nb: 2',
      schema: { allOf: [{ properties: { a: string } }, { properties: { b: string } }] },
      value: { a: '1', b: '2' },
    },
    {
      title: 'anyOf at the place',
      text: 'a: 1\nb: 1',
      schema: {
        properties: { a: { anyOf: [string, { type: 'null' }] }, b: { anyOf: [string, integer] } },
      },
      value: { a: '1', b: 1 },
    },
    {
      title: 'oneOf around the place',
      text: 'kind: 1\nsize: 2',
      schema: {
        oneOf: [
          { properties: { kind: { const: '1' }, size: string } },
          { properties: { kind: { const: '2' }, size: string } },
          string,
        ],
      },
      value: { kind: '1', size: '2' },
    },
    {
      title: 'a schema that never ends',
      text: 'a: {a: {a: 1}}',
      schema: {
        allOf: [{ $ref: '#' }],
        properties: { a: { anyOf: [{ $ref: '#' }, { $ref: '#' }] } },
      },
      value: { a: { a: { a: 1 } } },
    },
    {
      title: 'an indented text whose first line was trimmed',
      text: 'a: 1\n  b:\n    c: 2\n\n  d: 3',
      value: { a: 1, b: { c: 2 }, d: 3 },
    },
    {
      title: 'an indented list whose first line was trimmed',
      text: '- a: 1\n    b: 2\n  - a: 3',
      value: [{ a: 1, b: 2 }, { a: 3 }],
    },
    {
      title: 'text that can be read as it is',
      text: 'a:\n  b: 1',
      value: { a: { b: 1 } },
    },
    { title: 'keys that are numbers', text: '007: a\n1.5: b', value: { '007': 'a', '1.5': 'b' } },
    { title: 'quoted keys', text: '"true": a', value: { true: 'a' } },
    { title: 'an anchor that nobody uses', text: 'a: &x 1', value: { a: 1 } },
    { title: 'one document with marks', text: '---\na: 1\n...', value: { a: 1 } },
    { title: 'an empty text', text: '', value: null },
    { title: 'a comment', text: '# nothing', value: null },
  ])('$title', ({ text, schema, value }) => {
    expect(readYaml(text, schema)).toEqual({ kind: 'value', value });
  });

  test('a key never reaches a prototype', () => {
    const reading = readYaml('__proto__: {x: 1}\nconstructor: 2');

    if (reading.kind !== 'value') throw new Error('unread');
    expect(Object.entries(reading.value as object)).toEqual([
      ['__proto__', { x: 1 }],
      ['constructor', 2],
    ]);
    expect(Object.getPrototypeOf(reading.value)).toBe(Object.prototype);
  });
});

describe('YAML that is refused [row 14]', () => {
  test.each([
    {
      text: 'a: 1\n---\nb: 2',
      code: 'yaml_documents',
      line: 2,
      column: 1,
      said: 'a second document',
    },
    {
      text: 'a: &x 1\nb: *x',
      code: 'yaml_alias',
      line: 2,
      column: 4,
      said: 'the alias *x is not allowed',
    },
    {
      text: 'a: !foo x',
      code: 'yaml_tag',
      line: 1,
      column: 9,
      said: 'the tag !foo is not allowed',
    },
    {
      text: 'a: !!binary aGk=',
      code: 'yaml_tag',
      line: 1,
      column: 13,
      said: 'the tag !!binary is not allowed',
    },
    {
      text: 'a: !!set {b}',
      code: 'yaml_tag',
      line: 1,
      column: 10,
      said: 'the tag !!set is not allowed',
    },
    {
      text: '<<: {a: 1}',
      code: 'yaml_merge',
      line: 1,
      column: 1,
      said: 'merge keys are not allowed',
    },
    {
      text: 'a: 1\nb: 2\na: 3',
      code: 'yaml_duplicate',
      line: 3,
      column: 1,
      said: 'the key a occurs twice',
    },
    {
      text: 'true: 1',
      code: 'yaml_key',
      line: 1,
      column: 1,
      said: 'a key must be text or a number',
    },
    {
      text: 'null: 1',
      code: 'yaml_key',
      line: 1,
      column: 1,
      said: 'a key must be text or a number',
    },
    {
      text: '? [a]\n: 1',
      code: 'yaml_key',
      line: 1,
      column: 3,
      said: 'a key must be text or a number',
    },
    {
      text: '%YAML 1.1\n---\na',
      code: 'yaml_syntax',
      line: 1,
      column: 1,
      said: 'directives are not allowed',
    },
    {
      text: 'a: 9007199254740993',
      code: 'yaml_number',
      line: 1,
      column: 4,
      said: '9007199254740993 is too large to be exact. Write it as a string',
    },
  ])('$text', ({ text, code, line, column, said }) => {
    const message = `line ${line}, column ${column}: ${said}. ${advice}`;

    expect(readYaml(text)).toEqual({
      kind: 'problems',
      problems: [{ code, message, line, column }],
    });
  });

  test.each([
    { text: 'a: b: c', line: 1, column: 4, said: 'a mapping inside a value on one line' },
    { text: '{a: 1', line: 1, column: 6, said: 'something is not closed, or a ":" is missing' },
    { text: 'a: "x', line: 1, column: 6, said: 'something is not closed, or a ":" is missing' },
    { text: 'a: "\\q"', line: 1, column: 5, said: 'an unknown escape in double quotes' },
    { text: 'a:\n\tb: 1', line: 2, column: 1, said: 'a tab as indentation' },
    { text: 'a: @b', line: 1, column: 4, said: 'text cannot start with this character' },
    { text: 'a: `b`', line: 1, column: 4, said: 'text cannot start with this character' },
    { text: 'a: |\n  x\n y', line: 3, column: 1, said: 'wrong indentation' },
    { text: 'a: "x" y', line: 1, column: 8, said: 'unexpected text' },
    { text: '- a\nb: c', line: 2, column: 1, said: 'unexpected text' },
    { text: 'a: - b', line: 1, column: 4, said: 'unexpected text' },
    { text: '* item', line: 1, column: 1, said: 'aliases are not allowed' },
    { text: '"a\nb": 1', line: 1, column: 1, said: 'a key that runs over several lines' },
    { text: '!a !b c', line: 1, column: 4, said: 'several tags on one value' },
    { text: '&a &b c', line: 1, column: 4, said: 'several anchors on one value' },
  ])('yaml_syntax: $text', ({ text, line, column, said }) => {
    const message = `line ${line}, column ${column}: ${said}. ${advice}`;

    expect(readYaml(text)).toEqual({
      kind: 'problems',
      problems: [{ code: 'yaml_syntax', message, line, column }],
    });
  });

  test('all refusals of a document are told at once, at most 20', () => {
    const reading = readYaml(Array.from({ length: 30 }, (_, i) => `- *a${i}`).join('\n'));

    if (reading.kind !== 'problems') throw new Error('read');
    expect(reading.problems.map(({ code, line }) => `${code} ${line}`)).toEqual(
      Array.from({ length: 20 }, (_, i) => `yaml_alias ${i + 1}`),
    );
  });

  test.each([
    { title: 'brackets', text: '['.repeat(101) + ']'.repeat(101) },
    { title: 'open brackets', text: '['.repeat(10_000) },
    { title: 'dashes', text: '- '.repeat(10_000) },
    { title: 'maps in a line', text: '{a: '.repeat(10_000) },
    { title: 'keys', text: '? '.repeat(10_000) },
    {
      title: 'indentation',
      text: Array.from({ length: 102 }, (_, i) => ' '.repeat(i) + 'a:').join('\n'),
    },
  ])('more than 100 levels of $title', ({ text }) => {
    expect(readYaml(text)).toEqual({
      kind: 'problems',
      problems: [{ code: 'yaml_depth', message: 'deeper than 100 levels' }],
    });
  });

  test('more than 256 KB', () => {
    expect(readYaml('x'.repeat(256 * 1024)).kind).toBe('value');
    expect(readYaml('x'.repeat(256 * 1024 + 1))).toEqual({
      kind: 'problems',
      problems: [{ code: 'yaml_size', message: 'longer than 256 KB' }],
    });
  });
});

describe('The YAML reader is total [row 10]', () => {
  test('any text is read or refused without a throw', () => {
    const pieces = fc.array(
      fc.oneof(
        fc.constantFrom('- ', ': ', ':', '? ', '[', ']', '{', '}', ',', '|', '>', '\n', '  ', '\t'),
        fc.constantFrom(
          '"',
          "'",
          '#',
          '&a',
          '*a',
          '!t ',
          '!!int ',
          '%',
          '---\n',
          '...\n',
          '<<',
          '\\',
        ),
        fc.string({ unit: 'binary', maxLength: 4 }),
      ),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(pieces, (parts) => {
        const reading = readYaml(parts.join(''));
        if (reading.kind === 'problems') expect(reading.problems.length).toBeGreaterThan(0);
        else expect(JSON.parse(JSON.stringify(reading.value))).toBeDefined();
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    { title: 'aliases', piece: '- *a\n', count: 20_000 },
    { title: 'complex keys', piece: '?\n', count: 50_000 },
    { title: 'stray brackets', piece: '{}', count: 50_000 },
    { title: 'quotes', piece: '"', count: 100_000 },
    { title: 'one key again and again', piece: 'a: 1\n', count: 20_000 },
    { title: 'directives', piece: '%a\n', count: 30_000 },
  ])('reads 100 KB of $title in under 2 s', ({ piece, count }) => {
    const text = piece.repeat(count);
    const reader = { name: 'YAML', maxMsPer100Kb: 2000, read: readYaml };

    // Measured: 50 to 300 ms; the bound tells linear from quadratic on a busy machine.
    expect(timedRead(reader, text)).toBeLessThan(2000);
  });

  test('what is written reads back', () => {
    const text = fc
      .string({ unit: 'grapheme', maxLength: 30 })
      // The writer trims the end of the document, and a CR in a block is a line break.
      .map((t) => t.replace(/[\r\n\u0085\u2028\u2029]+/g, ' ').trim());
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.constantFrom('007', 'true', 'null', '2026-03-10', 'yes', 'a: b', 'a #b', 'x\ny', '- a'),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(text, tie('value'), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(value, (written) => {
        expect(readYaml(yamlText(written as Json))).toEqual({ kind: 'value', value: written });
      }),
      { numRuns: 500 },
    );
  });
});
