/**
 * `init`: writes a new project, made from the folder `template` of the package. With `--next`, the
 * files in `template/next` come on top.
 */
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { UsageError } from '../../core/base/usage-error.ts';
import { print, type Cli, type CommandRunner } from '../terminal/cli.ts';

const PACKAGE = new URL('../../../package.json', import.meta.url);
const TEMPLATE = fileURLToPath(new URL('../../../template', import.meta.url));
const NEXT = 'next';

/** Files that npm leaves out of packages under their own names. */
const RENAMED: Readonly<Record<string, string>> = {
  gitignore: '.gitignore',
  dockerignore: '.dockerignore',
};

/** Adds `init`. */
export function addInitCommand(program: Command, act: CommandRunner): void {
  program
    .command('init')
    .argument('[folder]', 'where to write it; default: this folder', '.')
    .summary('write a new project')
    .description(
      'Writes a project with an agent, its tests, a worker and a compose file. It overwrites nothing.',
    )
    .option('--next', 'with a chat in Next, and a page of it')
    .action((folder: string, { next }: { readonly next?: boolean }) =>
      act((cli) => init(cli, folder, next === true)),
    );
}

async function init(cli: Cli, name: string, hasPage: boolean): Promise<number> {
  const { cwd } = cli.io;
  const folder = resolve(cwd, name);
  const sources = await sourcesOf(hasPage);
  const files = [...sources.keys()].toSorted();
  refuseExisting(folder, files, name);
  const { version } = JSON.parse(await readFile(PACKAGE, 'utf8')) as { readonly version: string };
  for (const [file, source] of sources) {
    const text = await readFile(source, 'utf8');
    const filled = file === 'package.json' ? packageOf(text, folder, version) : text;
    await mkdir(dirname(join(folder, file)), { recursive: true });
    // Fails, rather than overwrites, if the file has come meanwhile.
    await writeFile(join(folder, file), filled, { flag: 'wx' });
  }
  const place = relative(cwd, folder);
  const enter = place === '' ? [] : [`  cd ${place}`];
  const page = hasPage ? ['  npm run dev            # in another terminal: the page'] : [];
  const next = [...enter, '  npm install', '  npm test', '  npx everloop dev', ...page];
  return print(cli, `Wrote ${files.join(', ')}. Next:\n\n${next.join('\n')}\n`, { folder, files });
}

/** The file of the template for each file of the project. */
async function sourcesOf(hasPage: boolean): Promise<ReadonlyMap<string, string>> {
  const sources = new Map<string, string>();
  for (const folder of hasPage ? ['.', NEXT] : ['.']) {
    const from = join(TEMPLATE, folder);
    for (const entry of await readdir(from, { recursive: true, withFileTypes: true })) {
      const path = relative(from, join(entry.parentPath, entry.name));
      const isOfNext = folder === '.' && path.startsWith(join(NEXT, '/'));
      if (entry.isFile() && !isOfNext) sources.set(RENAMED[path] ?? path, join(from, path));
    }
  }
  return sources;
}

function refuseExisting(folder: string, files: readonly string[], name: string): void {
  const present = files.filter((file) => existsSync(join(folder, file)));
  if (present.length === 0) return;
  throw new UsageError(
    'init_exists',
    `Expected a folder without ${present.join(', ')}, got them in \`${name}\`. Name another folder.`,
  );
}

/** The package file of the project: named after its folder, with this version of Everloop. */
function packageOf(template: string, folder: string, version: string): string {
  const fields = JSON.parse(template) as { readonly dependencies: object };
  const dependencies = { ...fields.dependencies, everloop: `^${version}` };
  const filled = { ...fields, name: packageName(basename(folder)), dependencies };
  return `${JSON.stringify(filled, null, 2)}\n`;
}

/** The longest name that npm accepts. */
const MAX_NAME = 214;

function packageName(folder: string): string {
  const name = folder
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return name.slice(0, MAX_NAME) || 'agents';
}
