/**
 * Finds or makes the workflow bundle: the code of the sandbox as one text. The package carries that
 * of its own workflows. Any other takes one to five seconds to make, so it is kept in a file, with
 * the hash of every source file. Later starts read it in milliseconds, unless a source file has
 * changed.
 *
 * I1  A cached bundle equals a new build: same files and contents, same SDK, same major version of
 *     Node, same preloaded modules.
 * I2  The cache file is written as a whole, so processes may race.
 * I3  All of our code that workflows use is preloaded, as is the SDK's: it is evaluated once per
 *     process, not once per workflow. Measured with 80 modules of the core: 11.5 ms and 982 KB per workflow without
 *     preloading, 1.9 ms and 36 KB with it; preloading the SDK and `workflows` saves another 25 KB.
 *     Their dependency yaml is preloaded with them. This works because no module has state that a
 *     run can see: the SDK keeps the state of a workflow in its activator, a global of the sandbox
 *     that is switched with the workflow. A module may keep a pure cache of one value, as
 *     `lisp/base/search.ts` does.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { preloadedModules, WORKFLOWS_PATH } from './bundle-paths.ts';
import { bundleInProcess } from './bundle-process.ts';
import { hashOf, readKept } from './kept-bundle.ts';
import { readShipped } from './shipped-bundle.ts';

/** What {@link loadWorkflowBundle} takes. */
export interface WorkflowBundleOptions {
  /** The folder of the bundles, created if missing, such as `.everloop/cache`. */
  readonly cacheDir: string;
  /** Absolute path of the module that exports the workflows. Default: Everloop's. */
  readonly workflowsPath?: string;
  /** Absolute paths of stateless modules to preload. Default: {@link preloadedModules}. */
  readonly preloadModules?: readonly string[];
  /** Whether the texts of failures are payloads, which a codec encrypts. Default false. */
  readonly hidesFailures?: boolean;
}

/** A bundle; fits `workflowBundle` of `Worker.create`. */
export interface LoadedBundle {
  readonly code: string;
  /** Whether it comes from the cache. */
  readonly isFromCache: boolean;
}

/**
 * The bundle for `workflowsPath`, from the cache or newly built and cached.
 *
 * Throws a `UsageError` with code `workflow_bundle` and the bundler's errors when the build fails.
 */
export async function loadWorkflowBundle(options: WorkflowBundleOptions): Promise<LoadedBundle> {
  const isOurs = options.workflowsPath === undefined && options.preloadModules === undefined;
  const { cacheDir, hidesFailures = false } = options;
  const shipped = isOurs && !hidesFailures ? await readShipped() : undefined;
  if (shipped !== undefined) return { code: shipped, isFromCache: true };
  const workflowsPath = options.workflowsPath ?? WORKFLOWS_PATH;
  const preloadModules = options.preloadModules ?? preloadedModules();
  const order = { cacheDir, workflowsPath, preloadModules, hidesFailures };
  const cacheFile = bundleFile(order);
  const kept = await readKept(cacheFile);
  if (kept !== undefined) return { code: kept, isFromCache: true };
  return { code: await bundleInProcess(order, cacheFile), isFromCache: false };
}

/** The file that keeps a bundle. */
export function bundleFile({
  cacheDir,
  workflowsPath = WORKFLOWS_PATH,
  preloadModules = preloadedModules(),
  hidesFailures = false,
}: WorkflowBundleOptions): string {
  const hiding = hidesFailures ? '-hiding' : '';
  return join(cacheDir, `workflows-${keyOf(workflowsPath, preloadModules)}${hiding}.json`);
}

/** The key of a cache file: everything that a bundle depends on besides the contents of files. */
function keyOf(workflowsPath: string, preloadModules: readonly string[]): string {
  const require = createRequire(import.meta.url);
  const { version } = JSON.parse(
    readFileSync(require.resolve('@temporalio/worker/package.json'), 'utf8'),
  ) as { readonly version: string };
  const node = process.versions.node.split('.')[0] ?? '';
  return hashOf(JSON.stringify([workflowsPath, preloadModules, version, node])).slice(0, 16);
}
