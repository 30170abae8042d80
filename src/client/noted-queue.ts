/**
 * The task queue of a folder, `.everloop/queue.json`: `everloop dev` serves it, so that the agents of
 * another folder, which may use the same server, do not take its work.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isPlainObject } from '../core/base/json.ts';
import { parsedJson } from './streaming/parsed-json.ts';

/** The note in a data folder. */
export function queueNote(dataDir: string): string {
  return join(dataDir, 'queue.json');
}

/** The queue that the note of the data folder names; undefined if there is none. */
export async function notedQueue(dataDir: string): Promise<string | undefined> {
  const note = parsedJson(await readFile(queueNote(dataDir), 'utf8').catch(() => ''));
  const queue = isPlainObject(note) ? note['taskQueue'] : undefined;
  return typeof queue === 'string' && queue !== '' ? queue : undefined;
}
