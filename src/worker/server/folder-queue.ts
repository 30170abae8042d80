/** Chooses the task queue of a folder, and notes it for clients and for the next start. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DEFAULT_TASK_QUEUE } from '../../client/everloop-client.ts';
import { notedQueue, queueNote } from '../../client/noted-queue.ts';
import { makeFolder, writeWhole } from '../files/write-whole.ts';

/**
 * The task queue of the data folder: the noted one, else `everloop-1f3a…` after the path of the
 * folder. A folder with the database of an earlier version keeps `everloop`, where its runs are.
 */
export async function folderQueue(dataDir: string): Promise<string> {
  const noted = await notedQueue(dataDir);
  if (noted !== undefined) return noted;
  const folder = resolve(dataDir);
  const taskQueue = existsSync(join(folder, 'temporal.db'))
    ? DEFAULT_TASK_QUEUE
    : `${DEFAULT_TASK_QUEUE}-${createHash('sha256').update(folder).digest('hex').slice(0, 12)}`;
  try {
    await makeFolder(folder);
    await writeWhole(queueNote(folder), `${JSON.stringify({ v: 1, taskQueue }, null, 2)}\n`);
  } catch {
    // A folder that cannot be written has no database either, so the next start chooses the same.
  }
  return taskQueue;
}
