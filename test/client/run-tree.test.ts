import { describe, expect, it } from 'vitest';
import { addressBelow, mergeEvents, withAllBelow } from '../../src/client/run-tree.ts';
import type { AgentEvent } from '../../src/core/contract/events.ts';
import { UsageError } from '../../src/core/base/usage-error.ts';
import { treeRun } from '../support/tree-runs.ts';

const TREE = [
  treeRun('r', { path: 'top', children: ['r/1.1', 'r/1.2', 'r/2.1'] }),
  treeRun('r/1.1', { path: 'top/1/middle', parent: 'r', depth: 1 }),
  treeRun('r/1.2', { path: 'top/1/middle', parent: 'r', depth: 1 }),
  treeRun('r/2.1', { path: 'top/2/leaf', parent: 'r', depth: 1 }),
];

describe('a path', () => {
  it.each([
    { path: 'r', address: 'r', asks: 0 },
    { path: '1.2', address: 'r/1.2', asks: 0 },
    { path: '1.2/3.spawn-1', address: 'r/1.2/3.spawn-1', asks: 0 },
    { path: '1.p2/0/1/3.1', address: 'r/1.p2/0/1/3.1', asks: 0 },
    { path: 'r/1.2', address: 'r/1.2', asks: 0 },
    { path: 'top', address: 'r', asks: 1 },
    { path: 'top/2/leaf', address: 'r/2.1', asks: 1 },
  ])('$path leads to $address', async ({ path, address, asks }) => {
    let asked = 0;
    const tree = async () => (asked++, TREE);

    expect(await addressBelow('r', path, tree)).toBe(address);
    expect(asked).toBe(asks);
  });

  it.each([
    {
      path: 'top/1/middle',
      message:
        'Expected the path of one run below `r`, got `top/1/middle`, which 2 runs have. Name one by its calls: 1.1, 1.2.',
    },
    {
      path: 'top/3/leaf',
      message:
        'Expected the path of one run below `r`, got `top/3/leaf`, which no run has. Look at the tree for the paths that there are.',
    },
  ])('$path is refused', async ({ path, message }) => {
    await expect(addressBelow('r', path, async () => TREE)).rejects.toMatchObject({
      code: 'no_such_path',
      message,
    });
  });
});

describe('work on a tree', () => {
  it('is done to each run below once, to those that begin meanwhile too', async () => {
    const looks = [TREE.slice(0, 2), TREE, TREE];
    const done: string[] = [];

    await withAllBelow(
      'r',
      async () => looks.shift() ?? [],
      async (id) => done.push(id),
    );

    expect(done).toEqual(['r/1.1', 'r/1.2', 'r/2.1']);
    expect(looks).toEqual([]);
  });

  it('passes over runs that have ended, and fails when all others were told', async () => {
    const ended = treeRun('r/1.1', { state: 'ended' });
    const told: string[] = [];

    const work = withAllBelow(
      'r',
      async () => [ended, ...TREE.slice(2)],
      async (id) => {
        told.push(id);
        throw new UsageError(id === 'r/1.2' ? 'no_worker' : 'run_ended', id);
      },
    );

    await expect(work).rejects.toMatchObject({ code: 'no_worker', message: 'r/1.2' });
    expect(told).toEqual(['r/1.2', 'r/2.1']);
  });
});

it('merges events by time, those of one run in their order', () => {
  const event = (runId: string, seq: number, at: number): AgentEvent =>
    ({ runId, seq, at }) as AgentEvent;

  const merged = mergeEvents([
    [event('a', 1, 10), event('a', 2, 10), event('a', 3, 30)],
    [event('b', 1, 10), event('b', 2, 20)],
  ]);

  expect(merged.map(({ runId, seq }) => `${runId}${seq}`)).toEqual(['a1', 'a2', 'b1', 'b2', 'a3']);
});
