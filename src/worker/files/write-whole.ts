/**
 * Writes files so that a reader sees all of a file or nothing, even when processes race. Nothing is
 * synced: after a loss of power a file may be missing or empty, which its readers allow for. What a run
 * keeps may be confidential, so only the user of the process may read its files and folders.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { syncFile } from '../../protection/blobs/sync-file.ts';

/** Mode of a file that only its owner may read. */
const PRIVATE_FILE = 0o600;

/** Ends the names of files that are not whole yet. */
export const DRAFT = '.tmp';

/** Mode of a folder that only its owner may read. */
const PRIVATE_FOLDER = 0o700;

/** Creates `folder` and those above it, unless they exist; others cannot read a new one. */
export async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
}

/**
 * Writes `text` to a new file beside `path`, and when it is on the disk renames that file to `path`.
 */
export async function writeWhole(
  path: string,
  text: string | AsyncIterable<string>,
): Promise<void> {
  const draft = `${path}.${randomUUID()}${DRAFT}`;
  try {
    const file = await open(draft, 'wx', PRIVATE_FILE);
    try {
      // Part by part: the file system of Yarn's Plug'n'Play takes no iterable.
      for await (const part of typeof text === 'string' ? [text] : text) {
        await writeFile(file, part);
      }
      await syncFile(file);
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}
