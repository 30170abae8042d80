/**
 * How much a test run proves. `TEST_EXTENT` says it:
 *
 * - `sample`, the default: `npm test` and `npm run test:unit`. Each kind of test has its cases; what
 *   only repeats a proof is left out: most cases of the long properties, further variants of a scenario,
 *   further moments of a kill.
 * - `all`, set by `npm run test:all`: every test, with as many kills and repetitions as a sample has.
 * - `kills`, set by `npm run test:kills`: every test, with every moment and repetition, and bounds on
 *   time that hold on a machine with nothing else to do.
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

/** How many of `all` cases this run takes: all of them, or `sample`, a fifth unless given. */
export function extent(all: number, sample: number = Math.ceil(all / 5)): number {
  return RUNS_ALL ? all : sample;
}

/** What this run takes of `items`: all of them, or the first and every fifth after it. */
export function extentOf<Item>(items: readonly Item[], every = 5): readonly Item[] {
  return RUNS_ALL ? items : items.filter((_, index) => index % every === 0);
}

/** How many moments of a kill, or repetitions of a long scenario, this run takes. */
export function killsOf(kills: { readonly sample: number; readonly every: number }): number {
  return level === 'kills' ? kills.every : kills.sample;
}

/** Moments of kills follow from it; `TEST_KILL_SEED` chooses others. */
export const KILL_SEED: number = Number(process.env['TEST_KILL_SEED'] ?? 20_260_310);

/**
 * Within which time something must happen that takes `quietMs` at most on a machine with nothing
 * else to do: just that with `TEST_EXTENT=kills`. Beside other tests no time is sure; there the
 * bound tells what ended by itself from what hung until a test ended it.
 */
export function withinMs(quietMs: number): number {
  return level === 'kills' ? quietMs : quietMs + 30_000;
}
