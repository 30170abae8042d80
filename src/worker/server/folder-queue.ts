/** Chooses the task queue of a folder, and notes it for clients and for the next start. */
import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { DEFAULT_TASK_QUEUE } from '../../client/everloop-client.ts';
import { notedQueue, queueNote } from '../../client/noted-queue.ts';
import { makeFolder, writeWhole } from '../files/write-whole.ts';

/** The task queue of the data folder: the noted one, else `everloop-1f3a…` after its path. */
export async function folderQueue(dataDir: string): Promise<string> {
  const noted = await notedQueue(dataDir);
  if (noted !== undefined) return noted;
  const folder = resolve(dataDir);
  const digest = createHash('sha256').update(folder).digest('hex');
  const taskQueue = `${DEFAULT_TASK_QUEUE}-${digest.slice(0, 12)}`;
  try {
    await makeFolder(folder);
    await writeWhole(queueNote(folder), `${JSON.stringify({ v: 1, taskQueue }, null, 2)}\n`);
  } catch {
    // The next start chooses the same.
  }
  return taskQueue;
}
