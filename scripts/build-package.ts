/**
 * Runs after `tsc` in `npm run build`, and makes `dist` quick to load: a worker that loads 700 small
 * modules takes a second of processor time for it.
 *
 * - Writes the workflow bundle that the package carries.
 * - Joins the modules of the entries that Node loads into few files, in `dist/chunks`. Packages stay
 *   outside, as imports that a bundler of an application sees. Lines stay: Node shows the one that
 *   threw.
 * - Deletes the modules that nothing loads on its own any more. What the bundler of workflows reads,
 *   and what a thread or a process starts from, stays as it is.
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import type * as Kept from '../src/worker/bundle/kept-bundle.ts';
import type * as Make from '../src/worker/bundle/make-bundle.ts';
import type * as Paths from '../src/worker/bundle/bundle-paths.ts';
import type * as Shipped from '../src/worker/bundle/shipped-bundle.ts';

const DIST = fileURLToPath(new URL('../dist', import.meta.url));
const CHUNKS = join(DIST, 'chunks');

/** Loaded by Node, and by nothing that makes a workflow bundle. */
const ENTRIES = ['index', 'client', 'worker', 'core', 'console', 'ui', 'testing', 'cli/main'];

/** Started or bundled by their paths. */
const ROOTS = [
  'workflow',
  'lisp',
  'workflows/index',
  'workflows/callbacks/deliver-callbacks',
  'workflows/untracked-promises',
  'workflows/payload-converter',
  'workflows/converters',
  'workflows/failure-converter',
  'workflows/recorded/interceptors',
  'workflows/sending/outgoing',
  'protection/worker-converters',
  'tools/isolate/thread-entry',
  'tools/isolate/process-entry',
  'worker/bundle/bundle-entry',
];

/**
 * Modules that bundlers of applications read. They ask where they are, and find nothing by it: a URL
 * beside `import.meta.url` is a file to bundlers, which fail if it is not there.
 */
const BUNDLED = ['client/connect.js', 'models/providers/find-package.js'];

async function writeBundle(): Promise<void> {
  const loaded = (name: string): Promise<unknown> =>
    import(pathToFileURL(join(DIST, `worker/bundle/${name}.js`)).href);
  const { CACHE_VERSION } = (await loaded('kept-bundle')) as typeof Kept;
  const { makeBundle } = (await loaded('make-bundle')) as typeof Make;
  const { preloadedModules, WORKFLOWS_PATH } = (await loaded('bundle-paths')) as typeof Paths;
  const { installedVersions } = (await loaded('shipped-bundle')) as typeof Shipped;
  const { code } = await makeBundle({
    cacheDir: DIST,
    workflowsPath: WORKFLOWS_PATH,
    preloadModules: preloadedModules(),
    hidesFailures: false,
  });
  const shipped = { v: CACHE_VERSION, versions: installedVersions(), code };
  writeFileSync(join(DIST, 'workflow-bundle.json'), JSON.stringify(shipped));
}

async function joinEntries(): Promise<void> {
  await build({
    entryPoints: ENTRIES.map((name) => join(DIST, `${name}.js`)),
    entryNames: '[name]',
    chunkNames: '[name]-[hash]',
    outdir: CHUNKS,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    plugins: [placeModules],
    logLevel: 'warning',
  });
  for (const name of ENTRIES) {
    const file = join(DIST, `${name}.js`);
    const path = `${relative(dirname(file), CHUNKS) || '.'}/${basename(name)}.js`;
    const from = path.startsWith('.') ? path : `./${path}`;
    const isProgram = name.startsWith('cli/');
    const text = isProgram
      ? `#!/usr/bin/env node\nimport '${from}';\n`
      : `export * from '${from}';\n`;
    writeFileSync(file, text);
  }
}

/** Lets a joined module find files as from the place that it had. */
const placeModules: Plugin = {
  name: 'place-modules',
  setup(joined) {
    joined.onLoad({ filter: /\.js$/, namespace: 'file' }, ({ path }) => {
      if (BUNDLED.includes(relative(DIST, path).replaceAll('\\', '/'))) return undefined;
      const place = JSON.stringify(`../${relative(DIST, path)}`);
      const contents = readFileSync(path, 'utf8').replaceAll(
        /\bimport\.meta\.url\b/g,
        `new URL(${place}, import.meta.url).href`,
      );
      return { contents, loader: 'js' };
    });
  },
};

function deleteJoined(): void {
  const open = [...ENTRIES, ...ROOTS].map((name) => join(DIST, `${name}.js`));
  const reached = new Set<string>();
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (reached.has(file) || !existsSync(file)) continue;
    reached.add(file);
    for (const [, from = ''] of readFileSync(file, 'utf8').matchAll(
      /(?:from|import|import\() ?['"](\.[^'"]+\.js)['"]/g,
    )) {
      open.push(resolve(dirname(file), from));
    }
  }
  for (const name of readdirSync(DIST, { recursive: true, encoding: 'utf8' })) {
    const isJoined = name.endsWith('.js') && !/^(?:chunks|console.web)[/\\]/.test(name);
    if (isJoined && !reached.has(join(DIST, name))) rmSync(join(DIST, name));
  }
}

await writeBundle();
await joinEntries();
deleteJoined();
