import { describe, expect, it } from 'vitest';
import { toJsonResult } from '../../../src/core/base/json-result.ts';

/** Each level holds the one below it twice: a million million values in forty objects. */
function doubled(levels: number): object {
  let value: object = {};
  for (let level = 0; level < levels; level++) value = { a: value, b: value };
  return value;
}

describe('a result', () => {
  it.each([
    ['a list of holes', () => ({ rows: Object.assign([], { length: 1_000_000_000 }) })],
    ['a list with one far item', () => ({ rows: Object.assign([], { 900_000_000: 'x' }) })],
    ['objects that stand in each other', () => ({ rows: doubled(40) })],
  ])(
    'may not hold the process: %s',
    (_name, make) => {
      expect(toJsonResult(make())).toMatchObject({
        kind: 'not_json',
        path: expect.stringMatching(/^rows/) as string,
        type: 'beyond 2500000 values',
      });
    },
    30_000,
  );

  it('may have a few holes, and an object twice', () => {
    const twice = { a: 1 };
    const rows = Object.assign([], { 0: twice, 2: twice });
    expect(toJsonResult({ rows })).toEqual({
      kind: 'json',
      value: { rows: [twice, null, twice] },
    });
  });
});
