/**
 * What fuel buys at worst, at a smaller size than `npm run bench -- fuel`: builtins and forms that do
 * much for little fuel, or hold much memory for it, were the way to end a worker.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { calibration, fuelCases, heldBy, measure } from '../../bench/lisp/fuel-table.ts';
import { extentOf } from '../support/extent.ts';

const ELEMENTS = 4_000;

/** The goal at 50,000 elements is 1; what is not charged grows with the elements and is 10 to 500 here. */
const MOST_SECONDS = 6;

/** What the fixed loop takes on the machine of the goal; a slower one may take longer. */
const REFERENCE_LOOP = 0.01;

// First, and early in a run: collecting takes longer the more a process holds.
test('[L1] [L4] what calls make holds little memory for their fuel', { timeout: 120_000 }, () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const cases = fuelCases(ELEMENTS, 'forms').filter(({ label }) =>
    label.startsWith('(mapv (fn [i]'),
  );
  const large = cases
    .map((each) => heldBy(each, collect, 60_000))
    .filter(({ mbPerMillion }) => mbPerMillion > 250);

  expect(large).toEqual([]);
  expect(cases.length).toBeGreaterThan(20);
});

test('[L1] [L6] no call takes much time for its fuel', { timeout: 120_000 }, () => {
  const slower = Math.max(1, calibration() / REFERENCE_LOOP);
  const cases = fuelCases(ELEMENTS, 'small');
  const dear = extentOf(cases, 3)
    .map((each) => measure(each, MOST_SECONDS * slower))
    .filter(({ secondsPerMillion }) => secondsPerMillion > MOST_SECONDS * slower)
    .map(({ label, fuel, secondsPerMillion }) => `${label}: ${secondsPerMillion} s for ${fuel}`);

  expect(dear).toEqual([]);
  expect(cases.length).toBeGreaterThan(10_000);
});
