import { describe, expect, expectTypeOf, it } from 'vitest';
import { defined } from '../../../src/core/base/defined.ts';

describe('defined', () => {
  it('drops fields that are undefined and keeps all others in their order', () => {
    const some: string | undefined = undefined;
    const result = defined({ a: 1, b: some, c: null, d: false, e: '' });

    expect(Object.entries(result)).toEqual([
      ['a', 1],
      ['c', null],
      ['d', false],
      ['e', ''],
    ]);
  });

  it('makes a field optional in its type', () => {
    const maybe = (): string | undefined => undefined;

    expectTypeOf(defined({ a: 1, b: maybe() })).toExtend<{ a: number; b?: string }>();
  });
});
