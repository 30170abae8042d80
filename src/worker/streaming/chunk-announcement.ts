/** Writes the note in the data folder that leads readers on this machine to a worker's endpoint. */
import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import {
  endpointNotesDir,
  readEndpointNotes,
  type EndpointNote,
} from '../../client/chunk-endpoints.ts';
import { isRunning } from '../server/server-lock.ts';
import { writeWhole } from '../files/write-whole.ts';

/**
 * Writes the note, and removes notes of dead processes on this machine. The note contains the
 * token, so only this user may read it. Returns a function that removes the note.
 */
export async function announceEndpoint(
  dataDir: string,
  { url, token }: { readonly url: string; readonly token: string },
): Promise<() => Promise<void>> {
  const dir = endpointNotesDir(dataDir);
  await mkdir(dataDir, { recursive: true });
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await removeDead(dir);
  const note: EndpointNote = { v: 1, url, token, pid: process.pid, host: hostname() };
  const file = join(dir, `${process.pid}-${randomUUID().slice(0, 8)}.json`);
  await writeWhole(file, JSON.stringify(note), 0o600);
  return () => rm(file, { force: true });
}

async function removeDead(dir: string): Promise<void> {
  for (const [file, note] of await readEndpointNotes(dir)) {
    if (note.host === hostname() && !isRunning(note.pid)) await rm(file, { force: true });
  }
}
