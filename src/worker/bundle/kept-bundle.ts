/** The file that keeps a bundle, with the hash of every file that went into it. */
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parsedJson } from '../../client/streaming/parsed-json.ts';
import { isPlainObject } from '../../core/base/json.ts';
import { makeFolder, writeWhole } from '../files/write-whole.ts';

/** A bundle, and the files that went into it. */
export interface MadeBundle {
  readonly code: string;
  readonly files: readonly string[];
}

/** Increase it when the format of the cache file or the settings of the bundler change. */
export const CACHE_VERSION = 8;

/** The cached code; undefined if there is none or a source file has changed. */
export async function readKept(cacheFile: string): Promise<string | undefined> {
  // Missing or unreadable: build again.
  const cached = parsedJson(await readFile(cacheFile, 'utf8').catch(() => ''));
  if (!isPlainObject(cached) || cached['v'] !== CACHE_VERSION) return undefined;
  const { code, hashes } = cached;
  if (typeof code !== 'string' || !isPlainObject(hashes)) return undefined;
  try {
    const found = await hashFiles(Object.keys(hashes));
    return Object.entries(found).every(([file, hash]) => hashes[file] === hash) ? code : undefined;
  } catch {
    // A source file is gone.
    return undefined;
  }
}

/** Keeps a bundle that was begun at `startedAtMs`, unless a file that went into it changed meanwhile. */
export async function keepBundle(
  cacheFile: string,
  { code, files }: MadeBundle,
  startedAtMs: number,
): Promise<void> {
  const hashes = await hashFiles(files);
  // It may be in the bundle in either version (I1).
  if ((await newestChange(files)) >= startedAtMs) return;
  await makeFolder(dirname(cacheFile));
  await writeWhole(cacheFile, JSON.stringify({ v: CACHE_VERSION, hashes, code }));
}

async function hashFiles(files: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const hashes = await Promise.all(
    files.map(async (file) => [file, hashOf(await readFile(file))] as const),
  );
  return Object.fromEntries(hashes);
}

async function newestChange(files: readonly string[]): Promise<number> {
  const times = await Promise.all(files.map(async (file) => (await stat(file)).mtimeMs));
  return Math.max(0, ...times);
}

/** The SHA-256 of `content`, in hex. */
export function hashOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
