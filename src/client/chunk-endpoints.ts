/**
 * Where workers offer provisional text: notes that those of this machine leave in the data folder, and
 * addresses that a fleet was given.
 */
import { lookup } from 'node:dns/promises';
import { readdir, readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isPlainObject } from '../core/base/json.ts';

/** One worker's endpoint. */
export interface EndpointAddress {
  /** `http://127.0.0.1:41233` */
  readonly url: string;
  readonly token: string;
  /** The address to connect to, when the name in `url` stands for several. */
  readonly ip?: { readonly address: string; readonly family: number };
}

/** The endpoints that there are now. A failure means that this is not known at the moment. */
export type FindEndpoints = () => Promise<readonly EndpointAddress[]>;

/** The note that a worker leaves about its endpoint. */
export interface EndpointNote {
  readonly v: 1;
  readonly url: string;
  readonly token: string;
  readonly pid: number;
  /** A folder may be shared between machines, an address of this one means nothing there. */
  readonly host: string;
}

/** The folder of the notes, below the data folder. */
export function endpointNotesDir(dataDir: string): string {
  return join(dataDir, 'streams');
}

/** The notes in a folder, by file; without it there are none. What is no note of ours is left out. */
export async function readEndpointNotes(dir: string): Promise<ReadonlyMap<string, EndpointNote>> {
  const names = await readdir(dir).catch((): string[] => []);
  const read = names
    .filter((name) => name.endsWith('.json'))
    .map(async (name) => {
      // A note may go between the list and this line: its worker has stopped.
      const note = noteOf(await readFile(join(dir, name), 'utf8').catch(() => ''));
      return note === undefined ? [] : [[join(dir, name), note] as const];
    });
  return new Map((await Promise.all(read)).flat());
}

function noteOf(text: string): EndpointNote | undefined {
  let note: unknown;
  try {
    note = JSON.parse(text);
  } catch {
    return undefined;
  }
  const isNote =
    isPlainObject(note) &&
    note['v'] === 1 &&
    ['url', 'token', 'host'].every((name) => typeof note[name] === 'string') &&
    typeof note['pid'] === 'number';
  return isNote ? (note as unknown as EndpointNote) : undefined;
}

/** Workers of this machine with this data folder. */
export function announcedEndpoints(dataDir: string): FindEndpoints {
  return async () => {
    const notes = await readEndpointNotes(endpointNotesDir(dataDir));
    return [...notes.values()]
      .filter((note) => note.host === hostname())
      .map(({ url, token }) => ({ url, token }));
  };
}

/**
 * Workers at given addresses. A name that stands for several addresses, such as that of a headless
 * service, stands for as many workers.
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
