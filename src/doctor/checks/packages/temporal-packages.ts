import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parsedJson } from '../../../client/streaming/parsed-json.ts';
import { isPlainObject } from '../../../core/base/json.ts';
import type { DoctorCheck, DoctorProblem } from '../check.ts';

/** The packages of Temporal's SDK have one version, and the project pins it exactly. */
export const temporalPackages: DoctorCheck = {
  code: 'temporal-packages',
  area: 'packages',
  find: async ({ cwd }) => [...(await installedProblems(cwd)), ...(await pinProblems(cwd))],
};

/** Released together, these have one version. */
const SDK = ['activity', 'client', 'common', 'proto', 'worker', 'workflow'];

async function installedProblems(cwd: string): Promise<readonly DoctorProblem[]> {
  const scope = join(cwd, 'node_modules', '@temporalio');
  const names = (await readdir(scope).catch((): string[] => [])).filter((one) => SDK.includes(one));
  const versions = await Promise.all(
    names.map(async (name) => (await readJson(join(scope, name, 'package.json')))['version']),
  );
  if (new Set(versions).size < 2) return [];
  const got = names.map((name, place) => `${name} ${String(versions[place])}`).join(', ');
  return [
    {
      severity: 'error',
      message: `Expected one version of all packages of \`@temporalio\`, got ${got}.`,
      advice: 'Give them one exact version in `package.json`, for example by `overrides`.',
    },
  ];
}

async function pinProblems(cwd: string): Promise<readonly DoctorProblem[]> {
  const manifest = await readJson(join(cwd, 'package.json'));
  const wanted = ['dependencies', 'devDependencies', 'optionalDependencies'].flatMap((field) => {
    const list = manifest[field];
    return isPlainObject(list) ? Object.entries(list) : [];
  });
  const loose = wanted.filter(
    ([name, range]) =>
      name.startsWith('@temporalio/') &&
      !(typeof range === 'string' && /^\d+\.\d+\.\d+/.test(range)),
  );
  if (loose.length === 0) return [];
  const got = loose.map(([name, range]) => `${name} ${String(range)}`).join(', ');
  return [
    {
      severity: 'warning',
      message: `Expected exact versions of \`@temporalio\` packages in package.json, got ${got}: two installs could differ.`,
      advice: 'Write the version without `^` or `~`: that of `npm ls @temporalio/common`.',
    },
  ];
}

async function readJson(file: string): Promise<{ readonly [field: string]: unknown }> {
  const value = parsedJson(await readFile(file, 'utf8').catch(() => ''));
  return isPlainObject(value) ? value : {};
}
