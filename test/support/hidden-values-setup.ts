/**
 * Begins and ends the search for hidden values in requests, and for what providers refuse of them: see
 * `hidden-values.ts`, `refusing/refuse-live.ts`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expectHidden, REQUESTS_FOLDER } from './hidden-values.ts';
import { expectTaken } from './refusing/refuse-live.ts';

/** Called by vitest before the first test of each project; what it returns is called at the end. */
export function setup(): () => void {
  // Inherited by the processes that run tests. Both projects share one folder.
  const folder = (process.env[REQUESTS_FOLDER] ??= mkdtempSync(
    join(tmpdir(), 'everloop-requests-'),
  ));
  return () => {
    try {
      expectHidden(folder);
      expectTaken(folder);
    } catch (error) {
      // Vitest only prints what a teardown throws.
      process.exitCode = 1;
      throw error;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };
}
