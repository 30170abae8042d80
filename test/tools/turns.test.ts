import { describe, expect, test } from 'vitest';
import { createTurns } from '../../src/tools/regex-engine.ts';
import { gate } from '../support/runs.ts';

describe('createTurns', () => {
  test('runs so many at once, the others in the order in which they came', async () => {
    const turns = createTurns(2);
    const gates = [gate(), gate(), gate(), gate()];
    const begun: number[] = [];
    const { signal } = new AbortController();
    const all = gates.map(({ opened }, index) =>
      turns.take(signal, async () => {
        begun.push(index);
        await opened;
        return index;
      }),
    );
    await Promise.resolve();
    const atFirst = [...begun];

    gates[1]?.open();
    await all[1];
    const afterOne = [...begun];
    for (const each of gates) each.open();

    expect(await Promise.all(all)).toEqual([0, 1, 2, 3]);
    expect({ atFirst, afterOne, begun }).toEqual({
      atFirst: [0, 1],
      afterOne: [0, 1, 2],
      begun: [0, 1, 2, 3],
    });
  });

  test('gives the turn of work that failed, or that was stopped before it, to the next', async () => {
    const turns = createTurns(1);
    const first = gate();
    const stop = new AbortController();
    const { signal } = new AbortController();
    const failing = turns.take(signal, async () => {
      await first.opened;
      throw new Error('no');
    });
    const stopped = turns.take(stop.signal, async () => 'never');
    const late = turns.take(AbortSignal.abort(), async () => 'never');
    const last = turns.take(signal, async () => 'done');

    stop.abort();
    first.open();

    await expect(failing).rejects.toThrow('no');
    await expect(stopped).rejects.toThrow('It was stopped before its turn.');
    await expect(late).rejects.toThrow('It was stopped before its turn.');
    expect(await last).toBe('done');
  });
});
