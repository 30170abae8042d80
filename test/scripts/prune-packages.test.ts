import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeEach, expect, it } from 'vitest';

const SCRIPT = fileURLToPath(new URL('../../scripts/prune-packages.mjs', import.meta.url));
const LINUX = 'x86_64-unknown-linux-gnu';
const MAC = 'aarch64-apple-darwin';
const WINDOWS = 'x86_64-pc-windows-msvc';

const home = mkdtempSync(join(tmpdir(), 'everloop-prune-'));
afterAll(() => rmSync(home, { recursive: true }));

const packages = join(home, 'node_modules');
const releases = join(packages, '@temporalio', 'core-bridge', 'releases');
const script = join(packages, 'everloop', 'scripts', 'prune-packages.mjs');

beforeEach(() => {
  rmSync(packages, { recursive: true, force: true });
  for (const name of ['worker', 'core-bridge']) {
    const folder = join(packages, '@temporalio', name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{}');
  }
  for (const build of [LINUX, MAC, WINDOWS]) {
    mkdirSync(join(releases, build), { recursive: true });
    writeFileSync(join(releases, build, 'index.node'), '');
  }
  cpSync(SCRIPT, script);
});

/** The builds that are left after an install, for a machine that npm was told. */
function buildsAfter(env: Readonly<Record<string, string>>): readonly string[] {
  execFileSync(process.execPath, [script], { env, cwd: home });
  return readdirSync(releases).toSorted();
}

it.each([
  { machine: { npm_config_os: 'linux', npm_config_cpu: 'x64' }, kept: [LINUX] },
  { machine: { npm_config_os: 'darwin', npm_config_cpu: 'arm64' }, kept: [MAC] },
  { machine: { npm_config_os: 'win32', npm_config_cpu: 'x64' }, kept: [WINDOWS] },
])('keeps the build of $machine', ({ machine, kept }) => {
  expect(buildsAfter(machine)).toEqual(kept);
});

it('keeps that of this machine if npm was told none', () => {
  const kept = buildsAfter({});

  expect(kept.every((build) => build.startsWith(process.arch === 'x64' ? 'x86' : 'aarch'))).toBe(
    true,
  );
  expect(kept.length).toBeGreaterThan(0);
});

it('keeps all builds when it is told to, or when none is that of the machine', () => {
  const all = [MAC, WINDOWS, LINUX].toSorted();

  expect(buildsAfter({ EVERLOOP_ALL_PLATFORMS: '1' })).toEqual(all);
  expect(buildsAfter({ npm_config_os: 'linux', npm_config_cpu: 'ppc64' })).toEqual(all);
  expect(buildsAfter({ npm_config_os: 'sunos' })).toEqual(all);
});

it('deletes the source maps of the packages of MCP, and nothing else of them', () => {
  const client = join(packages, '@modelcontextprotocol', 'client');
  mkdirSync(join(client, 'dist', 'ext'), { recursive: true });
  writeFileSync(join(client, 'package.json'), '{ "main": "./dist/index.cjs" }');
  for (const file of ['index.cjs', 'index.cjs.map', 'ext/a.mjs', 'ext/a.mjs.map']) {
    writeFileSync(join(client, 'dist', file), '');
  }

  buildsAfter({});

  expect(
    readdirSync(join(client, 'dist'), { recursive: true, encoding: 'utf8' }).toSorted(),
  ).toEqual(['ext', join('ext', 'a.mjs'), 'index.cjs']);
});

it('never fails an install, whatever is there', () => {
  rmSync(releases, { recursive: true });
  execFileSync(process.execPath, [script], { env: {} });
  rmSync(join(packages, '@temporalio'), { recursive: true });
  execFileSync(process.execPath, [script], { env: {} });
});
