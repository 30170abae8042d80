/**
 * The note that a started server leaves beside its database, `.everloop/server.json`, so that other
 * processes find and share it. A note is a hint: whoever reads it asks the server before using it.
 */
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { isPlainObject } from '../../core/base/json.ts';

/** What is written down about a running server. */
export interface ServerState {
  readonly v: 1;
  /** `127.0.0.1:7233` */
  readonly address: string;
  readonly namespace: string;
  /** Of the server itself. */
  readonly pid: number;
  /** When it was ready, in milliseconds since 1970. */
  readonly startedAtMs: number;
  readonly logFile: string;
  readonly uiUrl?: string;
}

/** What the note says, or undefined when there is none or it is not one of ours. */
export async function readServerState(stateFile: string): Promise<ServerState | undefined> {
  const text = await readFile(stateFile, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  let state: unknown;
  try {
    state = JSON.parse(text);
  } catch {
    // A note that cannot be read is as good as none: it is overwritten by the next start.
    return undefined;
  }
  return isServerState(state) ? state : undefined;
}

/** Writes the note, whole or not at all. */
export async function writeServerState(stateFile: string, state: ServerState): Promise<void> {
  const draft = `${stateFile}.${process.pid}`;
  await writeFile(draft, `${JSON.stringify(state, null, 2)}\n`);
  await rename(draft, stateFile);
}

/** Removes the note when it still speaks of the server with this process id. */
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
