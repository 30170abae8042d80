/** What is built once for a run of tests on a server, and used by all of its processes. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The environment variable with the folder of it; set by `server-setup.ts`. */
export const BUILDS_FOLDER = 'TESTED_BUILDS';

/** The program of a fixture, in one file; undefined without such a build. */
export function builtFixture(name: string): string | undefined {
  const folder = process.env[BUILDS_FOLDER];
  if (folder === undefined) return undefined;
  const file = join(folder, `${name}.mjs`);
  return existsSync(file) ? file : undefined;
}
