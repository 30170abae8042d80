import { appendFile, readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { existsSync } from 'node:fs';
import type { DoctorCheck } from '../check.ts';

/** The data folder is kept out of git: it holds what people and models wrote. */
export const ignoredFolder: DoctorCheck = {
  code: 'folder-not-ignored',
  area: 'packages',
  find: async ({ cwd, config }) => {
    const folder = resolve(cwd, config.dataDir);
    const name = basename(folder);
    const isInside = folder === join(cwd, name);
    if (!isInside || !existsSync(join(cwd, '.git'))) return [];
    const file = join(cwd, '.gitignore');
    const text = await readFile(file, 'utf8').catch(() => '');
    const lines = text.split('\n').map((line) => line.trim().replaceAll(/^\/|\/$/g, ''));
    if (lines.includes(name)) return [];
    return [
      {
        severity: 'warning',
        message: `Expected \`.gitignore\` to name \`${name}/\`, which holds databases and conversations, got no such line.`,
        advice: `Add the line \`${name}/\`.`,
        fix: () => appendFile(file, `${text === '' || text.endsWith('\n') ? '' : '\n'}${name}/\n`),
      },
    ];
  },
};
