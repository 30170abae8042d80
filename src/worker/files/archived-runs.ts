/**
 * What the archive's folder holds, run by run. The folder of a run is named by its first execution; a
 * note in it says which run that is, because the service asks for that.
 *
 * I1  A folder without a note is of no known run and is left alone.
 * I2  Deleting takes what is older than a limit, file by file: what is written meanwhile stays.
 * I3  Notes of forks have no age: whoever deletes has looked whether a fork needs the run.
 */
import { readFile, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { namesIn } from '../../protection/blobs/gone-files.ts';
import { isForkNote } from './fork-notes.ts';
import { writeWhole } from './write-whole.ts';

/** The note of a folder. */
const NOTE = 'run.json';

/** Whose folder it is. */
export interface RunNote {
  readonly namespace: string;
  readonly workflowId: string;
}

/** A run whose pages are archived. */
export interface ArchivedRun extends RunNote {
  /** The first execution of the chain: the name of the folder. */
  readonly runId: string;
  /** When the newest page was written, in ms since 1970. */
  readonly newestAt: number;
  readonly bytes: number;
}

/** Notes whose folder it is, once. */
export async function noteRun(folder: string, note: RunNote): Promise<void> {
  const path = join(folder, NOTE);
  const isNoted = await stat(path).then(Boolean, () => false);
  if (!isNoted) await writeWhole(path, JSON.stringify(note));
}

/** The runs that have pages in `directory`. */
export async function* archivedRuns(directory: string): AsyncGenerator<ArchivedRun> {
  for (const name of await namesIn(directory)) {
    const folder = join(directory, name);
    const note = await readNote(folder);
    if (note === undefined) continue;
    let [newestAt, bytes] = [0, 0];
    for (const file of await namesIn(folder)) {
      const found = await stat(join(folder, file)).catch(() => undefined);
      if (!isForkNote(file)) newestAt = Math.max(newestAt, found?.mtimeMs ?? 0);
      bytes += found?.size ?? 0;
    }
    yield { ...note, runId: name, newestAt, bytes };
  }
}

/**
 * Deletes the files of `folder` that are older than `before`, and the notes of forks; and `folder` if
 * it is empty then.
 */
export async function removePages(folder: string, before: number): Promise<void> {
  const names = await namesIn(folder);
  // The note is the last: without it, what is left would be of no known run.
  for (const name of names.toSorted(
    (left, right) => Number(left === NOTE) - Number(right === NOTE),
  )) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found === undefined) continue;
    if (found.mtimeMs >= before && !isForkNote(name)) return;
    await rm(path, { force: true });
  }
  // Something may have come meanwhile.
  await rmdir(folder).catch(() => undefined);
}

/** Whose `folder` it is; undefined without a note. */
export async function readNote(folder: string): Promise<RunNote | undefined> {
  try {
    const note = JSON.parse(await readFile(join(folder, NOTE), 'utf8')) as Partial<RunNote>;
    const { namespace, workflowId } = note;
    if (typeof namespace !== 'string' || typeof workflowId !== 'string') return undefined;
    return { namespace, workflowId };
  } catch {
    return undefined;
  }
}
