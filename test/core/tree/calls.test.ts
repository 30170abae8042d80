import { describe, expect, it } from 'vitest';
import { callsIn, pathBelow, placeOfItem } from '../../../src/core/tree/calls.ts';

describe('calls in an address', () => {
  it.each([
    { address: 'q1', calls: ['q1'] },
    { address: '1.2', calls: ['1.2'] },
    { address: 'job-1/1.2/3.spawn-1', calls: ['job-1', '1.2', '3.spawn-1'] },
    { address: 'job-1/1.p2/0/1/12.1/q3', calls: ['job-1', '1.p2/0/1', '12.1', 'q3'] },
    { address: '1.1/1.p2/0/1', calls: ['1.1', '1.p2/0/1'] },
  ])('of $address are $calls', ({ address, calls }) => {
    expect(callsIn(address)).toEqual(calls);
  });

  it.each([
    { id: 'q1', place: { calls: [], id: 'q1' } },
    { id: '1.p2/0/1', place: { calls: [], id: '1.p2/0/1' } },
    { id: '1.2/1.p2/0/1', place: { calls: ['1.2'], id: '1.p2/0/1' } },
    { id: '1.p2/0/3.1/pause', place: { calls: ['1.p2/0', '3.1'], id: 'pause' } },
  ])('lead to $id', ({ id, place }) => {
    expect(placeOfItem(id)).toEqual(place);
  });

  it('give the path of a child', () => {
    expect(pathBelow('top', 'job-1/2.p0/1', 'leaf')).toBe('top/2/leaf');
    expect(pathBelow('top/2/leaf', 'job-1/2.p0/1/11.3', 'twig')).toBe('top/2/leaf/11/twig');
  });
});
