/**
 * What fuel buys at worst: every builtin and form on 50,000 elements, in processor seconds and in
 * megabytes per 1,000,000 units of fuel.
 *
 * Time is measured call by call (see `lisp/fuel-table.ts`). Memory is the heap after a full
 * collection while the values of some calls are alive, less the heap before.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  calibration,
  call,
  contextWith,
  fuelCases,
  measure,
  type FuelCase,
  type FuelRow,
} from './lisp/fuel-table.ts';
import { figure, type Bench } from './support/figure.ts';

const ELEMENTS = 50_000;
/** Fuel of the calls whose values are held at once. */
const HELD_FUEL = 150_000;
const SHOWN = 10;

interface Held {
  readonly label: string;
  readonly mbPerMillion: number;
}

function collector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}

/** Megabytes that the values of calls hold, for each million units of fuel. */
function measureHeld(each: FuelCase, collect: () => void): Held {
  collect();
  const before = process.memoryUsage().heapUsed;
  const c = contextWith(HELD_FUEL);
  const values: unknown[] = [];
  let paid = 0;
  while (c.fuel > 0 && values.length < 2_000) {
    const value = call(each, c);
    if (value === undefined) break;
    values.push(value);
    paid = HELD_FUEL - c.fuel + values.length * each.args.length;
  }
  collect();
  const bytes = process.memoryUsage().heapUsed - before - values.length * 16;
  const mbPerMillion = values.length === 0 ? 0 : Math.max(0, bytes) / Math.max(paid, 1_000);
  return { label: each.label, mbPerMillion };
}

/** A value that is larger than a few words: what can hold memory. */
function holds({ label, fuel, ended }: FuelRow): boolean {
  return ended === 'value' && fuel < HELD_FUEL && !/^\((?:[a-z-]*\?|count|dorun|run!) /.test(label);
}

function list(title: string, rows: readonly (readonly [string, number, string])[]): void {
  process.stdout.write(`${title}\n`);
  for (const [label, value, more] of rows) {
    process.stdout.write(`  ${value.toFixed(3).padStart(10)}  ${label} ${more}\n`);
  }
}

/** Fuel against time and memory. */
export const fuelBench: Bench = {
  name: 'fuel',
  about: 'processor time and memory per unit of fuel, of every builtin and form on 50,000 elements',
  run() {
    const loop = calibration();
    const cases = fuelCases(ELEMENTS, true);
    const rows = cases.map((each) => measure(each, 0.3));
    const slow = rows.toSorted((a, b) => b.secondsPerMillion - a.secondsPerMillion);
    list(
      'slowest, s per 1,000,000 fuel',
      slow.slice(0, SHOWN).map((row) => [row.label, row.secondsPerMillion, `(${row.ended}, ${row.fuel} fuel)`]),
    );
    const collect = collector();
    const held = cases
      .filter((each, index) => !each.label.startsWith('(describe') && rows[index] !== undefined && holds(rows[index]))
      .filter((_, index) => index % 3 === 0 || index > 0)
      .map((each) => measureHeld(each, collect))
      .toSorted((a, b) => b.mbPerMillion - a.mbPerMillion);
    list(
      'largest, MB per 1,000,000 fuel',
      held.slice(0, SHOWN).map((row) => [row.label, row.mbPerMillion, '']),
    );
    const worst = slow[0]?.secondsPerMillion ?? 0;
    const most = held[0]?.mbPerMillion ?? 0;
    return Promise.resolve([
      figure('worst_s_per_million', worst, 's', '<= 1'),
      figure('calibration_s', loop, 's'),
      figure('worst_mb_per_million', most, 'MB', '<= 200'),
      figure('calls', rows.length, ''),
    ]);
  },
};
