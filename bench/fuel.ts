/**
 * What fuel buys at worst: every builtin and form on 50,000 elements, in processor seconds and in
 * megabytes per 1,000,000 units of fuel.
 *
 * Time is measured call by call (see `lisp/fuel-table.ts`). Memory is the heap after a full
 * collection while the values of some calls are alive, less the heap before. A full collection takes
 * some milliseconds, so only calls whose values can be large are weighed, and of each builtin those
 * that hold most by a first, rougher count.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  calibration,
  fuelCases,
  heldBy,
  measure,
  type FuelCase,
  type FuelRow,
} from './lisp/fuel-table.ts';
import { figure, type Bench } from './support/figure.ts';

const ELEMENTS = 50_000;
/** A call that seems to take more is tried again: the first call of anything is slow. */
const DEAR = 0.6;
/** Fuel of the calls whose values are held at once. */
const HELD_FUEL = 100_000;
/** Calls of one builtin that are weighed. */
const WEIGHED = 4;
const SHOWN = 10;

function collector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}

/** Whether the value of a call may be larger than a few words. */
function mayHold({ label, fuel, ended }: FuelRow): boolean {
  return ended === 'value' && fuel < HELD_FUEL && !/^\((?:\S+\?|count|dorun|run!) /.test(label);
}

/** The calls to weigh: all forms, and of each builtin those that took longest for their fuel. */
function toWeigh(cases: readonly FuelCase[], rows: readonly FuelRow[]): readonly FuelCase[] {
  const taken = new Map<string, number>();
  return rows
    .map((row, index) => ({ row, each: cases[index] }))
    .filter(({ row }) => mayHold(row))
    .toSorted((a, b) => b.row.secondsPerMillion - a.row.secondsPerMillion)
    .flatMap(({ row, each }) => {
      const isForm = /[[(#]/.test(row.label.slice(1));
      const [name = ''] = row.label.split(' ');
      const count = isForm ? 0 : (taken.get(name) ?? 0);
      if (each === undefined || count >= WEIGHED) return [];
      taken.set(name, count + 1);
      return [each];
    });
}

function list(title: string, rows: readonly (readonly [number, string])[]): void {
  process.stdout.write(`${title}\n`);
  for (const [value, text] of rows.slice(0, SHOWN)) {
    process.stdout.write(`  ${value.toFixed(3).padStart(10)}  ${text}\n`);
  }
}

/** Fuel against time and memory. */
export const fuelBench: Bench = {
  name: 'fuel',
  about: 'processor time and memory per unit of fuel, of every builtin and form on 50,000 elements',
  run() {
    const loop = calibration();
    const cases = fuelCases(ELEMENTS, 'whole');
    const rows = cases.map((each) => measure(each, DEAR));
    const slow = rows.toSorted((a, b) => b.secondsPerMillion - a.secondsPerMillion);
    list(
      'slowest, s per 1,000,000 fuel',
      slow.map((row) => [row.secondsPerMillion, `${row.label}  (${row.ended}, ${row.fuel} fuel)`]),
    );
    const collect = collector();
    const held = toWeigh(cases, rows)
      .map((each) => heldBy(each, collect, HELD_FUEL))
      .toSorted((a, b) => b.mbPerMillion - a.mbPerMillion);
    list(
      'largest, MB per 1,000,000 fuel',
      held.map((row) => [row.mbPerMillion, row.label]),
    );
    return Promise.resolve([
      figure('worst_s_per_million', slow[0]?.secondsPerMillion ?? 0, 's', '<= 1'),
      figure('calibration_s', loop, 's'),
      figure('worst_mb_per_million', held[0]?.mbPerMillion ?? 0, 'MB', '<= 200'),
      figure('calls', rows.length, ''),
    ]);
  },
};
