import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parsedJson } from '../../../client/streaming/parsed-json.ts';
import { isPlainObject } from '../../../core/base/json.ts';
import type { DoctorCheck, DoctorProblem } from '../check.ts';

/** Two copies of these do not recognise each other's values. */
const SINGLE = ['@temporalio/common', 'protobufjs'];

/** Has a copy of its own in every install, and gives none of its values to other packages. */
const APART = join('@grpc', 'proto-loader');

/** Folders of packages within packages are read so deep. */
const MAX_DEPTH = 4;

/** There is one copy of each package that must not be there twice. */
export const copies: DoctorCheck = {
  code: 'package-copies',
  area: 'packages',
  find: async ({ cwd }) => {
    const problems: DoctorProblem[] = [];
    for (const name of SINGLE) {
      const found = await copiesOf(join(cwd, 'node_modules'), name, MAX_DEPTH);
      if (found.length < 2) continue;
      problems.push({
        severity: 'error',
        message: `Expected one copy of ${name}, got ${found.length}: ${found.join(', ')}.`,
        advice: `Run \`npm ls ${name}\`, and give all packages one version, for example by \`overrides\`.`,
      });
    }
    return problems;
  },
};

/** The versions of a package in a folder `node_modules` and in those below. */
async function copiesOf(modules: string, name: string, depth: number): Promise<readonly string[]> {
  const file = join(modules, name, 'package.json');
  const version = versionIn(await readFile(file, 'utf8').catch(() => ''));
  const own = version === undefined ? [] : [`${version} in ${modules}`];
  if (depth === 0) return own;
  const below = await Promise.all(
    (await packagesIn(modules))
      .filter((path) => path !== APART)
      .map((path) => copiesOf(join(modules, path, 'node_modules'), name, depth - 1)),
  );
  return [...own, ...below.flat()];
}

function versionIn(text: string): string | undefined {
  const value = parsedJson(text);
  const version = isPlainObject(value) ? value['version'] : undefined;
  return typeof version === 'string' ? version : undefined;
}

async function packagesIn(modules: string): Promise<readonly string[]> {
  const names = await readdir(modules).catch(() => []);
  const scoped = await Promise.all(
    names
      .filter((name) => name.startsWith('@'))
      .map(async (scope) =>
        (await readdir(join(modules, scope)).catch(() => [])).map((name) => join(scope, name)),
      ),
  );
  return [...names.filter((name) => !/^[@.]/.test(name)), ...scoped.flat()];
}
