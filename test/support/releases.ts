/** Packages of earlier releases, unpacked where their imports find the packages of this repository. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The release before this one. */
const PREVIOUS = fileURLToPath(new URL('../releases/everloop-0.1.0.tgz', import.meta.url));

const UNPACKED = fileURLToPath(new URL('../../.everloop/releases', import.meta.url));

/**
 * The folder of the previous release: `package` in it holds what was published. It is unpacked once and
 * stays, with the workflow bundle that its workers build there. Processes may race.
 */
export async function previousRelease(): Promise<string> {
  const digest = createHash('sha256')
    .update(await readFile(PREVIOUS))
    .digest('hex')
    .slice(0, 12);
  const folder = join(UNPACKED, digest);
  if (existsSync(folder)) return folder;
  await mkdir(UNPACKED, { recursive: true });
  const draft = await mkdtemp(join(UNPACKED, 'draft-'));
  await promisify(execFile)('tar', ['-xzf', PREVIOUS, '-C', draft]);
  await rename(draft, folder).catch(async (error: unknown) => {
    await rm(draft, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  });
  return folder;
}
