import { readdir, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parsedJson } from '../../../client/streaming/parsed-json.ts';
import { isPlainObject } from '../../../core/base/json.ts';
import type { DoctorCheck, DoctorProblem } from '../check.ts';

/** The cached workflow bundles can be read. */
export const bundleCache: DoctorCheck = {
  code: 'broken-bundle-cache',
  area: 'packages',
  find: async ({ cwd, config }) => {
    const folder = join(resolve(cwd, config.dataDir), 'cache');
    const names = await readdir(folder).catch(() => []);
    const problems: DoctorProblem[] = [];
    for (const name of names.filter((one) => /^workflows-.*\.json$/.test(one))) {
      const file = join(folder, name);
      const value = parsedJson(await readFile(file, 'utf8').catch(() => ''));
      if (isPlainObject(value) && typeof value['code'] === 'string') continue;
      problems.push({
        severity: 'warning',
        message: `Expected \`${file}\` to be a workflow bundle, got something else.`,
        advice: 'Remove it; the next worker builds it anew.',
        fix: () => rm(file, { force: true }),
      });
    }
    return problems;
  },
};
