/** Reads the folder of archived pages: one file for each execution of a run, in a folder for the run. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json } from '../../core/base/json.ts';
import { NO_PROTECTION, type Protection } from '../../protection/protection.ts';
import { sealedLines } from '../../protection/sealed-lines.ts';
import { firstIn, readLines, type FolderList } from './archive-file.ts';

/** The folder of the archive, inside the data folder. */
export function archiveDirOf(dataDir: string): string {
  return join(dataDir, 'archive');
}

/** A reader of all lists of the archive, also of states that links handed over and of histories. */
export interface FolderReader {
  /** Items `from` to `until` - 1; fewer if some are missing. */
  read(runId: string, list: FolderList, from: number, until: number): Promise<readonly Json[]>;
}

/** A reader of the archive in `directory`, which need not be there. Opens encrypted lines. */
export function createArchiveReader(
  directory: string,
  protection: Protection = NO_PROTECTION,
): FolderReader {
  const sealed = sealedLines(protection);
  return {
    read: async (runId, list, from, until) => {
      const folder = join(directory, archiveFolderOf(runId));
      const files = await filesOf(folder, list);
      const items: Json[] = [];
      for (const [place, { name, first }] of files.entries()) {
        // Files are in the order of links; after a gap, the rest is not in this archive.
        if (first > from + items.length || first >= until) break;
        if ((files[place + 1]?.first ?? Infinity) <= from) continue;
        const range = { from: from + items.length - first, until: until - first };
        const opened = await sealed.open(await readLines(join(folder, name), list, range));
        for (const line of opened) items.push(JSON.parse(line) as Json);
      }
      return items;
    },
  };
}

/** Run ids of the service are UUIDs. Any other id must not lead out of the folder. */
export function archiveFolderOf(runId: string): string {
  return encodeURIComponent(runId).replaceAll('.', '%2E');
}

async function filesOf(
  folder: string,
  list: FolderList,
): Promise<readonly { readonly name: string; readonly first: number }[]> {
  // Without a folder, this run has no archive.
  const names = await readdir(folder).catch((): readonly string[] => []);
  return names
    .flatMap((name) => {
      const first = firstIn(name, list);
      return first === undefined ? [] : [{ name, first }];
    })
    .toSorted((left, right) => (left.name < right.name ? -1 : 1));
}
