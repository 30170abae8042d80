/**
 * Counts and changes what encrypts the lines of the archive.
 *
 * I1  A file is replaced as a whole, by a draft that is on the disk: a crash leaves the old file or
 *     the new one.
 * I2  A worker may write meanwhile. It writes new files, or one that is there with the same items, so
 *     nothing is lost whichever of both comes last; what it wrote without keys is found the next time.
 * I3  A file keeps its time, by which it is deleted one day.
 * I4  A line has the key for its run, which the files of its folder name.
 * I5  What follows the last end of a line is a line too, and stays without an end.
 */
import { readFile, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { namesIn, orGone } from '../../protection/blobs/gone-files.ts';
import { KeyMissingError } from '../../protection/key-errors.ts';
import { keyIdOfLine, sealedLines, type SealedLines } from '../../protection/sealed-lines.ts';
import type { Protection } from '../../protection/protection.ts';
import { isArchiveFile, isMarkLine, type RunNote } from '../../client/reading/archive-file.ts';
import { readNote } from './archived-runs.ts';
import { DRAFT, writeWhole } from './write-whole.ts';

/** Lines of the archive by the id of the key that sealed them; `null`: plain lines. */
export type ArchivedKeys = ReadonlyMap<string | null, number>;

/** What was sealed. */
export interface SealedArchive {
  readonly files: number;
  readonly lines: number;
}

/** A file with lines. */
interface ArchiveFile {
  readonly path: string;
  /** Whose lines they are; undefined in a folder without a note. */
  readonly run: RunNote | undefined;
}

/** A draft of this age is one of a process that has died. */
const DEAD_DRAFT_MS = 3_600_000;

/** Counts the lines of the archive in `directory`. */
export async function archivedKeys(directory: string): Promise<ArchivedKeys> {
  const counts = new Map<string | null, number>();
  for await (const { path } of filesOf(directory)) {
    for (const line of (await linesOf(path)) ?? []) {
      if (isPlain(line)) continue;
      const id = keyIdOfLine(line) ?? null;
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
  }
  return counts;
}

/**
 * Seals the plain lines of the archive in `directory`, each with the key for its run; with `rekey`,
 * also the lines that other keys sealed. May be interrupted and run again.
 *
 * Where `keyFor` chooses keys, sealed lines of a folder without a note stay as they are: they may be
 * those of a tenant. Rejects with a KeyMissingError after the other files, or at once with a
 * PayloadDamagedError, for a line that cannot be opened or sealed.
 */
export async function sealArchive(
  directory: string,
  protection: Protection,
  { rekey = false }: { readonly rekey?: boolean } = {},
): Promise<SealedArchive> {
  const lines = sealedLines(protection);
  let sealed = { files: 0, lines: 0 };
  let missing: KeyMissingError | undefined;
  for await (const file of filesOf(directory)) {
    try {
      const isKnown = file.run !== undefined || protection.keyFor === undefined;
      const count = await sealFile(file, lines, rekey && isKnown);
      if (count > 0) sealed = { files: sealed.files + 1, lines: sealed.lines + count };
    } catch (error) {
      if (!(error instanceof KeyMissingError)) throw error;
      missing ??= error;
    }
  }
  if (missing !== undefined) throw missing;
  return sealed;
}

/** Returns how many lines were sealed. */
async function sealFile(
  { path, run }: ArchiveFile,
  lines: SealedLines,
  rekey: boolean,
): Promise<number> {
  const written = (await linesOf(path)) ?? [];
  if (!written.some((line) => !isPlain(line) && (rekey || keyIdOfLine(line) === undefined)))
    return 0;
  const [probe = ''] = await lines.seal([''], run);
  const current = keyIdOfLine(probe);
  const isOpen = (line: string): boolean => {
    const id = keyIdOfLine(line);
    return !isPlain(line) && (id === undefined || (rekey && id !== current));
  };
  const open = written.filter(isOpen);
  if (open.length === 0) return 0;
  const again = (await lines.seal(await lines.open(open), run)).values();
  const changed = written.map((line) => (isOpen(line) ? again.next().value : line));
  return (await replace(path, changed.join('\n'))) ? open.length : 0;
}

/** Replaces a file; false if it has been deleted meanwhile. */
async function replace(path: string, text: string): Promise<boolean> {
  try {
    const { atime, mtime } = await stat(path);
    await writeWhole(path, text);
    await utimes(path, atime, mtime);
    return true;
  } catch (error) {
    return orGone(error) ?? false;
  }
}

/** Lines that stay as they are: marks, and what follows the last end of a line in a whole file. */
function isPlain(line: string): boolean {
  return line === '' || isMarkLine(line);
}

/** The files of the archive. Drafts of processes that have died are deleted: nobody reads them. */
async function* filesOf(directory: string): AsyncGenerator<ArchiveFile> {
  for (const folder of await namesIn(directory)) {
    const run = await readNote(join(directory, folder));
    for (const name of await namesIn(join(directory, folder))) {
      const path = join(directory, folder, name);
      if (isArchiveFile(name)) yield { path, run };
      if (name.endsWith(DRAFT)) await removeDead(path);
    }
  }
}

async function removeDead(path: string): Promise<void> {
  const found = await stat(path).catch(orGone);
  if (found !== undefined && Date.now() - found.mtimeMs > DEAD_DRAFT_MS) {
    await rm(path, { force: true });
  }
}

/** The last is empty in a whole file. */
async function linesOf(path: string): Promise<readonly string[] | undefined> {
  const text = await readFile(path, 'utf8').catch(orGone);
  return text?.split('\n');
}
