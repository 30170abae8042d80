/**
 * How much a test run proves. `npm test` and `npm run test:unit` leave out what only repeats a proof:
 * most cases of the long properties, and further variants of a scenario whose kind has one in them.
 * `npm run test:all` sets `EVERLOOP_TESTS=all` and takes everything. HACKING.md lists what that adds.
 */
const given = process.env['EVERLOOP_TESTS'] ?? 'sample';
if (given !== 'sample' && given !== 'all') {
  throw new Error(`Expected EVERLOOP_TESTS to be "sample" or "all", got "${given}". Set it so.`);
}

/** Whether this run takes everything. */
export const RUNS_ALL: boolean = given === 'all';

/** How many of `all` cases this run takes: all of them, or `sample`, a fifth unless given. */
export function extent(all: number, sample: number = Math.ceil(all / 5)): number {
  return RUNS_ALL ? all : sample;
}

/** What this run takes of `items`: all of them, or every fifth, the first among them. */
export function extentOf<Item>(items: readonly Item[]): readonly Item[] {
  return RUNS_ALL ? items : items.filter((_, index) => index % 5 === 0);
}
