import { describe, expect, it } from 'vitest';
import { collect, fitsFilter } from '../../../src/core/streaming/chunk.ts';
import { chunk, marker } from '../../support/chunks.ts';

const second = { iteration: 2 };
const retry = { attempt: 2 };

describe('collect [row 54]', () => {
  it.each([
    { name: 'is empty and incomplete for nothing', items: [], expected: ['', '', false] },
    {
      name: 'joins text and reasoning of a whole reply',
      items: [
        chunk(0, 'so', { kind: 'reasoning' }),
        chunk(1, 'He'),
        chunk(2, '{"a":', { kind: 'tool_args' }),
        chunk(3, 'llo'),
        marker(4, 'end'),
      ],
      expected: ['Hello', 'so', true],
    },
    {
      name: 'is incomplete before the end',
      items: [chunk(0, 'He')],
      expected: ['He', '', false],
    },
    {
      name: 'is incomplete after an error',
      items: [chunk(0, 'He'), marker(1, 'error')],
      expected: ['He', '', false],
    },
    {
      name: 'drops what a restart makes void, and only that',
      items: [
        chunk(0, 'first '),
        marker(1, 'end'),
        chunk(0, 'wro', second),
        marker(0, 'restart', { ...second, ...retry }),
        chunk(1, 'right', { ...second, ...retry }),
        marker(2, 'end', { ...second, ...retry }),
      ],
      expected: ['first right', '', true],
    },
    {
      name: 'drops a lower attempt that comes late',
      items: [
        marker(0, 'restart', retry),
        chunk(1, 'right', retry),
        chunk(3, 'late'),
        marker(2, 'end', retry),
      ],
      expected: ['right', '', true],
    },
    {
      name: 'takes a higher attempt as a restart when the marker was lost',
      items: [chunk(0, 'wrong'), chunk(1, 'right', retry), marker(2, 'end', retry)],
      expected: ['right', '', true],
    },
    {
      name: 'leaves out duplicates, a repeated restart included',
      items: [
        marker(0, 'restart', retry),
        chunk(1, 'a', retry),
        marker(0, 'restart', retry),
        chunk(1, 'a', retry),
        chunk(2, 'b', retry),
        marker(3, 'end', retry),
      ],
      expected: ['ab', '', true],
    },
    {
      name: 'is incomplete when a piece is missing',
      items: [chunk(0, 'a'), chunk(2, 'c'), marker(3, 'end')],
      expected: ['ac', '', false],
    },
    {
      name: 'is incomplete for a reader that came late',
      items: [chunk(2, 'llo'), marker(3, 'end')],
      expected: ['llo', '', false],
    },
    {
      name: 'is incomplete for one that came in a later attempt',
      items: [chunk(3, 'llo', retry), marker(4, 'end', retry)],
      expected: ['llo', '', false],
    },
    {
      name: 'is incomplete after a gap',
      items: [marker(0, 'gap'), chunk(5, 'c'), marker(6, 'end')],
      expected: ['c', '', false],
    },
    {
      name: 'keeps runs apart',
      items: [
        chunk(0, 'a'),
        chunk(0, 'b', { runId: 'child' }),
        marker(1, 'end'),
        marker(1, 'end', { runId: 'child' }),
      ],
      expected: ['ab', '', true],
    },
  ])('$name', ({ items, expected }) => {
    const { text, reasoning, complete } = collect(items);

    expect([text, reasoning, complete]).toEqual(expected);
  });
});

describe('fitsFilter', () => {
  const origin = chunk(0, '', { runId: 'child', rootRunId: 'root' });

  it.each([
    { filter: {}, fits: true },
    { filter: { runId: 'child' }, fits: true },
    { filter: { rootRunId: 'root' }, fits: true },
    { filter: { runId: 'root' }, fits: false },
    { filter: { runId: 'child', rootRunId: 'other' }, fits: false },
  ])('says $fits for $filter', ({ filter, fits }) => {
    expect(fitsFilter(filter, origin)).toBe(fits);
  });
});
