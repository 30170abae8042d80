import type { Client } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { inLane } from '../../src/client/sending/update-lanes.ts';
import { gate } from '../support/runs.ts';

describe('the updates of a run [R14]', () => {
  it('are in flight ten at a time, in order, and those of other runs beside them', async () => {
    const client = {} as Client;
    const opened = gate();
    const begun: string[] = [];
    const work = (name: string) => async (): Promise<string> => {
      begun.push(name);
      await opened.opened;
      return name;
    };
    const names = Array.from({ length: 25 }, (_, index) => `a${index}`);

    const all = Promise.all([
      ...names.map((name) => inLane(client, { id: 'a', withinMs: 30_000 }, work(name))),
      inLane(client, { id: 'b', withinMs: 30_000 }, work('b')),
    ]);
    await Promise.resolve();

    expect(begun).toEqual([...names.slice(0, 10), 'b']);
    opened.open();
    expect(await all).toEqual([...names, 'b']);
    expect(begun).toEqual([...names.slice(0, 10), 'b', ...names.slice(10)]);
  });

  it('go on after one that failed, which does not count as progress', async () => {
    const client = {} as Client;
    const deadlines: number[] = [];
    const failing = Array.from({ length: 11 }, () =>
      inLane(client, { id: 'a', withinMs: 30_000 }, async (deadline) => {
        deadlines.push(deadline());
        throw new Error('no');
      }),
    );

    const ends = await Promise.allSettled(failing);

    expect(ends.every(({ status }) => status === 'rejected')).toBe(true);
    expect(deadlines).toHaveLength(11);
    expect(Math.max(...deadlines) - Math.min(...deadlines)).toBeLessThan(5_000);
  });
});
