import { describe, expect, it } from 'vitest';
import { runInNewContext } from 'node:vm';
import {
  byteSize,
  canonicalJson,
  isJsonObject,
  isPlainObject,
  utf8Length,
  type Json,
} from '../../../src/core/base/json.ts';

class Point {
  readonly x = 1;
}

describe('isPlainObject', () => {
  it.each<{ name: string; value: unknown; is: boolean }>([
    { name: 'an object', value: {}, is: true },
    { name: 'an object without a prototype', value: Object.create(null), is: true },
    { name: 'an object of another realm', value: runInNewContext('({ a: 1 })'), is: true },
    { name: 'null', value: null, is: false },
    { name: 'a list', value: [], is: false },
    { name: 'a map', value: new Map(), is: false },
    { name: 'a date', value: new Date(0), is: false },
    { name: 'an instance', value: new Point(), is: false },
    { name: 'text', value: 'a', is: false },
  ])('says $is of $name', ({ value, is }) => {
    expect(isPlainObject(value)).toBe(is);
  });
});

describe('isJsonObject', () => {
  it.each<[Json | undefined, boolean]>([
    [{}, true],
    [[], false],
    [null, false],
    ['a', false],
    [undefined, false],
  ])('of %j is %s', (value, is) => {
    expect(isJsonObject(value)).toBe(is);
  });
});

describe('canonicalJson', () => {
  it.each<{ name: string; value: Json; text: string }>([
    {
      name: 'sorts keys at every depth',
      value: { b: 1, a: { d: 2, c: [3] } },
      text: '{"a":{"c":[3],"d":2},"b":1}',
    },
    { name: 'keeps the order of lists', value: [2, 1], text: '[2,1]' },
    { name: 'sorts by code unit', value: { é: 1, z: 2, Z: 3 }, text: '{"Z":3,"z":2,"é":1}' },
    {
      name: 'writes scalars as JSON',
      value: [null, true, 1.5, 'a"b'],
      text: '[null,true,1.5,"a\\"b"]',
    },
    { name: 'writes empty ones', value: [{}, []], text: '[{},[]]' },
    {
      name: 'keeps keys that look like code',
      value: JSON.parse('{"__proto__":1}') as Json,
      text: '{"__proto__":1}',
    },
  ])('$name', ({ value, text }) => {
    expect(canonicalJson(value)).toBe(text);
  });
});

describe('sizes', () => {
  it.each([
    ['', 0],
    ['abc', 3],
    ['é', 2],
    ['€', 3],
    ['😀', 4],
    ['\ud800', 3],
    ['\ud800a', 4],
  ])('utf8Length(%j) is %i', (text, bytes) => {
    expect(utf8Length(text)).toBe(bytes);
    expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length);
  });

  it('byteSize is that of the compact JSON', () => {
    expect(byteSize({ a: ['é', 1] })).toBe(14);
  });
});
