/** Syncs files and folders to the disk. */
import { fsync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';

const syncDescriptor = promisify(fsync);

/**
 * Waits until what was written by `handle` is on the disk. Like its method `sync`, which the file
 * system of Yarn's Plug'n'Play lacks.
 */
export async function syncFile({ fd }: FileHandle): Promise<void> {
  await syncDescriptor(fd);
}
