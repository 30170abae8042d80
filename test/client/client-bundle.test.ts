/**
 * What a bundler of an application reads of the entries that a web server uses: nothing native, no
 * worker, no file that is looked for beside another, and no optional package that has to be there.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build, type Metafile } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import * as client from '../../src/client.ts';
import * as everloop from '../../src/index.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Bundles an entry as an application would that has one file, in CommonJS. */
async function bundled(entry: string): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [`src/${entry}.ts`],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    metafile: true,
    write: false,
    outdir: 'unwritten',
    logLevel: 'error',
  });
  return metafile;
}

/** The package of a file below `node_modules`; undefined for a file of ours. */
const packageOf = (path: string): string | undefined =>
  /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];

const NATIVE = /^@temporalio\/(?:worker|core-bridge|activity|nexus)$|^@swc|^webpack$|^piscina$/;

/** An import whose specifier is no text: bundlers leave it alone only if it says so. */
const DYNAMIC = /\bimport\((?!\s*['"])[^)]*\)/g;
const MARKS = ['webpackIgnore: true', 'turbopackIgnore: true', '@vite-ignore'];

describe.each(['client', 'ui', 'index'])('the entry %s in a bundle', (entry) => {
  let metafile: Metafile;
  let sources: ReadonlyMap<string, string>;
  beforeAll(async () => {
    metafile = await bundled(entry);
    const own = Object.keys(metafile.inputs).filter((path) => packageOf(path) === undefined);
    sources = new Map(own.map((path) => [path, withoutComments(join(ROOT, path))]));
  });

  it('holds nothing native and nothing of a worker', () => {
    const paths = Object.keys(metafile.inputs);

    expect(paths.filter((path) => path.endsWith('.node'))).toEqual([]);
    expect(paths.filter((path) => NATIVE.test(packageOf(path) ?? ''))).toEqual([]);
    expect(paths.filter((path) => path.startsWith('src/worker/'))).toEqual([]);
    expect(paths).toContain(`src/${entry}.ts`);
  });

  it('needs only modules of Node beside it', () => {
    const outside = Object.values(metafile.outputs).flatMap(({ imports }) =>
      imports.filter(({ external }) => external === true).map(({ path }) => path),
    );

    expect(outside.filter((path) => !isBuiltin(path))).toEqual([]);
  });

  it('looks for no file beside a module, and marks what bundlers have to leave alone', () => {
    for (const [path, text] of sources) {
      expect(text, path).not.toMatch(/new URL\([^)]*import\.meta|createRequire\(import\.meta/);
      for (const [found] of text.matchAll(DYNAMIC)) {
        for (const mark of MARKS) expect(found, path).toContain(mark);
      }
    }
  });
});

it('the entry client brings no checker of schemas and no search', async () => {
  const { inputs } = await bundled('client');

  const packages = new Set(Object.keys(inputs).map(packageOf));
  expect([...packages].filter((name) => name === 'ajv' || name === 'minisearch')).toEqual([]);
  expect(packages).toContain('@temporalio/client');
});

/** The text of a file; comments within an `import(` stay. */
function withoutComments(path: string): string {
  return readFileSync(path, 'utf8')
    .replaceAll(/^\s*\/\*\*[^]*?\*\//gm, '')
    .replaceAll(/^\s*\/\/.*$/gm, '');
}

it('a program in one file of CommonJS runs alone', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'everloop-bundle-'));
  const file = join(folder, 'program.cjs');
  await build({
    stdin: {
      contents: `
        import { connect } from './src/client.ts';
        import { createChatHandler } from './src/ui.ts';
        connect({ address: '127.0.0.1:1', timeoutMs: 500 })
          .then((everloop) => createChatHandler({ everloop, agent: 'clerk' }))
          .catch(({ message }) => console.log(message));`,
      resolveDir: ROOT,
    },
    bundle: true,
    platform: 'node',
    outfile: file,
    logLevel: 'error',
  });

  const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: folder });

  expect(stdout).toMatch(/^Expected a Temporal server at 127\.0\.0\.1:1, got: /);
  rmSync(folder, { recursive: true });
});

it('everloop/client is a part of everloop', () => {
  expect(everloop).toMatchObject(client);
  expect(Object.keys(client)).toContain('connect');
});
