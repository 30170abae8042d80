/**
 * The default archive: a folder with a file for each list of each link. A file is written once,
 * whole, beside its place and then moved there, so a reader sees all of it or nothing, and an
 * activity that runs twice leaves the same.
 */
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Archive, ArchivedLink, ArchivedList } from '../../activities/archive-transcript.ts';
import type { Json } from '../../core/base/json.ts';

/** An archive under `directory`, which is made when it is first written to. */
export function createDirectoryArchive(directory: string): Archive {
  return {
    write: async (link, items) => {
      const folder = join(directory, folderOf(link.runId));
      await mkdir(folder, { recursive: true });
      const path = join(folder, fileOf(link));
      const unfinished = `${path}.${randomUUID()}.tmp`;
      await writeFile(unfinished, items.map((item) => `${JSON.stringify(item)}\n`).join(''));
      await rename(unfinished, path);
    },
    read: async (runId, list, from, until) => {
      const folder = join(directory, folderOf(runId));
      const files = await filesOf(folder, list);
      const items: Json[] = [];
      for (const { name, first } of files) {
        // Links stand in order; a gap means that the rest is not to be had here.
        if (first > from + items.length || first >= until) break;
        const lines = (await readFile(join(folder, name), 'utf8')).split('\n').slice(0, -1);
        const wanted = lines.slice(Math.max(0, from + items.length - first), until - first);
        items.push(...wanted.map((line) => JSON.parse(line) as Json));
      }
      return items;
    },
  };
}

/** Run ids of the service are UUIDs; anything else must not leave the folder. */
function folderOf(runId: string): string {
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
    // Nothing was archived of this run.
    return [];
  }
  return names
    .filter((name) => name.startsWith(`${list}-`) && name.endsWith('.jsonl'))
    .toSorted()
    .map((name) => ({ name, first: Number(name.slice(0, -'.jsonl'.length).split('-')[2]) }));
}
