import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fromJson, printValue, readProgram, toJson } from '../../src/lisp.ts';
import type { Json } from '../../src/lisp/base/json.ts';
import { quotedValue } from '../../src/lisp/analyzer/quote.ts';
import { characterCount, characters } from '../../src/lisp/value/characters.ts';
import { compareKeys, equalValues } from '../../src/lisp/value/order.ts';
import { mapRemove, mapSet, EMPTY_MAP, setOf, treeGet } from '../../src/lisp/value/tree.ts';
import { treeKeys, treeVals } from '../../src/lisp/value/tree-walk.ts';
import { float, integer, keyword, UNMETERED, type Value } from '../../src/lisp/value/value.ts';
import {
  EMPTY_VECTOR,
  vectorAt,
  vectorCount,
  vectorDrop,
  vectorItems,
  vectorOf,
  vectorPop,
  vectorPush,
  vectorSet,
} from '../../src/lisp/value/vector.ts';

const atom: fc.Arbitrary<Value> = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.integer(),
  fc.bigInt().map(integer),
  fc.double({ noNaN: true }).map(float),
  fc.string({ unit: 'grapheme' }),
  fc.stringMatching(/^[a-z][a-z0-9-]{0,6}$/).map(keyword),
);

const { value } = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    atom,
    fc.array(tie('value'), { maxLength: 5 }).map(vectorOf),
    fc.array(fc.tuple(tie('value'), tie('value')), { maxLength: 5 }).map((pairs) => {
      let map = EMPTY_MAP;
      for (const [key, val] of pairs) map = mapSet(map, key, val, UNMETERED);
      return map;
    }),
    fc.array(tie('value'), { maxLength: 5 }).map((items) => setOf(items, UNMETERED)),
  ),
}));

describe('values', () => {
  test('what is printed readably reads back to an equal value', () => {
    fc.assert(
      fc.property(value, (given) => {
        const read = readProgram(printValue(given, 'readable'));
        if (!read.ok) throw new Error(read.problem.message);
        const [form] = read.program.forms;

        expect(form === undefined ? null : compareKeys(quotedValue(form), given, UNMETERED)).toBe(
          0,
        );
      }),
      { numRuns: 500 },
    );
  });

  test('keys have one total order, and equal keys are equal values', () => {
    fc.assert(
      fc.property(value, value, value, (a, b, c) => {
        const order = compareKeys(a, b, UNMETERED);

        expect(compareKeys(b, a, UNMETERED) + order).toBe(0);
        if (order === 0) expect(equalValues(a, b, UNMETERED)).toBe(true);
        if (order <= 0 && compareKeys(b, c, UNMETERED) <= 0) {
          expect(compareKeys(a, c, UNMETERED)).toBeLessThanOrEqual(0);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('a vector is what an array is', () => {
    const change = fc.tuple(fc.constantFrom('push', 'pop', 'set', 'drop'), fc.nat(2_000));
    fc.assert(
      fc.property(fc.nat(1_200), fc.array(change, { maxLength: 80 }), (size, changes) => {
        let model: Value[] = Array.from({ length: size }, (_, index) => index);
        let vector = vectorOf([...model]);
        for (const [kind, amount] of changes) {
          if (kind === 'push') {
            vector = vectorPush(vector, amount);
            model = [...model, amount];
          } else if (kind === 'pop') {
            vector = vectorPop(vector);
            model = model.slice(0, -1);
          } else if (kind === 'set' && model.length > 0) {
            vector = vectorSet(vector, amount % model.length, 'x');
            model = model.with(amount % model.length, 'x');
          } else if (kind === 'drop') {
            vector = vectorDrop(vector, amount % 40);
            model = model.slice(amount % 40);
          }
        }

        expect(vectorCount(vector)).toBe(model.length);
        expect([...vectorItems(vector)]).toEqual(model);
        if (model.length > 0)
          expect(vectorAt(vector, model.length - 1)).toBe(model[model.length - 1]);
      }),
    );
  });

  test('pushing one at a time crosses every level of the trie', () => {
    let vector = EMPTY_VECTOR;
    for (let index = 0; index < 34_000; index++) vector = vectorPush(vector, index);
    for (let index = 0; index < 33_000; index++) vector = vectorPop(vector);

    expect(vectorItems(vector)).toEqual(Array.from({ length: 1_000 }, (_, index) => index));
  });

  test('a map is what a Map is, sorted', () => {
    const change = fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 120 }), fc.nat());
    fc.assert(
      fc.property(fc.array(change, { maxLength: 400 }), (changes) => {
        const model = new Map<number, number>();
        let map = EMPTY_MAP;
        for (const [add, key, val] of changes) {
          if (add) {
            model.set(key, val);
            map = mapSet(map, key, val, UNMETERED);
          } else {
            model.delete(key);
            map = mapRemove(map, key, UNMETERED);
          }
        }
        const sorted = [...model].toSorted((a, b) => a[0] - b[0]);

        expect(map.count).toBe(model.size);
        expect([...treeKeys(map)]).toEqual(sorted.map(([key]) => key));
        expect([...treeVals(map)]).toEqual(sorted.map(([, val]) => val));
        for (const [key, val] of sorted) expect(treeGet(map, key, UNMETERED)).toBe(val);
      }),
    );
  });

  test('the characters of a text are the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const parts = characters(text);

        expect(parts.join('')).toBe(text);
        expect(characterCount(text)).toBe(parts.length);
      }),
      { numRuns: 500 },
    );
  });

  test('JSON comes back from a round through values', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'grapheme' }), (json) => {
        const plain = JSON.parse(JSON.stringify(json)) as Json;
        const back = toJson(fromJson(plain));

        expect(back.ok && JSON.stringify(back.json).length).toBe(JSON.stringify(plain).length);
        expect(back.ok && JSON.parse(JSON.stringify(back.json))).toEqual(plain);
      }),
    );
  });
});
