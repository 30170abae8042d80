import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { errorText } from '../../../core/base/error-text.ts';
import { archiveDirOf } from '../../../client/reading/archive-reader.ts';
import type { DoctorCheck } from '../check.ts';

/** A worker can write the pages of links that the service will forget. */
export const archiveFolder: DoctorCheck = {
  code: 'archive-not-writable',
  area: 'settings',
  find: async ({ cwd, config }) => {
    const folder = archiveDirOf(resolve(cwd, config.dataDir));
    const problem = await writeProblem(folder);
    if (problem === null) return [];
    return [
      {
        severity: 'error',
        message: `Expected the archive \`${folder}\` to be a folder that this user may write, got: ${problem}. Events and messages of earlier links are lost when the service forgets them.`,
        advice: 'Give the user of the worker this folder, or another one by `EVERLOOP_DATA_DIR`.',
      },
    ];
  },
};

/** Why nothing can be written to a folder, or to the nearest one above it that exists. */
async function writeProblem(folder: string): Promise<string | null> {
  try {
    if (!(await stat(folder)).isDirectory()) return `\`${folder}\` is a file`;
    await access(folder, constants.W_OK | constants.X_OK);
    return null;
  } catch (error) {
    const isMissing = (error as { readonly code?: unknown }).code === 'ENOENT';
    if (isMissing && dirname(folder) !== folder) return writeProblem(dirname(folder));
    return errorText(error);
  }
}
