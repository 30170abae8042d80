/** Opens the bus of a worker process, and the endpoint for readers in other processes. */
import { randomBytes, randomUUID } from 'node:crypto';
import { defined } from '../../core/base/defined.ts';
import { errorText } from '../../core/base/error-text.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import { createChunkBus, type ChunkBus } from './chunk-bus.ts';
import {
  openChunkEndpoint,
  type ChunkEndpoint,
  type ChunkEndpointOptions,
} from './chunk-endpoint.ts';
import { sentToken } from '../../protection/stream-token.ts';
import { streamTlsOf } from './stream-tls.ts';
import type { Cleanup } from '../config/cleanup.ts';
import type { WorkerConfig } from '../config/config.ts';
import { rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import {
  endpointNotesDir,
  readEndpointNotes,
  type EndpointNote,
} from '../../client/streaming/chunk-endpoints.ts';
import { isRunning } from '../server/server-lock.ts';
import { makeFolder, writeWhole } from '../files/write-whole.ts';

/** A bus, and the address of its endpoint. */
export interface Streaming {
  readonly bus: ChunkBus;
  /** Absent when the endpoint is off, or could not be opened. */
  readonly url?: string;
}

/**
 * Opens the bus and, unless it is off, the endpoint, which gives the list `agents` too; `cleanup`
 * closes both.
 *
 * @throws UsageError `stream_listen`, `stream_tls`.
 */
export async function openStreaming(
  config: Pick<
    WorkerConfig,
    'dataDir' | 'streamListen' | 'streamToken' | 'streamTls' | 'protection'
  >,
  cleanup: Cleanup,
  agents?: ChunkEndpointOptions['agents'],
): Promise<Streaming> {
  const tls = streamTlsOf(config);
  const bus = createChunkBus();
  cleanup.add(bus.close);
  const { streamListen: listen, dataDir } = config;
  if (listen === 'off') return { bus };
  // A random token is only in the note, so access to the note is access to the stream.
  const token = config.streamToken ?? randomBytes(24).toString('base64url');
  const options = { source: bus, token, ...defined({ tls, agents }) };
  const endpoint = await listenOn(listen ?? {}, options);
  if (endpoint === null) return { bus };
  cleanup.add(endpoint.close);
  const { url } = endpoint;
  if (listen === undefined) {
    try {
      cleanup.add(await announceEndpoint(dataDir, { url, token: sentToken(token) }));
    } catch (error) {
      warn(error);
    }
  }
  return { bus, url };
}

/**
 * Without an explicit address, a failure to listen or to write the note must not stop the worker.
 */
function warn(error: unknown): void {
  const cause = errorText(error);
  process.emitWarning(`Provisional text stays in this process: ${cause}`, 'EverloopWarning');
}

async function listenOn(
  listen: { readonly host?: string; readonly port?: number },
  options: ChunkEndpointOptions,
): Promise<ChunkEndpoint | null> {
  try {
    return await openChunkEndpoint({ ...options, ...listen });
  } catch (error) {
    if (listen.port === undefined) {
      warn(error);
      return null;
    }
    const cause = errorText(error);
    throw new UsageError(
      'stream_listen',
      `Expected to listen for readers of provisional text at ${listen.host}:${listen.port}, got: ${cause}. ` +
        'Correct `EVERLOOP_STREAM_LISTEN`, or set it to `off`.',
    );
  }
}

/**
 * Writes the note, and removes notes of dead processes on this machine. The note contains the
 * token, so only this user may read it. Returns a function that removes the note.
 */
export async function announceEndpoint(
  dataDir: string,
  { url, token }: { readonly url: string; readonly token: string },
): Promise<() => Promise<void>> {
  const dir = endpointNotesDir(dataDir);
  await makeFolder(dir);
  await removeDead(dir);
  const note: EndpointNote = { v: 1, url, token, pid: process.pid, host: hostname() };
  const file = join(dir, `${process.pid}-${randomUUID().slice(0, 8)}.json`);
  await writeWhole(file, JSON.stringify(note));
  return () => rm(file, { force: true });
}

async function removeDead(dir: string): Promise<void> {
  for (const [file, note] of await readEndpointNotes(dir)) {
    if (note.host === hostname() && !isRunning(note.pid)) await rm(file, { force: true });
  }
}
