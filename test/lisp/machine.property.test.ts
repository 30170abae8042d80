import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { MachineSnapshot } from '../../src/lisp.ts';
import { runProgram, type Observed } from './support/host.ts';
import { program } from './support/programs.ts';

const RUNS = { numRuns: 150 };

/** What must be the same under every order of results: not the fuel of abandoned branches. */
function answer({ outcome, reason, notes, requests, memory }: Observed): unknown {
  return JSON.parse(JSON.stringify({ outcome, reason, notes, requests, memory }));
}

describe('the laws of the machine', () => {
  test('M1: the same program gives the same requests, value, notes, fuel and snapshots', () => {
    fc.assert(
      fc.property(program, (source) => {
        const saved: string[][] = [[], []];
        const [a, b] = saved.map((list) =>
          runProgram(source, {
            snapshots: true,
            onSnapshot: (one) => list.push(JSON.stringify(one)),
          }),
        );

        expect(a).toEqual(b);
        expect(saved[0]).toEqual(saved[1]);
      }),
      { numRuns: 60 },
    );
  });

  test('M2: a snapshot at every block changes nothing', () => {
    fc.assert(
      fc.property(program, (source) => {
        expect(runProgram(source, { snapshots: true })).toEqual(runProgram(source));
      }),
      RUNS,
    );
  });

  test('M2: running all code on the machine changes nothing, fuel included', () => {
    fc.assert(
      fc.property(program, (source) => {
        expect(runProgram(source, { forced: true })).toEqual(runProgram(source));
      }),
      { numRuns: 400 },
    );
  });

  test('M3: every order and grouping of results gives the same answer', () => {
    fc.assert(
      fc.property(program, fc.infiniteStream(fc.nat(1_000)), (source, choices) => {
        const straight = runProgram(source);
        const shuffled = runProgram(source, {
          choose: (open) => {
            const { value } = choices.next();
            const first = (value as number) % Math.max(1, open.length);
            return (value as number) % 3 === 0 ? open.slice(first) : open.slice(first, first + 1);
          },
        });

        if (straight.outcome !== 'error') expect(answer(shuffled)).toEqual(answer(straight));
        else expect(shuffled.outcome).toBe('error');
      }),
      RUNS,
    );
  });

  test('M5: raising a limit changes nothing for a program that ended within it', () => {
    fc.assert(
      fc.property(program, (source) => {
        const limits = { fuel: 2_000, depth: 30, loopIterations: 3, collection: 50 };
        const tight = runProgram(source, { limits });
        const stopped = /exceeded/.test(tight.reason ?? '');
        const wide = runProgram(source);

        if (!stopped) expect({ ...wide, fuel: 0 }).toEqual({ ...tight, fuel: 0 });
        else expect(tight.fuel).toBeLessThanOrEqual(2_000);
      }),
      RUNS,
    );
  });

  test('M5: both tiers run out at the same step', () => {
    fc.assert(
      fc.property(program, fc.integer({ min: 10, max: 600 }), (source, fuel) => {
        const limits = { fuel };

        expect(runProgram(source, { limits, forced: true })).toEqual(
          runProgram(source, { limits }),
        );
      }),
      RUNS,
    );
  });

  test('M7: a snapshot in the middle of a map is at most three times the data', () => {
    const rows = Array.from({ length: 1_000 }, (_, id) => ({
      id,
      name: `person number ${id}`,
      email: `person${id}@example.org`,
      tags: ['a', 'b'],
      score: id * 7,
    }));
    let largest = 0;
    const observed = runProgram(
      '(count (map (fn [r] (if (not= 0 (mod (:id r) 250)) (:id r) (:got (tool/get {:id (:id r)})))) data/rows))',
      {
        data: { rows },
        snapshots: true,
        onSnapshot: (saved: MachineSnapshot) => {
          largest = Math.max(largest, JSON.stringify(saved).length);
        },
      },
    );

    expect(observed.outcome).toBe('value 1000');
    expect(largest / JSON.stringify(rows).length).toBeLessThanOrEqual(3);
  });
});
