import { describe, expect, test } from 'vitest';
import { editDistance } from '../../../src/lisp/base/suggest.ts';
import { nearestName } from '../../../src/core/text/nearest.ts';

describe('Near names [row 16]', () => {
  test.each([
    { from: '', to: 'abc', distance: 3 },
    { from: 'kitten', to: 'sitting', distance: 3 },
    { from: 'name', to: 'nmae', distance: 1 },
    { from: 'same', to: 'same', distance: 0 },
  ])('$from is $distance from $to', ({ from, to, distance }) => {
    expect(editDistance(from, to)).toBe(distance);
    expect(editDistance(to, from)).toBe(distance);
  });

  test.each([
    { name: 'serch', candidates: ['book', 'search', 'reach'], nearest: 'search' },
    { name: 'ab', candidates: ['abc', 'ba'], nearest: 'abc' },
    { name: 'cat', candidates: ['bat', 'hat'], nearest: 'bat' },
    { name: 'search', candidates: ['find', 'sea'], nearest: undefined },
    { name: 'x', candidates: ['y'], nearest: undefined },
    { name: '', candidates: ['a'], nearest: undefined },
    { name: 'x'.repeat(1_000_000), candidates: ['y'], nearest: undefined },
  ])('of $candidates', ({ name, candidates, nearest }) => {
    expect(nearestName(name, candidates)).toBe(nearest);
  });
});
