/**
 * Runs in each process of tests, before them: properties draw from one seed, so a run that failed fails
 * again. `EVERLOOP_SEED` names another one; with `random` each property draws its own.
 */
import fc from 'fast-check';

const given = process.env['EVERLOOP_SEED'] ?? '20261122';
if (given !== 'random') {
  const seed = Number(given);
  if (!Number.isInteger(seed)) {
    throw new Error(
      `Expected EVERLOOP_SEED to be an integer or "random", got "${given}". Set it so.`,
    );
  }
  fc.configureGlobal({ seed });
}
