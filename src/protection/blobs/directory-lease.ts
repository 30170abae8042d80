/** A lease in a folder: which of several processes does the work of an hour. */
import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;

/** Whose time says when a process last took the lease. */
const LEASE_FILE = 'gc.lease';

/** Whether no process has taken the lease of `folder` within `ms`: then this one has it now. */
export async function takeLease(folder: string, ms: number): Promise<boolean> {
  const path = join(folder, LEASE_FILE);
  const taken = await stat(path).catch(() => undefined);
  if (taken !== undefined) {
    if (Date.now() - taken.mtimeMs < ms) return false;
    // Of several processes, one moves the old file away.
    const aside = `${path}.${randomUUID()}.tmp`;
    try {
      await rename(path, aside);
      await rm(aside, { force: true });
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return false;
      throw error;
    }
  }
  try {
    await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
    await (await open(path, 'wx', PRIVATE_FILE)).close();
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | null)?.code;
}
