/**
 * The default archive: a folder with one file for each list of each link. A file is written as a
 * whole, so a reader never sees half a file. An activity that runs twice writes the same file.
 */
import { join } from 'node:path';
import type { Archive, ArchivedLink } from '../../activities/archive-transcript.ts';
import { archiveFolderOf, createArchiveReader } from '../../client/reading/archive-reader.ts';
import { NO_PROTECTION, type Protection } from '../../protection/protection.ts';
import { sealedLines } from '../../protection/sealed-lines.ts';
import { noteRun } from './archived-runs.ts';
import { noteFork } from './fork-notes.ts';
import { makeFolder, writeWhole } from './write-whole.ts';

/**
 * An archive in `directory`, which the first write creates. With keys in `protection` each line is
 * encrypted; lines that are not are read as well.
 */
export function createDirectoryArchive(
  directory: string,
  protection: Protection = NO_PROTECTION,
): Archive {
  const lines = sealedLines(protection);
  return {
    write: async (link, items) => {
      const folder = join(directory, archiveFolderOf(link.runId));
      await makeFolder(folder);
      if (link.run !== undefined) await noteRun(folder, link.run);
      const plain = items.map((item) => JSON.stringify(item));
      const sealed = await lines.seal(plain, link.run);
      const text = sealed.map((line) => `${line}\n`).join('');
      await writeWhole(join(folder, fileOf(link)), text);
    },
    noteFork: async ({ runId, run }, fork) => {
      const folder = join(directory, archiveFolderOf(runId));
      await makeFolder(folder);
      await noteRun(folder, run);
      await noteFork(folder, fork);
    },
    ...createArchiveReader(directory, protection),
  };
}

function fileOf({ list, link, first }: ArchivedLink): string {
  return `${list}-${String(link).padStart(6, '0')}-${first}.jsonl`;
}
