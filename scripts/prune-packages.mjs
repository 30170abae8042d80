/**
 * Runs after `npm install`, and deletes what no machine needs at run time. An install never fails here.
 *
 * Temporal's native core comes with builds for five machines, 28 MB each. Only that of the machine
 * stays, as npm does for esbuild and swc. `npm install --os --cpu` names another machine; with
 * `EVERLOOP_ALL_PLATFORMS=1` all builds stay. Nothing is deleted if no build is that of the machine.
 *
 * Source maps of packages, 15 MB, serve those who debug the packages themselves.
 */
import { readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** How the core names what Node calls `process.arch` and `process.platform`. */
const ARCHITECTURES = { x64: 'x86_64', arm64: 'aarch64' };
const SYSTEMS = { linux: 'linux', darwin: 'darwin', win32: 'windows' };

const { npm_config_os: os, npm_config_cpu: cpu, EVERLOOP_ALL_PLATFORMS: keepsAll } = process.env;
const architecture = ARCHITECTURES[cpu || process.arch];
const system = SYSTEMS[os || process.platform];

/** Whether `build`, such as `x86_64-unknown-linux-gnu`, runs on the machine. */
const fits = (build) => build.startsWith(`${architecture}-`) && build.includes(`-${system}`);

try {
  const worker = createRequire(import.meta.url).resolve('@temporalio/worker/package.json');
  const core = createRequire(worker).resolve('@temporalio/core-bridge/package.json');
  const folder = join(dirname(core), 'releases');
  const builds = readdirSync(folder);
  const others = builds.filter((build) => !fits(build));
  if (!keepsAll && others.length < builds.length) {
    for (const build of others) rmSync(join(folder, build), { recursive: true });
  }
} catch {
  // Read-only, or laid out in another way: the builds of other machines do no harm.
}

/** Packages whose source maps take the most. */
const MAPPED = [
  ...['client', 'core', 'server'].map((name) => `@modelcontextprotocol/${name}`),
  '@grpc/grpc-js',
  '@opentelemetry/api',
  'lru-cache',
  'protobufjs',
  'rxjs',
];

const resolve = createRequire(import.meta.url).resolve;
for (const name of MAPPED) {
  try {
    const file = resolve(name);
    const root = join('node_modules', name);
    const folder = file.slice(0, file.lastIndexOf(root) + root.length);
    if (!folder.endsWith(root)) continue;
    for (const inside of readdirSync(folder, { recursive: true })) {
      if (inside.endsWith('.map')) rmSync(join(folder, inside));
    }
  } catch {
    // Not beside this package, or read-only: maps do no harm.
  }
}
