import { describe, expect, it, test } from 'vitest';
import fc from 'fast-check';
import {
  childrenNeeded,
  inputOfItem,
  levelsOf,
  partsOf,
  withItems,
} from '../../../src/core/start/fan-out-plan.ts';
import type { SpawnInput } from '../../../src/core/children/spawn.ts';
import type { Json, JsonObject } from '../../../src/core/base/json.ts';
import type { Task } from '../../../src/core/base/message.ts';

/** Runs of a fan-out over `count` items, by the same steps as its runs take. */
function runsBelow(count: number, batch: number): number {
  if (count <= batch) return count;
  const parts = partsOf(Array.from({ length: count }), batch);
  return parts.reduce((sum, part) => sum + 1 + runsBelow(part.length, batch), 0);
}

describe('the parts of a list', () => {
  const sizes = fc.record({
    count: fc.integer({ min: 3, max: 5_000 }),
    batch: fc.integer({ min: 2, max: 200 }),
  });

  it('are the list, even, each shorter than it, and no more than a run may have', () => {
    fc.assert(
      fc.property(sizes, ({ count, batch }) => {
        fc.pre(count > batch);
        const items = Array.from({ length: count }, (_, index) => index);

        const parts = partsOf(items, batch);

        expect(parts.flat()).toEqual(items);
        const lengths = parts.map((part) => part.length);
        expect(Math.max(...lengths) - Math.min(...lengths)).toBeLessThanOrEqual(1);
        expect(Math.max(...lengths)).toBeLessThan(count);
        expect(parts.length).toBeLessThanOrEqual(batch);
      }),
    );
  });

  it('need room for all runs, and for a share of each run that gives shares away', () => {
    fc.assert(
      fc.property(sizes, ({ count, batch }) => {
        expect(childrenNeeded(count, batch)).toBeGreaterThanOrEqual(runsBelow(count, batch));
      }),
    );
  });

  test.each([
    { count: 0, batch: 30, levels: 1, parts: [], needed: 0 },
    { count: 30, batch: 30, levels: 1, parts: [30], needed: 30 },
    { count: 31, batch: 30, levels: 2, parts: [15, 16], needed: 2 + 3 * 16 },
    { count: 300, batch: 30, levels: 2, parts: Array<number>(10).fill(30), needed: 10 + 11 * 30 },
    { count: 900, batch: 30, levels: 2, parts: Array<number>(30).fill(30), needed: 30 + 31 * 30 },
    // More than 30 of 30: each part is a fan-out of two more.
    { count: 1_000, batch: 30, levels: 3, parts: undefined, needed: 30 + 31 * (2 + 3 * 17) },
    { count: 3, batch: 2, levels: 2, parts: [1, 2], needed: 2 + 3 * 2 },
  ])('of $count items, $batch to a run', ({ count, batch, levels, parts, needed }) => {
    const items = Array.from({ length: count });
    if (parts !== undefined) expect(partsOf(items, batch).map((it) => it.length)).toEqual(parts);
    expect([levelsOf(count, batch), childrenNeeded(count, batch)]).toEqual([levels, needed]);
  });
});

describe('what the run of an item is started with', () => {
  const media = [{ type: 'media', mediaType: 'image/png', url: 'https://x/y.png' }] as const;

  test.each<{ name: string; item: Json; shared?: Task; input: SpawnInput }>([
    { name: 'text is its task', item: 'a', input: { task: { text: 'a' } } },
    {
      name: 'text behind the task of the fan-out',
      item: 'a',
      shared: { text: 'Sum up:', media },
      input: { task: { text: 'Sum up:\n\na', media } },
    },
    {
      name: 'an object is its context',
      item: { page: 3 },
      shared: { text: 'Sum up:' },
      input: { task: { text: 'Sum up:' }, context: { page: 3 } },
    },
    {
      name: 'an object with a task',
      item: { page: 3, task: 'Read' },
      input: { task: { text: 'Read' }, context: { page: 3 } },
    },
    {
      name: 'a task that is no text',
      item: { task: 7 },
      input: { task: { text: '' }, context: { task: 7 } },
    },
    { name: 'a number', item: 7, input: { task: { text: '' }, context: { input: 7 } } },
    { name: 'a list', item: [1], input: { task: { text: '' }, context: { input: [1] } } },
    { name: 'null', item: null, input: { task: { text: '' }, context: { input: null } } },
  ])('$name', ({ item, shared = { text: '' }, input }) => {
    expect(inputOfItem(item, shared)).toEqual(input);
  });
});

test.each<{ name: string; context: JsonObject | undefined; named: JsonObject | undefined }>([
  { name: 'none', context: undefined, named: undefined },
  { name: 'items', context: { items: [1], k: 2 }, named: { items: [1], k: 2 } },
  { name: 'a list of a stage', context: { input: [1] }, named: { items: [1] } },
  { name: 'both', context: { items: [1], input: [2] }, named: { items: [1], input: [2] } },
  { name: 'a text of a stage', context: { input: 'x' }, named: { input: 'x' } },
])('a context with $name is named', ({ context, named }) => {
  expect(withItems(context)).toEqual(named);
});
