import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/core/base/json.ts';
import { toJsonResult } from '../../../src/core/base/json-result.ts';
import {
  capOutput,
  mediaLines,
  resultSection,
  resultText,
} from '../../../src/core/toolchain/result-text.ts';
import { toolchainOf } from '../../../src/core/toolchain/toolchain-of.ts';

const yaml = toolchainOf({ kind: 'yaml', section: 'action' });
const json = toolchainOf({ kind: 'json', section: 'action' });
const native = toolchainOf({ kind: 'native', section: '' });

describe('Result texts [row 21]', () => {
  test.each<{ title: string; output: Json | undefined; yaml: string; json: string }>([
    { title: 'a string, bare', output: '"a": 1\n', yaml: '"a": 1\n', json: '"a": 1\n' },
    { title: 'nothing', output: undefined, yaml: '(no output)', json: '(no output)' },
    { title: 'null', output: null, yaml: 'null', json: 'null' },
    { title: 'a number', output: 1.5, yaml: '1.5', json: '1.5' },
    { title: 'an empty list', output: [], yaml: '[]', json: '[]' },
    {
      title: 'keys in their own order, nested',
      output: { b: [{ y: 1, x: [2] }], a: { c: null } },
      yaml: 'b:\n  - y: 1\n    x:\n      - 2\na:\n  c: null',
      json: '{"b":[{"y":1,"x":[2]}],"a":{"c":null}}',
    },
    {
      title: 'long text, which is not folded',
      output: { a: 'word '.repeat(40) + 'end' },
      yaml: `a: ${'word '.repeat(40)}end`,
      json: `{"a":"${'word '.repeat(40)}end"}`,
    },
    {
      title: 'text of several lines, and text that looks like something else',
      output: { a: 'x\ny', b: 'true', c: '5' },
      yaml: 'a: |-\n  x\n  y\nb: "true"\nc: "5"',
      json: '{"a":"x\\ny","b":"true","c":"5"}',
    },
  ])('$title', ({ output, yaml: yamlText, json: jsonText }) => {
    expect(resultText(output, yaml)).toBe(yamlText);
    expect(resultText(output, json)).toBe(jsonText);
    expect(resultText(output, native)).toBe(jsonText);
  });

  test('one object in two places is written twice', () => {
    const shared = { a: 1 };

    expect(resultText({ x: shared, y: shared }, yaml)).toBe('x:\n  a: 1\ny:\n  a: 1');
  });

  test.each([
    { title: 'fits', output: 'abc', max: 3, capped: { output: 'abc' } },
    {
      title: 'too long',
      output: 'abcd',
      max: 3,
      capped: { output: 'abc\n[cut: 3 of 4 bytes shown]', cut: { shown: 3, total: 4 } },
    },
    {
      title: 'cut inside a code point',
      output: 'a😀b',
      max: 4,
      capped: { output: 'a\n[cut: 1 of 6 bytes shown]', cut: { shown: 1, total: 6 } },
    },
    {
      title: 'a value whose text is too long',
      output: { key: ['value', 'value'] },
      max: 12,
      capped: {
        output: 'key:\n  - val\n[cut: 12 of 24 bytes shown]',
        cut: { shown: 12, total: 24 },
      },
    },
    { title: 'a value that fits', output: { a: 1 }, max: 4, capped: { output: { a: 1 } } },
    { title: 'nothing', output: undefined, max: 0, capped: {} },
  ])('within bounds: $title', ({ output, max, capped }) => {
    expect(capOutput(output, max, yaml)).toEqual(capped);
  });

  test('instructions stand beside the result', () => {
    expect(resultSection('search', 'text', undefined)).toEqual({ name: 'search', content: 'text' });
    expect(resultSection('search', 'text', 'Ask first.')).toEqual({
      name: 'search',
      children: [
        { name: 'result', content: 'text' },
        { name: 'instructions', content: 'Ask first.' },
      ],
    });
  });

  test('media have a line each, numbered over the turn', () => {
    const media = [
      { type: 'media' as const, mediaType: 'image/png', data: '' },
      { type: 'media' as const, mediaType: 'audio/wav', url: 'https://x' },
    ];

    expect(mediaLines(media, 2)).toBe('[media 3: image/png]\n[media 4: audio/wav]');
    expect(mediaLines([], 2)).toBe('');
  });
});

class Point {
  readonly x = 1;
}

class Money {
  toJSON(): object {
    return { cents: 5 };
  }
}

const cycle: { self?: object } = {};
cycle.self = cycle;

describe('Results as JSON [row 21]', () => {
  test.each<{ title: string; from: unknown; value: Json | undefined }>([
    { title: 'nothing', from: undefined, value: undefined },
    { title: 'plain data', from: { a: [1, 'x', true, null] }, value: { a: [1, 'x', true, null] } },
    { title: 'a date', from: { at: new Date(0) }, value: { at: '1970-01-01T00:00:00.000Z' } },
    { title: 'undefined properties', from: { a: undefined, b: [undefined] }, value: { b: [null] } },
    { title: 'toJSON', from: [new Money()], value: [{ cents: 5 }] },
    { title: 'an object without a prototype', from: Object.create(null), value: {} },
    { title: 'minus zero', from: -0, value: 0 },
  ])('$title', ({ from, value }) => {
    expect(toJsonResult(from)).toEqual({ kind: 'json', value });
  });

  test.each<{ from: unknown; path: string; type: string }>([
    { from: new Map(), path: '(value)', type: 'Map' },
    { from: { rows: [{}, { ids: new Set() }] }, path: 'rows[1].ids', type: 'Set' },
    { from: [10n], path: '[0]', type: 'bigint' },
    { from: { f: () => 1 }, path: 'f', type: 'function' },
    { from: { s: Symbol('x') }, path: 's', type: 'symbol' },
    { from: { n: Number.NaN }, path: 'n', type: 'NaN' },
    { from: { n: -Infinity }, path: 'n', type: '-Infinity' },
    { from: { a: [cycle] }, path: 'a[0].self', type: 'a cycle' },
    { from: { p: new Point() }, path: 'p', type: 'Point' },
    { from: { d: new Date(Number.NaN) }, path: 'd', type: 'an invalid date' },
  ])('$path is $type', ({ from, path, type }) => {
    expect(toJsonResult(from)).toEqual({ kind: 'not_json', path, type });
  });
});
