import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { pruneBuilds } from '../../src/cli/operations/prune.ts';
import { cli } from './cli-fixture.ts';

/** All five builds of the package. */
const BUILDS = [
  'aarch64-apple-darwin',
  'aarch64-unknown-linux-gnu',
  'x86_64-apple-darwin',
  'x86_64-pc-windows-msvc',
  'x86_64-unknown-linux-gnu',
];

const releases = mkdtempSync(join(tmpdir(), 'everloop-prune-'));
afterAll(() => rmSync(releases, { recursive: true }));

beforeEach(() => {
  for (const build of BUILDS) {
    mkdirSync(join(releases, build), { recursive: true });
    writeFileSync(join(releases, build, 'index.node'), 'native');
  }
});

it.each([
  { system: 'linux', architecture: 'x64', kept: 'x86_64-unknown-linux-gnu' },
  { system: 'linux', architecture: 'arm64', kept: 'aarch64-unknown-linux-gnu' },
  { system: 'darwin', architecture: 'arm64', kept: 'aarch64-apple-darwin' },
  { system: 'win32', architecture: 'x64', kept: 'x86_64-pc-windows-msvc' },
])('keeps $kept alone on $system $architecture', async ({ kept, ...machine }) => {
  const pruned = await pruneBuilds(releases, machine);

  const deleted = BUILDS.filter((build) => build !== kept);
  expect(pruned).toEqual({ deleted, kept: [kept], bytes: 4 * 'native'.length });
  expect(readdirSync(releases)).toEqual([kept]);

  // A second time there is nothing to do.
  expect(await pruneBuilds(releases, machine)).toEqual({ deleted: [], kept: [kept], bytes: 0 });
});

it.each([
  { system: 'linux', architecture: 'ppc64' },
  { system: 'sunos', architecture: 'x64' },
])('deletes nothing if no build is for $system $architecture', async (machine) => {
  expect(await pruneBuilds(releases, machine)).toEqual({ deleted: [], kept: BUILDS, bytes: 0 });
  expect(readdirSync(releases).toSorted()).toEqual(BUILDS);
});

it('says in its help what it deletes', async () => {
  const { exitCode, stdout } = await cli(['prune', '--help']);

  expect(exitCode).toBe(0);
  expect(stdout).toContain('builds for five machines');
});
