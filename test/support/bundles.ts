/**
 * The workflow bundle of a test run: checked against its sources once, then read by all processes
 * of the run without another look at them, and without its source map. A worker reads and parses both
 * at its start, which takes a third of the work of starting it; a run starts hundreds of workers.
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BUILDS_FOLDER } from './builds.ts';
import { defined } from '../../src/core/base/defined.ts';
import { bundleFile, loadWorkflowBundle } from '../../src/worker/bundle/bundle.ts';

/** The folder of this repository that keeps workflow bundles, for all tests and the demo. */
export const BUNDLE_FOLDER: string = fileURLToPath(
  new URL('../../.everloop/cache', import.meta.url),
);

/** The module with the loops of tests; its bundle is made once for a run, as that of Everloop's own is. */
export const TEST_LOOPS: string = fileURLToPath(
  new URL('fixtures/workflows/test-loops.ts', import.meta.url),
);

/** The worker of the SDK wants a source map; this one maps nothing. */
const EMPTY_MAP = Buffer.from(
  '{"version":3,"file":"workflows.js","sources":[],"names":[],"mappings":""}',
).toString('base64');

/**
 * The folder with the bundle of this run for `workflowsPath`; absent: Everloop's own workflows. With
 * `hidesFailures` it is that of workers with keys.
 */
export async function bundleFolder(workflowsPath?: string, hidesFailures?: true): Promise<string> {
  const folder = process.env[BUILDS_FOLDER];
  // Without a setup, as in the recording of a history, the bundle is checked each time.
  if (folder === undefined) return BUNDLE_FOLDER;
  const source = defined({ cacheDir: BUNDLE_FOLDER, workflowsPath, hidesFailures });
  const checked = bundleFile(source);
  const file = join(folder, basename(checked));
  if (existsSync(file)) return folder;
  const { code } = await loadWorkflowBundle(source);
  const { v } = JSON.parse(await readFile(checked, 'utf8')) as { readonly v: number };
  const draft = `${file}.${randomUUID()}`;
  // Without hashes there is nothing to compare.
  await writeFile(draft, JSON.stringify({ v, hashes: {}, code: withoutMap(code) }));
  await rename(draft, file);
  return folder;
}

function withoutMap(code: string): string {
  const end = code.lastIndexOf('//# sourceMappingURL=data:');
  return `${code.slice(0, end)}//# sourceMappingURL=data:application/json;base64,${EMPTY_MAP}`;
}

/** Lets a worker with this data folder take the bundle of this run, where it would make its own. */
export async function shareBundle(dataDir: string): Promise<void> {
  await symlink(await bundleFolder(), join(dataDir, 'cache'));
}
