/** `init`: writes a new project, made from the folder `template` of the package. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { UsageError } from '../../core/base/usage-error.ts';
import { print, type Cli, type CommandRunner } from '../terminal/cli.ts';

const PACKAGE = new URL('../../../package.json', import.meta.url);
const TEMPLATE = fileURLToPath(new URL('../../../template', import.meta.url));

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
    .action((folder: string) => act((cli) => init(cli, folder)));
}

async function init(cli: Cli, name: string): Promise<number> {
  const { cwd } = cli.io;
  const folder = resolve(cwd, name);
  const files = (await readdir(TEMPLATE)).toSorted().map((file) => RENAMED[file] ?? file);
  refuseExisting(folder, files, name);
  const { version } = JSON.parse(await readFile(PACKAGE, 'utf8')) as { readonly version: string };
  await mkdir(folder, { recursive: true });
  for (const file of await readdir(TEMPLATE)) {
    const text = await readFile(join(TEMPLATE, file), 'utf8');
    const filled = file === 'package.json' ? packageOf(text, folder, version) : text;
    // Fails, rather than overwrites, if the file has come meanwhile.
    await writeFile(join(folder, RENAMED[file] ?? file), filled, { flag: 'wx' });
  }
  const place = relative(cwd, folder);
  const enter = place === '' ? [] : [`  cd ${place}`];
  const next = [...enter, '  npm install', '  npm test', '  npx everloop dev'];
  return print(cli, `Wrote ${files.join(', ')}. Next:\n\n${next.join('\n')}\n`, { folder, files });
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
