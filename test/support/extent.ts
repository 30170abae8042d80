/**
 * How much a test run proves. `TEST_EXTENT` says it:
 *
 * - `sample`, the default: `npm test` and `npm run test:unit`. Tests of every kind, but those that only
 *   repeat a proof on a server or in another process.
 * - `all`, set by `npm run test:all`: every test, with as many cases, rows and kills as a sample.
 * - `kills`, set by `npm run test:kills`: every test, with every case, row, moment and repetition, and
 *   bounds on time that hold on a machine with nothing else to do.
 *
 * HACKING.md lists what each adds.
 */
const LEVELS = ['sample', 'all', 'kills'];
const level = process.env['TEST_EXTENT'] ?? 'sample';
if (!LEVELS.includes(level)) {
  throw new Error(
    `Expected TEST_EXTENT to be one of ${LEVELS.join(', ')}, got "${level}". Set it so.`,
  );
}

/** Whether this run takes more than a sample. */
export const RUNS_ALL: boolean = level !== 'sample';

/** Whether this run takes every case and repetition, and what proves no more than others in minutes. */
export const REPEATS_ALL: boolean = level === 'kills';

/**
 * How many of `every` cases, moments of a kill or repetitions this run takes: with `kills` all of them,
 * else `sample`, a fifth unless given.
 */
export function extent(every: number, sample: number = Math.ceil(every / 5)): number {
  return REPEATS_ALL ? every : sample;
}

/** What this run takes of `items`: with `kills` all of them, else the first and each `nth` after it. */
export function extentOf<Item>(items: readonly Item[], nth = 5): readonly Item[] {
  return REPEATS_ALL ? items : items.filter((_, index) => index % nth === 0);
}

/** Moments of kills follow from it; `TEST_KILL_SEED` chooses others. */
export const KILL_SEED: number = Number(process.env['TEST_KILL_SEED'] ?? 20_260_310);

/**
 * Within which time something must happen that takes `quietMs` at most on a machine with nothing
 * else to do: just that with `TEST_EXTENT=kills`. Beside other tests no time is sure; there the
 * bound tells what ended by itself from what hung until a test ended it.
 */
export function withinMs(quietMs: number): number {
  return REPEATS_ALL ? quietMs : quietMs + 30_000;
}
