/** How large the built pages are: what the first page loads, what it loads later, all of it. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** Sizes in bytes; those of scripts and styles as they are sent by a server that compresses. */
export interface WebSizes {
  /** Of the scripts that the first page loads: the main one, and what it imports at once. */
  readonly firstScripts: number;
  readonly styles: number;
  /** Of the largest script that is loaded when it is needed. */
  readonly largestLater: number;
  /** Of all assets, as they lie in the folder. */
  readonly folder: number;
}

/** The sizes of the pages that were built into `folder`. */
export async function webSizes(folder: string): Promise<WebSizes> {
  const assets = join(folder, 'assets');
  const names = await readdir(assets);
  const gzipped = async (name: string): Promise<number> =>
    gzipSync(await readFile(join(assets, name)), { level: 9 }).length;
  const allGzipped = (some: readonly string[]): Promise<readonly number[]> =>
    Promise.all(some.map(gzipped));
  const first = await firstScripts(folder);
  const later = names.filter((name) => name.endsWith('.js') && !first.has(name));
  const styles = names.filter((name) => name.endsWith('.css'));
  const all = await Promise.all(names.map((name) => stat(join(assets, name))));
  return {
    firstScripts: sum(await allGzipped([...first])),
    styles: sum(await allGzipped(styles)),
    largestLater: Math.max(...(await allGzipped(later))),
    folder: sum(all.map(({ size }) => size)),
  };
}

async function firstScripts(folder: string): Promise<ReadonlySet<string>> {
  const page = await readFile(join(folder, 'index.html'), 'utf8');
  const seen = new Set<string>();
  const queue = [...page.matchAll(/assets\/([\w-]+\.js)/g)].map((match) => match[1] ?? '');
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    const text = await readFile(join(folder, 'assets', next), 'utf8');
    for (const match of text.matchAll(/(?:from|import)\s*"\.\/([\w-]+\.js)"/g)) {
      queue.push(match[1] ?? '');
    }
  }
  return seen;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
