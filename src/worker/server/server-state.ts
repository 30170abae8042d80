/**
 * The note about a running server, `.everloop/server.json`, by which other processes find and share
 * it. A note may be out of date, so its readers probe the server before they use it.
 */
import { readFile, rm } from 'node:fs/promises';
import { parsedJson } from '../../client/streaming/parsed-json.ts';
import { isPlainObject } from '../../core/base/json.ts';
import { writeWhole } from '../files/write-whole.ts';

/** The content of the note. */
export interface ServerState {
  readonly v: 1;
  /** `127.0.0.1:7233` */
  readonly address: string;
  readonly namespace: string;
  /** Process id of the server itself. */
  readonly pid: number;
  /** When it was ready, in milliseconds since 1970. */
  readonly startedAtMs: number;
  readonly logFile: string;
  readonly uiUrl?: string;
}

/** Reads the note; undefined if there is none or it is not ours. */
export async function readServerState(stateFile: string): Promise<ServerState | undefined> {
  // The next start overwrites an unreadable note.
  const state = parsedJson(await readFile(stateFile, 'utf8').catch(() => ''));
  return isServerState(state) ? state : undefined;
}

/** Writes the note. */
export async function writeServerState(stateFile: string, state: ServerState): Promise<void> {
  await writeWhole(stateFile, `${JSON.stringify(state, null, 2)}\n`);
}

/** Removes the note if it is about the server with this process id. */
export async function removeServerState(stateFile: string, pid: number): Promise<void> {
  const state = await readServerState(stateFile);
  if (state === undefined || state.pid === pid) await rm(stateFile, { force: true });
}

function isServerState(value: unknown): value is ServerState {
  return (
    isPlainObject(value) &&
    value['v'] === 1 &&
    typeof value['address'] === 'string' &&
    typeof value['namespace'] === 'string' &&
    typeof value['pid'] === 'number' &&
    typeof value['startedAtMs'] === 'number' &&
    typeof value['logFile'] === 'string' &&
    ['string', 'undefined'].includes(typeof value['uiUrl'])
  );
}
