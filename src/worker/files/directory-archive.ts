/**
 * The default archive: a folder with one file for each list of each link. A file is written as a
 * whole, so a reader never sees half a file. An activity that runs twice writes the same file.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Archive, ArchivedLink, ArchivedList } from '../../activities/archive-transcript.ts';
import type { Json } from '../../core/base/json.ts';
import { NO_PROTECTION, type Protection } from '../../protection/protection.ts';
import { sealedLines } from '../../protection/sealed-lines.ts';
import { noteRun } from './archived-runs.ts';
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
    read: async (runId, list, from, until) => {
      const folder = join(directory, archiveFolderOf(runId));
      const files = await filesOf(folder, list);
      const items: Json[] = [];
      for (const { name, first } of files) {
        // Files are in the order of links; after a gap, the rest is not in this archive.
        if (first > from + items.length || first >= until) break;
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

function fileOf({ list, link, first }: ArchivedLink): string {
  return `${list}-${String(link).padStart(6, '0')}-${first}.jsonl`;
}

async function filesOf(
  folder: string,
  list: ArchivedList,
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
