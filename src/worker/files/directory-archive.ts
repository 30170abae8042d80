/**
 * The default archive: a folder for each run, with one file for each execution of it. A file is written
 * as a whole, so a reader never sees half a file. An activity that runs twice writes the same file.
 */
import { join } from 'node:path';
import type { Archive, ArchivedLink, ArchivedPages } from '../../activities/archive-transcript.ts';
import { archiveFileName, listLine, runLine } from '../../client/reading/archive-file.ts';
import { archiveFolderOf, createArchiveReader } from '../../client/reading/archive-reader.ts';
import { NO_PROTECTION, type Protection } from '../../protection/protection.ts';
import { sealedLines, type SealedLines } from '../../protection/sealed-lines.ts';
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
    write: async (link, pages) => {
      const folder = join(directory, archiveFolderOf(link.runId));
      await makeFolder(folder);
      await writeWhole(join(folder, archiveFileName(link)), linesOf(lines, link, pages));
    },
    noteFork: async ({ runId, run }, fork) => {
      const folder = join(directory, archiveFolderOf(runId));
      await makeFolder(folder);
      await noteFork(folder, run, fork);
    },
    ...createArchiveReader(directory, protection),
  };
}

/** A file, page by page: no more of it is held. */
async function* linesOf(
  lines: SealedLines,
  { run }: ArchivedLink,
  pages: ArchivedPages,
): AsyncGenerator<string> {
  yield `${runLine(run)}\n`;
  let open: string | undefined;
  for await (const { list, items } of pages) {
    if (list !== open) yield `${listLine(list)}\n`;
    open = list;
    const sealed = await lines.seal(
      items.map((item) => JSON.stringify(item)),
      run,
    );
    yield sealed.map((line) => `${line}\n`).join('');
  }
}
