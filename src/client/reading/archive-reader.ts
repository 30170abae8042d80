/**
 * Reads the folder of archived pages: one file for each list of each link of a run, in a folder for
 * the run.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json } from '../../core/base/json.ts';
import { NO_PROTECTION, type Protection } from '../../protection/protection.ts';
import { sealedLines } from '../../protection/sealed-lines.ts';
import type { ChainList } from './chain-reader.ts';

/** The folder of the archive, inside the data folder. */
export function archiveDirOf(dataDir: string): string {
  return join(dataDir, 'archive');
}

/** A list of the archive. */
type FolderList = ChainList | 'states' | 'histories';

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
  const lines = sealedLines(protection);
  return {
    read: async (runId, list, from, until) => {
      const folder = join(directory, archiveFolderOf(runId));
      const files = await filesOf(folder, list);
      const items: Json[] = [];
      for (const [place, { name, first }] of files.entries()) {
        // Files are in the order of links; after a gap, the rest is not in this archive.
        if (first > from + items.length || first >= until) break;
        if ((files[place + 1]?.first ?? Infinity) <= from) continue;
        const written = (await readFile(join(folder, name), 'utf8')).split('\n').slice(0, -1);
        const wanted = written.slice(Math.max(0, from + items.length - first), until - first);
        const opened = await lines.open(wanted);
        items.push(...opened.map((line) => JSON.parse(line) as Json));
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
  let names: readonly string[];
  try {
    names = await readdir(folder);
  } catch {
    // This run has no archive.
    return [];
  }
  return names
    .filter((name) => name.startsWith(`${list}-`) && name.endsWith('.jsonl'))
    .toSorted()
    .map((name) => ({ name, first: Number(name.slice(0, -'.jsonl'.length).split('-')[2]) }));
}
