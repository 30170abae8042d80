import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Limits, MachineSnapshot } from '../../src/lisp.ts';
import { endOf, hostileProgram } from './support/hostile-programs.ts';
import { runProgram, type Observed } from './support/host.ts';
import { program } from './support/programs.ts';
import { extent } from '../support/extent.ts';

const RUNS = { numRuns: extent(150) };

const LIMIT_NAMES = [
  'fuel',
  'depth',
  'loopIterations',
  'collection',
  'textUnits',
  'integerBits',
  'toolCalls',
] as const;

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
      { numRuns: extent(60) },
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

  test(
    'M4: any text ends within the limits, in both tiers alike, and nothing throws',
    {
      timeout: 60_000,
    },
    () => {
      fc.assert(
        fc.property(hostileProgram(), (source) => {
          expect(endOf(source, true)).toBe(endOf(source, false));
        }),
        { numRuns: extent(600) },
      );
    },
  );

  test('M5: raising a limit changes nothing for a program that ended within it', () => {
    const low = fc.record({
      fuel: fc.integer({ min: 50, max: 3_000 }),
      depth: fc.integer({ min: 1, max: 30 }),
      loopIterations: fc.integer({ min: 1, max: 4 }),
      collection: fc.integer({ min: 1, max: 20 }),
      textUnits: fc.integer({ min: 1, max: 40 }),
      integerBits: fc.integer({ min: 1, max: 90 }),
      toolCalls: fc.integer({ min: 1, max: 6 }),
    });
    const limits = fc
      .tuple(low, fc.subarray([...LIMIT_NAMES]))
      .map(([values, names]): Partial<Limits> =>
        Object.fromEntries(names.map((name) => [name, values[name]])),
      );
    let ended = 0;
    fc.assert(
      fc.property(program, limits, (source, tight) => {
        const within = runProgram(source, { limits: tight });
        if (/exceeded/.test(within.reason ?? '') || /exceeded/.test(JSON.stringify(within.details)))
          return;
        ended += 1;

        expect(runProgram(source)).toEqual(within);
      }),
      { numRuns: 400 },
    );

    expect(ended).toBeGreaterThan(40);
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

  test('M7: a snapshot is linear in what is reachable, however large it is as a tree', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(), fc.nat()), { minLength: 1, maxLength: 80 }),
        (parts) => {
          // Each value holds two of those before it; as a tree the last has up to 2^80 nodes.
          const bindings = parts.map(
            ([a, b], index) => `v${index + 1} [v${a % (index + 1)} {:k v${b % (index + 1)}}]`,
          );
          const source = `(let [v0 ["x"] ${bindings.join(' ')}] (do (sleep 1) (count v${parts.length})))`;
          const sizes: number[] = [];
          const observed = runProgram(source, {
            data: {},
            snapshots: true,
            onSnapshot: (saved) => sizes.push(JSON.stringify(saved).length),
          });

          expect(observed.outcome).toBe('value 2');
          expect(Math.max(...sizes)).toBeLessThan(1_500 + source.length + 60 * parts.length);
        },
      ),
    );
  });
});
