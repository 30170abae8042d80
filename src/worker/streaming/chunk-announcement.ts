/** The note about an endpoint that a worker leaves in the data folder, so that readers of the machine find it. */
import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import {
  endpointNotesDir,
  readEndpointNotes,
  type EndpointNote,
} from '../../client/chunk-endpoints.ts';

/**
 * Writes the note, readable by this user alone since it has the token, and removes those of processes
 * of this machine that have died. Returns what takes it away again.
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
  const draft = `${file}.draft`;
  await writeFile(draft, JSON.stringify(note), { mode: 0o600 });
  await rename(draft, file);
  return () => rm(file, { force: true });
}

async function removeDead(dir: string): Promise<void> {
  for (const [file, note] of await readEndpointNotes(dir)) {
    if (note.host === hostname() && !isAlive(note.pid)) await rm(file, { force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    // Signal 0 asks and does nothing.
    return process.kill(pid, 0);
  } catch (error) {
    // A process of another user is alive too.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
