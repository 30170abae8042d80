/**
 * What all tests of the project `server` share: one Temporal development server, on a free port, with
 * a database in a folder of its own; and the programs of worker processes, built once. Tests get the
 * server by `inject('temporal')`. All of it is gone at the end, however the run ends.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { BUILDS_FOLDER } from './builds.ts';
import { bundleFolder, TEST_LOOPS } from './bundles.ts';
import { buildPrograms } from './program-builds.ts';
import { startTestServer } from './test-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The server of this test run: `{ address: '127.0.0.1:41233', namespace: 'default' }`. */
    readonly temporal: { readonly address: string; readonly namespace: string };
  }
}

/** Within the repository, so that what is built there finds its packages. */
const BUILDS = fileURLToPath(new URL('../../.everloop/test-builds', import.meta.url));

/** Called by vitest before the first test of the project; what it returns is called at the end. */
export function setup(project: TestProject): Promise<() => Promise<void>> {
  return setUp(project, startTestServer);
}

/** A server for all tests of a run. */
export interface ServerOfRun {
  readonly address: string;
  readonly namespace: string;
  stop(): Promise<void>;
}

/** {@link setup} with the server that `start` gives. */
export async function setUp(
  project: TestProject,
  start: () => Promise<ServerOfRun>,
): Promise<() => Promise<void>> {
  // A fifth less work for servers, which have little memory to collect.
  process.env['GOGC'] ??= '400';
  mkdirSync(BUILDS, { recursive: true });
  const builds = mkdtempSync(join(BUILDS, 'run-'));
  process.env[BUILDS_FOLDER] = builds;
  const build = async (): Promise<void> => {
    rmSync(builds, { recursive: true, force: true });
    mkdirSync(builds);
    // The bundles, too: otherwise each process would build them, and all at once.
    const bundles = [bundleFolder(), bundleFolder(undefined, true), bundleFolder(TEST_LOOPS)];
    await Promise.all([buildPrograms(builds), ...bundles]);
  };
  // In watch mode the sources change between two runs.
  project.onTestsRerun(build);
  const [server] = await Promise.all([start(), build()]);
  project.provide('temporal', { address: server.address, namespace: server.namespace });
  return async () => {
    await server.stop();
    rmSync(builds, { recursive: true, force: true });
  };
}
