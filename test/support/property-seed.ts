/**
 * Runs in each process of tests, before them: properties draw from one seed, so a run that failed fails
 * again. `TEST_SEED` names another one; with `random` each property draws its own.
 */
import fc from 'fast-check';

const given = process.env['TEST_SEED'] ?? '20261122';
if (given !== 'random') {
  const seed = Number(given);
  if (!Number.isInteger(seed)) {
    throw new Error(`Expected TEST_SEED to be an integer or "random", got "${given}". Set it so.`);
  }
  fc.configureGlobal({ seed });
}
