import { describe, expect, it } from 'vitest';
import { slideWindow } from '../../../src/core/compaction/plan.ts';
import { importanceOf, isPinned, type Entry } from '../../../src/core/contract/entry.ts';
import { entriesOf, entryOf, importantEntry, indexesOf } from './entries.ts';

const pinned = (index: number): Entry => importantEntry(index, 10);

describe('the sliding window', () => {
  it.each<{
    name: string;
    entries: readonly Entry[];
    keep: number;
    kept: readonly number[] | null;
  }>([
    { name: 'nothing at all', entries: [], keep: 3, kept: null },
    { name: 'n entries', entries: entriesOf(3), keep: 3, kept: null },
    { name: 'n + 1 entries', entries: entriesOf(4), keep: 3, kept: [1, 2, 3] },
    { name: 'a window of one', entries: entriesOf(4), keep: 1, kept: [3] },
    {
      name: 'n unpinned entries beside pinned ones',
      entries: [pinned(0), entryOf(1), pinned(2), entryOf(3)],
      keep: 2,
      kept: null,
    },
    {
      name: 'pinned entries, old and new, in their order',
      entries: [pinned(0), entryOf(1), entryOf(2), pinned(3), entryOf(4)],
      keep: 1,
      kept: [0, 3, 4],
    },
    {
      name: 'pinned entries alone',
      entries: [pinned(0), pinned(1), pinned(2)],
      keep: 1,
      kept: null,
    },
  ])('[row 50] $name', ({ entries, keep, kept }) => {
    expect(indexesOf(slideWindow(entries, keep))).toEqual(kept);
  });
});

describe('an entry', () => {
  it.each([
    { name: 'without metadata', entry: entryOf(0), importance: undefined, pin: false },
    {
      name: 'with other metadata',
      entry: entryOf(0, { metadata: { other: 10 } }),
      importance: undefined,
      pin: false,
    },
    {
      name: 'with a text for a score',
      entry: importantEntry(0, '10'),
      importance: undefined,
      pin: false,
    },
    { name: 'of importance 9.9', entry: importantEntry(0, 9.9), importance: 9.9, pin: false },
    { name: 'of importance 10', entry: importantEntry(0, 10), importance: 10, pin: true },
    { name: 'of importance -10', entry: importantEntry(0, -10), importance: -10, pin: false },
  ])('[row 50] $name is pinned: $pin', ({ entry, importance, pin }) => {
    expect([importanceOf(entry), isPinned(entry)]).toEqual([importance, pin]);
  });
});
