/**
 * Builds the pages of the console with esbuild: hashed files, an `index.html`, and the licences of
 * what is in them. The package carries the result; a checkout builds it when it is missing or old.
 */
import { randomUUID } from 'node:crypto';
import { readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BuildOptions, Metafile, Plugin } from 'esbuild';

/** Where the sources of the pages stand in a checkout. */
const WEB_SOURCES: string = fileURLToPath(new URL('./web', import.meta.url));

/**
 * Builds the pages of `sources` into `folder`, in place of what is there. Needs esbuild, and the
 * packages that the pages use.
 *
 * @throws if they cannot be built; `folder` is as it was then.
 */
export async function buildWeb(folder: string, sources: string = WEB_SOURCES): Promise<void> {
  const { build } = await import('esbuild');
  const partial = `${folder}-${randomUUID()}`;
  try {
    const { metafile } = await build({ ...buildOptions(partial, sources), metafile: true });
    const script = outputOf(metafile, '.js');
    const style = outputOf(metafile, '.css');
    const page = await readFile(join(sources, 'index.html'), 'utf8');
    const shown = page
      .replace('%SCRIPT%', script)
      .replace('%STYLE%', style)
      .replace('%PRELOADS%', preloadsOf(metafile, script));
    await writeFile(join(partial, 'index.html'), shown);
    await writeFile(join(partial, 'THIRD-PARTY.txt'), await licencesOf(metafile));
    await rm(folder, { recursive: true, force: true });
    await rename(partial, folder);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

/** The options of esbuild for the pages. */
function buildOptions(folder: string, sources: string): BuildOptions {
  return {
    entryPoints: { main: join(sources, 'main.tsx') },
    outdir: join(folder, 'assets'),
    entryNames: '[name]-[hash]',
    chunkNames: 'chunk-[hash]',
    assetNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    target: ['es2022', 'chrome125', 'firefox128', 'safari17.5'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.woff2': 'file' },
    legalComments: 'none',
    plugins: [LEXER_ALONE],
    // What is wrong stands in the error.
    logLevel: 'silent',
    absWorkingDir: fileURLToPath(new URL('../..', import.meta.url)),
  };
}

/**
 * Of `marked`, the pages use the lexer alone. Its module also makes a parser of HTML that all may share,
 * which keeps the whole package in a bundle; a release without that passes as it is.
 */
const LEXER_ALONE: Plugin = {
  name: 'lexer-alone',
  setup: (build) => {
    build.onLoad({ filter: /[\\/]marked\.esm\.js$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      const shared = /var (\w+)=new \w+;function \w+\(\w+,\w+\)\{return \1\.parse\(/.exec(text);
      const lexer = /(\w+) as Lexer\b/.exec(text)?.[1];
      if (shared === null || lexer === undefined) return { contents: text };
      return { contents: `${text.slice(0, shared.index)}export{${lexer} as Lexer};` };
    });
  },
};

function outputOf({ outputs }: Metafile, ending: string): string {
  const found = Object.entries(outputs).find(
    ([path, { entryPoint }]) =>
      path.endsWith(ending) && (ending === '.css' || entryPoint?.endsWith('main.tsx') === true),
  );
  if (found === undefined) throw new Error(`Expected a ${ending} file of the pages, got none.`);
  return basename(found[0]);
}

/**
 * Links to what `script` imports, directly or not: a browser fetches them at once, and not only when
 * it has read what imports them.
 */
function preloadsOf({ outputs }: Metafile, script: string): string {
  const found = new Set<string>();
  const visit = (name: string): void => {
    const output = Object.entries(outputs).find(([path]) => basename(path) === name)?.[1];
    for (const { path, kind } of output?.imports ?? []) {
      if (kind !== 'import-statement' || found.has(basename(path))) continue;
      found.add(basename(path));
      visit(basename(path));
    }
  };
  visit(script);
  return [...found]
    .map((name) => `<link rel="modulepreload" href="%BASE%/assets/${name}" />`)
    .join('\n    ');
}

/** The licence texts of all packages in the pages. */
async function licencesOf({ inputs }: Metafile): Promise<string> {
  const names = new Set<string>();
  for (const path of Object.keys(inputs)) {
    const name = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];
    if (name !== undefined) names.add(name);
  }
  const root = fileURLToPath(new URL('../../node_modules', import.meta.url));
  const texts = await Promise.all(
    [...names].toSorted().map(async (name) => {
      const folder = join(root, name);
      const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
        readonly version: string;
        readonly license: string;
      };
      const file = (await readdir(folder)).find((each) => /^licen[cs]e/i.test(each));
      const text = file === undefined ? '' : await readFile(join(folder, file), 'utf8');
      return `${name} ${manifest.version}, ${manifest.license}\n\n${text.trim()}\n`;
    }),
  );
  return texts.join(`\n${'-'.repeat(72)}\n\n`);
}

/** When the newest of the sources changed, in milliseconds since 1970; 0: there are none. */
export async function newestSource(): Promise<number> {
  const folders = [WEB_SOURCES, fileURLToPath(new URL('./view', import.meta.url))];
  const times = await Promise.all(
    folders.map(async (folder) => {
      const names = await readdir(folder, { recursive: true }).catch(() => []);
      const stats = await Promise.all(names.map((name) => stat(join(folder, name))));
      return Math.max(0, ...stats.map(({ mtimeMs }) => mtimeMs));
    }),
  );
  return Math.max(...times);
}
