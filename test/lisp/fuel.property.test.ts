import { describe, expect, test } from 'vitest';
import { extent, extentOf } from '../support/extent.ts';
import { allBuiltins } from './support/builtins.ts';
import { evaluate } from './support/evaluate.ts';

/** Elements of the small and of the large collection. */
const SMALL = 100;
const LARGE = 1_000;
const GROWTH = LARGE / SMALL;

const LIMITS = { fuel: 2_000_000 };

/** Arguments to try a builtin with, over a collection of `n` elements. */
function callsOf(name: string, n: number): readonly string[] {
  const items = `(range ${n})`;
  const map = `(zipmap (range ${n}) (range ${n}))`;
  const text = `(apply str (repeat ${n * 16} "a"))`;
  return [
    `(${name} ${items})`,
    `(${name} ${text})`,
    `(${name} ${map})`,
    `(${name} identity ${items})`,
    `(${name} + 0 ${items})`,
    `(${name} ${items} 1)`,
    `(${name} 1 ${items})`,
    `(${name} ${items} ${items})`,
    `(${name} ${map} 1)`,
    `(${name} ${map} 1 2)`,
    `(${name} ${map} ${map})`,
    `(${name} #{1} ${items})`,
    `(${name} ${text} "b")`,
    `(${name} "b" ${text})`,
    `(${name} ${text} "b" "c")`,
    `(${name} #"b" ${text})`,
  ];
}

/** The fuel of `call` alone: without that of making its arguments. */
function fuelOf(name: string, call: string): number | null {
  const whole = evaluate(call, { limits: LIMITS });
  const args = fuelOfArguments(call.replace(`(${name} `, '(list '));
  return whole.kind !== 'value' || args === null ? null : whole.fuel - args;
}

/** Every builtin is tried with the same arguments. */
const argumentFuel = new Map<string, number | null>();

function fuelOfArguments(listed: string): number | null {
  const known = argumentFuel.get(listed);
  if (known !== undefined) return known;
  const result = evaluate(listed, { limits: LIMITS });
  const fuel = result.kind === 'value' ? result.fuel : null;
  argumentFuel.set(listed, fuel);
  return fuel;
}

/** How often the fuel for the large collection is that for the small one. */
interface Growth {
  readonly call: string;
  readonly ratio: number;
}

const growths = new Map<string, readonly Growth[]>();

/** The growth of each call that works. */
function growthOf(name: string): readonly Growth[] {
  const known = growths.get(name) ?? measuredGrowthOf(name);
  growths.set(name, known);
  return known;
}

function measuredGrowthOf(name: string): readonly Growth[] {
  const large = callsOf(name, LARGE);
  return callsOf(name, SMALL).flatMap((call, index) => {
    const small = fuelOf(name, call);
    const grown = small === null ? null : fuelOf(name, large[index] ?? '');
    if (small === null || grown === null) return [];
    return [{ call, ratio: Math.max(grown, 1) / Math.max(small, 1) }];
  });
}

/** These make, compare or select as many things as there are; their cost is in their meaning. */
const MEASURED = allBuiltins().filter(
  ({ name, cost }) =>
    cost !== 'effect' && !/^(\.|[A-Z]|java)/.test(name) && name !== 'combinations',
);

describe('the fuel of a builtin on n elements', () => {
  test('never grows faster than its class says', { timeout: 120_000 }, () => {
    const wrong: string[] = [];
    let measured = 0;
    // Sorting, and maps and sets with composite keys, take n log n; nothing takes n squared.
    const most = GROWTH * 1.6;
    for (const { name, cost } of extentOf(MEASURED, 3)) {
      for (const { call, ratio } of growthOf(name)) {
        measured += 1;
        if (ratio > most) wrong.push(`${call}: ${ratio.toFixed(1)} times, class ${cost}`);
      }
    }

    expect(wrong).toEqual([]);
    expect(measured).toBeGreaterThan(extent(400, 100));
  });

  test.each([
    'get',
    'nth',
    'first',
    'second',
    'last',
    'peek',
    'pop',
    'conj',
    'assoc',
    'dissoc',
    'disj',
    'count',
    'empty?',
  ])('of %s does not grow on vectors, maps and sets', { timeout: 60_000 }, (name) => {
    const onCollections = growthOf(name).filter(
      ({ call }) => !call.includes('"a"') && !call.includes('(range 100) (range 100)'),
    );

    expect(onCollections.filter(({ ratio }) => ratio > 1.5)).toEqual([]);
  });

  test.each(['map', 'filter', 'reverse', 'frequencies', 'str', 'set', 'into', 'join', 'distinct'])(
    'of %s grows with n',
    { timeout: 60_000 },
    (name) => {
      expect(Math.max(...growthOf(name).map(({ ratio }) => ratio))).toBeGreaterThan(GROWTH / 2);
    },
  );
});

describe('long texts', () => {
  // Two texts of the same content, or that differ at their end, made apart from each other.
  const compared = [
    '(= a b)',
    '(= [a] [b])',
    '(get {a 1} b)',
    '(get {a 1} c)',
    '(contains? #{a 1 2 3 4 5 6 7 8 9} c)',
    '(distinct [a c])',
    '(group-by identity [a b c])',
    '(compare a c)',
  ];
  const fuelAt = (units: number, expression: string): number => {
    const text = `(apply str (repeat ${units} "a"))`;
    const names = `(let [a (str ${text} "x") b (str ${text} "x") c (str ${text} "y")]`;
    const whole = evaluate(`${names} ${expression})`, { limits: LIMITS });
    const base = evaluate(`${names} [a b c])`, { limits: LIMITS });
    if (whole.kind !== 'value' || base.kind !== 'value') throw new Error(expression);
    return whole.fuel - base.fuel;
  };

  test.each(compared)('are paid by their length in %s', (expression) => {
    expect(fuelAt(16_000, expression) - fuelAt(160, expression)).toBeGreaterThanOrEqual(990);
  });
});
