/**
 * How much is killed: a few moments in `npm test`, all of them with `EVERLOOP_KILLS=all`, as
 * `npm run test:kills` sets it. `EVERLOOP_KILL_SEED` chooses other moments.
 */
const isAll = process.env['EVERLOOP_KILLS'] === 'all';

/** The seed, and how many moments follow from it. */
export const KILLS: {
  readonly isAll: boolean;
  readonly seed: number;
  readonly workerMoments: number;
  readonly serverMoments: number;
  /** Trees of 40 runs whose worker is killed three times each. */
  readonly trees: number;
} = {
  isAll,
  seed: Number(process.env['EVERLOOP_KILL_SEED'] ?? 20_260_310),
  workerMoments: isAll ? 25 : 6,
  serverMoments: isAll ? 5 : 1,
  trees: isAll ? 12 : 2,
};

/**
 * Within which time something must happen that takes `quietMs` at most on a machine with nothing else to
 * do: just that with `EVERLOOP_KILLS=all`. Beside other tests no time is sure; there it tells what came by
 * itself from what hung until a test ended it.
 */
export function withinMs(quietMs: number): number {
  return isAll ? quietMs : quietMs + 30_000;
}
