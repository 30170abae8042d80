/**
 * The bundle of Everloop's own workflows that the package carries, so that a worker neither makes one
 * at its first start nor compares 700 files at each.
 *
 * I1  It equals a new build: it was made from the files beside it, and it is used only with the same
 *     versions of all packages that went into it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parsedJson } from '../../client/streaming/parsed-json.ts';
import { isPlainObject } from '../../core/base/json.ts';
import { CACHE_VERSION } from './kept-bundle.ts';

/** Beside the entries of the package; `npm run build` writes it, and the sources have none. */
const FILE = fileURLToPath(new URL('../../workflow-bundle.json', import.meta.url));

/** The packages that went into it; `@temporalio/common` brings those that this one does not. */
const PACKAGES = [
  '@temporalio/workflow',
  '@temporalio/common',
  'yaml',
  'long',
  'ms',
  'nexus-rpc',
] as const;

/** Its code; undefined if there is none, or if another version of a package is installed. */
export async function readShipped(file: string = FILE): Promise<string | undefined> {
  const shipped = parsedJson(await readFile(file, 'utf8').catch(() => ''));
  if (!isPlainObject(shipped) || shipped['v'] !== CACHE_VERSION) return undefined;
  const { code, versions } = shipped;
  if (typeof code !== 'string' || !isPlainObject(versions)) return undefined;
  const installed = installedVersions();
  return PACKAGES.every((name) => versions[name] === installed[name]) ? code : undefined;
}

/** The version of each package, as the modules that import it find it; absent: not found. */
export function installedVersions(): Readonly<Record<string, string | undefined>> {
  const here = createRequire(import.meta.url);
  const common = createRequire(here.resolve('@temporalio/common'));
  return Object.fromEntries(
    PACKAGES.map((name) => [name, versionFrom(name === 'yaml' ? here : common, name)]),
  );
}

/** The version of the package that `require` finds; packages need not export their description. */
function versionFrom(require: NodeJS.Require, name: string): string | undefined {
  for (const folder of require.resolve.paths(name) ?? []) {
    const file = join(folder, name, 'package.json');
    if (!existsSync(file)) continue;
    const described = parsedJson(readFileSync(file, 'utf8'));
    const version = isPlainObject(described) ? described['version'] : undefined;
    return typeof version === 'string' ? version : undefined;
  }
  return undefined;
}
