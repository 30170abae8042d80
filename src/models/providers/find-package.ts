/** Finds the packages of providers, which belong to the user. */
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { NamedProvider } from '../../define/model/provider-models.ts';

/** Where this file is; undefined in a bundle in CommonJS. */
const PLACE: string | undefined = import.meta.url;

/**
 * The folders in which packages are looked for, in this order: that of the module with the agents,
 * the working folder, that of the program, and this package's own.
 */
export function packageFolders(agentsModule: string | undefined): readonly string[] {
  const [, program] = process.argv;
  return [
    ...folderOf(agentsModule),
    process.cwd(),
    ...(program === undefined ? [] : [dirname(resolve(program))]),
    ...folderOf(PLACE),
  ];
}

function folderOf(module: string | undefined): readonly string[] {
  return module?.startsWith('file:') === true ? [dirname(fileURLToPath(module))] : [];
}

/** The file of a provider's package, from the first of `folders` that has it. */
export function findPackage(
  { package: name }: NamedProvider,
  folders: readonly string[],
): string | undefined {
  for (const folder of folders) {
    try {
      return createRequire(join(folder, 'any.js')).resolve(name);
    } catch {
      // Not found from here.
    }
  }
  return undefined;
}

/** What to say of a model whose package is in none of `folders`. */
export function absentPackage(
  id: string,
  { package: name }: NamedProvider,
  [folder]: readonly string[],
): string {
  return `Expected the package \`${name}\` for model \`${id}\` in ${folder}, got none. Run \`npm i ${name}\`.`;
}
