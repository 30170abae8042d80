/**
 * Finds the workers that serve provisional text. Workers on this machine leave notes in the data
 * folder; other workers have configured addresses.
 */
import { lookup } from 'node:dns/promises';
import { readdir, readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { parsedJson } from './parsed-json.ts';
import { isPlainObject } from '../../core/base/json.ts';

/** One worker's endpoint. */
export interface EndpointAddress {
  /** `http://127.0.0.1:41233` */
  readonly url: string;
  readonly token: string;
  /** The address to connect to, when the name in `url` resolves to several. */
  readonly ip?: { readonly address: string; readonly family: number };
}

/** Lists the current endpoints. A rejection means that they are unknown at the moment. */
export type FindEndpoints = () => Promise<readonly EndpointAddress[]>;

/**
 * `find` for many readers: one that asks within `ms` of another gets what that one gets, unless it
 * was a rejection.
 */
export function sharedFind(find: FindEndpoints, ms: number): FindEndpoints {
  let last: { readonly at: number; readonly found: ReturnType<FindEndpoints> } | undefined;
  return () => {
    const now = performance.now();
    if (last !== undefined && now - last.at < ms) return last.found;
    const own = { at: now, found: find() };
    last = own;
    own.found.catch(() => {
      if (last === own) last = undefined;
    });
    return own.found;
  };
}

/** The note that a worker writes about its endpoint. */
export interface EndpointNote {
  readonly v: 1;
  readonly url: string;
  readonly token: string;
  readonly pid: number;
  /** The worker's machine. Machines may share the folder, but `url` works only on this machine. */
  readonly host: string;
}

/** The default folder for databases, caches, logs and notes. It should be in `.gitignore`. */
export const DEFAULT_DATA_DIR = '.everloop';

/** The folder of the notes, inside the data folder. */
export function endpointNotesDir(dataDir: string): string {
  return join(dataDir, 'streams');
}

/** The notes in a folder, by path. A missing folder has none; unreadable notes are skipped. */
export async function readEndpointNotes(dir: string): Promise<ReadonlyMap<string, EndpointNote>> {
  const names = await readdir(dir).catch((): string[] => []);
  const read = names
    .filter((name) => name.endsWith('.json'))
    .map(async (name) => {
      // The file may be gone by now, because its worker stopped.
      const note = noteOf(await readFile(join(dir, name), 'utf8').catch(() => ''));
      return note === undefined ? [] : [[join(dir, name), note] as const];
    });
  return new Map((await Promise.all(read)).flat());
}

function noteOf(text: string): EndpointNote | undefined {
  const note = parsedJson(text);
  const isNote =
    isPlainObject(note) &&
    note['v'] === 1 &&
    ['url', 'token', 'host'].every((name) => typeof note[name] === 'string') &&
    typeof note['pid'] === 'number';
  return isNote ? (note as unknown as EndpointNote) : undefined;
}

/** Finds the workers on this machine that use this data folder. */
export function announcedEndpoints(dataDir: string): FindEndpoints {
  return async () => {
    const notes = await readEndpointNotes(endpointNotesDir(dataDir));
    return [...notes.values()]
      .filter((note) => note.host === hostname())
      .map(({ url, token }) => ({ url, token }));
  };
}

/**
 * Finds the workers at configured addresses. A name that resolves to several addresses, such as the
 * name of a headless service, counts as several workers.
 */
export function namedEndpoints(urls: readonly string[], token: string): FindEndpoints {
  return async () => {
    const found = urls.map(async (url): Promise<readonly EndpointAddress[]> => {
      const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
      const ips = await lookup(host, { all: true }).catch(() => []);
      return ips.map((ip) => ({ url, token, ip }));
    });
    return (await Promise.all(found)).flat();
  };
}
