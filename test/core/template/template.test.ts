import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../src/core/base/json.ts';
import { expandTemplate } from '../../../src/core/template/expand-template.ts';
import { parseTemplate } from '../../../src/core/template/parse-template.ts';
import { namesOf } from '../../../src/core/template/template.ts';

function expanded(text: string, data: JsonObject = {}): string {
  const reading = parseTemplate(text);
  if (reading.kind === 'problem') return `ERROR ${reading.message}`;
  const expansion = expandTemplate(reading.nodes, data);
  return expansion.kind === 'text' ? expansion.text : `ERROR ${expansion.message}`;
}

describe('A template [sub 15]', () => {
  test.each<{ text: string; data?: JsonObject; result: string }>([
    { text: 'no tags', result: 'no tags' },
    { text: 'Hi {{name}}!', data: { name: 'Ann' }, result: 'Hi Ann!' },
    { text: '{{ a.b.c }}', data: { a: { b: { c: 3 } } }, result: '3' },
    {
      text: '{{a}}|{{b}}|{{c}}|{{d}}',
      data: { a: true, b: 0.1, c: null, d: 12 },
      result: 'true|0.1||12',
    },
    { text: 'a{{! not shown }}b', result: 'ab' },
    { text: '{{#xs}}<{{.}}>{{/xs}}', data: { xs: [1, 'b', null] }, result: '<1><b><>' },
    {
      text: '{{#xs}}{{n}}{{sep}}{{/xs}}',
      data: { xs: [{ n: 1 }, { n: 2 }], sep: ';' },
      result: '1;2;',
    },
    { text: '{{#u}}{{name}}{{/u}}', data: { u: { name: 'Ann' } }, result: 'Ann' },
    { text: '{{#on}}yes{{/on}}{{^on}}no{{/on}}', data: { on: true }, result: 'yes' },
    { text: '{{#on}}yes{{/on}}{{^on}}no{{/on}}', result: 'no' },
    { text: '{{#a.b}}x{{/a.b}}', data: { a: { b: 1 } }, result: 'x' },
    { text: '{{name}}', data: { name: '<&"{{x}}' }, result: '<&"{{x}}' },
    { text: 'a\n{{#x}}\nb\n{{/x}}\nc', data: { x: 1 }, result: 'a\nb\nc' },
    { text: 'a\n  {{! gone }}  \nc', result: 'a\nc' },
    { text: '{{#x}}\nb\n{{/x}}', data: { x: 1 }, result: 'b\n' },
    { text: 'a {{#x}}b{{/x}} c', data: { x: 1 }, result: 'a b c' },
  ])('$text', ({ text, data, result }) => {
    expect(expanded(text, data)).toBe(result);
  });

  test.each<{ value: Json; isShown: boolean }>([
    { value: null, isShown: false },
    { value: false, isShown: false },
    { value: '', isShown: false },
    { value: [], isShown: false },
    { value: 0, isShown: true },
    { value: {}, isShown: true },
    { value: 'false', isShown: true },
  ])('a section of $value is shown: $isShown', ({ value, isShown }) => {
    expect(expanded('{{#x}}shown{{/x}}', { x: value })).toBe(isShown ? 'shown' : '');
  });

  const deep = (count: number): string => `${'{{#x}}'.repeat(count)}${'{{/x}}'.repeat(count)}`;

  test.each<{ text: string; data?: JsonObject; message: string }>([
    { text: 'Hello {{user.name}}', message: 'missing: {{user.name}} (line 1, column 7)' },
    {
      text: '{{a}}\n{{b.c}}',
      data: { b: {} },
      message: 'missing: {{a}} (line 1, column 1), {{b.c}} (line 2, column 1)',
    },
    {
      text: '{{items}}',
      data: { items: [1] },
      message: '{{items}} is a list (line 1, column 1). Use a section {{#items}} to repeat.',
    },
    {
      text: '{{user}}',
      data: { user: {} },
      message: '{{user}} is an object (line 1, column 1). Name a field.',
    },
    {
      text: '{{#xs}}{{.}}{{/xs}}',
      data: { xs: [[1]] },
      message: '{{.}} needs a scalar, got a list (line 1, column 8).',
    },
    { text: 'abc{{x', message: 'unclosed tag at line 1, column 4' },
    { text: '{{#items}}', message: "unclosed section 'items' opened at line 1, column 1" },
    {
      text: '{{#a}}\n{{/b}}',
      message: "mismatched section at line 2, column 1: expected 'a', got 'b'",
    },
    {
      text: '{{/a}}',
      message: "closing tag 'a' without opening section at line 1, column 1",
    },
    { text: '{{ }}', message: 'empty variable name at line 1, column 1' },
    { text: '{{#}}', message: 'empty section name at line 1, column 1' },
    { text: deep(21), message: 'max depth (20) exceeded at line 1, column 121' },
  ])('is refused: $message', ({ text, data, message }) => {
    expect(expanded(text, data)).toBe(`ERROR ${message}`);
  });

  test('twenty sections inside each other are fine', () => {
    expect(expanded(deep(20), { x: 1 })).toBe('');
  });

  test('hidden names are never filled in, however they are reached', () => {
    const data = { _key: 'SECRET', user: { _key: 'SECRET' } };

    expect(expanded('{{_key}}', data)).toBe('ERROR missing: {{_key}} (line 1, column 1)');
    expect(expanded('{{#user}}{{_key}}{{/user}}', data)).toContain('ERROR missing');
    expect(expanded('{{user._key}}{{#_key}}{{.}}{{/_key}}', data)).toContain('ERROR missing');
  });

  test('no template throws, and none shows what is hidden', () => {
    const piece = fc.constantFrom(
      '{{',
      '}}',
      '#',
      '^',
      '/',
      '.',
      '!',
      ' ',
      '\n',
      'a',
      'b',
      '_h',
      'text',
      '{{a}}',
      '{{#a}}',
      '{{/a}}',
      '{{^b}}',
      '{{/b}}',
      '{{.}}',
      '{{_h}}',
      '{{#_h}}',
      '{{/_h}}',
      '{{a._h}}',
    );
    const data = { a: [{ b: 1, _h: 'SECRET' }, 2], b: { _h: 'SECRET' }, _h: 'SECRET' };

    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        expect(expanded(pieces.join(''), data)).not.toContain('SECRET');
      }),
      { numRuns: 1_000 },
    );
  });

  test('its names are known with their tags', () => {
    const reading = parseTemplate('{{a.b}}{{#c}}{{d}}{{^e}}{{.}}{{/e}}{{/c}}');

    expect(reading.kind === 'template' && namesOf(reading.nodes)).toEqual([
      { root: 'a', tag: '{{a.b}}', isSection: false, isOuter: true },
      { root: 'c', tag: '{{#c}}', isSection: true, isOuter: true },
      { root: 'd', tag: '{{d}}', isSection: false, isOuter: false },
      { root: 'e', tag: '{{^e}}', isSection: true, isOuter: false },
    ]);
  });
});
