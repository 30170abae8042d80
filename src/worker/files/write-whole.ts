/** Writes files so that a reader sees all of a file or nothing, even when processes race. */
import { randomUUID } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';

/** Writes `text` to a new file beside `path`, then renames that file to `path`. */
export async function writeWhole(path: string, text: string, mode?: number): Promise<void> {
  const draft = `${path}.${randomUUID()}.tmp`;
  try {
    await writeFile(draft, text, { mode });
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}
