/**
 * What the archive's folder holds, run by run. The folder of a run is named by its first execution; its
 * files say which run that is, because the service asks for that.
 *
 * I1  A folder whose files do not say it is of no known run and is left alone.
 * I2  Deleting takes what is older than a limit, file by file: what is written meanwhile stays.
 * I3  Notes of forks have no age: whoever deletes has looked whether a fork needs the run.
 */
import { rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  isArchiveFile,
  linesOfFile,
  runOfLine,
  type RunNote,
} from '../../client/reading/archive-file.ts';
import { namesIn } from '../../protection/blobs/gone-files.ts';
import { isForkNote, sourceOf } from './fork-notes.ts';

/** A run whose pages are archived. */
export interface ArchivedRun extends RunNote {
  /** The first execution of the chain: the name of the folder. */
  readonly runId: string;
  /** When the newest page was written, in ms since 1970. */
  readonly newestAt: number;
  readonly bytes: number;
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
  // A page that is newer keeps the notes.
  for (const name of names.toSorted(
    (left, right) => Number(isForkNote(left)) - Number(isForkNote(right)),
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

/** Whose `folder` it is; undefined if no file says it. */
export async function readNote(folder: string): Promise<RunNote | undefined> {
  for (const name of await namesIn(folder)) {
    const note = isForkNote(name)
      ? await sourceOf(folder, name)
      : isArchiveFile(name)
        ? runOfLine(await firstLineOf(join(folder, name)))
        : undefined;
    if (note !== undefined) return note;
  }
  return undefined;
}

/** Empty if the file is, or has been deleted. */
async function firstLineOf(path: string): Promise<string> {
  try {
    for await (const line of linesOfFile(path)) return line;
  } catch {
    // A file that is gone says nothing.
  }
  return '';
}
