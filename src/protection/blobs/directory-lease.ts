/** A lease in a folder: which of several processes does the work of an hour. */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from './gone-files.ts';

const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;

/** Whose time says when the lease was last taken or renewed, and whose content by whom. */
const LEASE_FILE = 'gc.lease';

/**
 * Whether no other holder has taken the lease of `folder` within `ms`: then `holder`, an id, has it from
 * now on.
 */
export async function takeLease(folder: string, ms: number, holder: string): Promise<boolean> {
  const path = join(folder, LEASE_FILE);
  try {
    if ((await readNow(path)) === holder) {
      const now = new Date();
      await utimes(path, now, now);
      return true;
    }
    const taken = await stat(path).catch(() => undefined);
    if (taken !== undefined) {
      if (Date.now() - taken.mtimeMs < ms) return false;
      // Of several processes, one moves the old file away.
      const aside = `${path}.${randomUUID()}.tmp`;
      await rename(path, aside);
      await rm(aside, { force: true });
    }
    await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
    await writeFile(path, holder, { flag: 'wx', mode: PRIVATE_FILE });
    return true;
  } catch (error) {
    // Another process was faster.
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** What the file holds; undefined if there is none. */
async function readNow(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}
