/** Opens the bus of a worker process, and the endpoint for readers in other processes. */
import { randomBytes } from 'node:crypto';
import { errorText } from '../../core/base/error-text.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import { announceEndpoint } from './chunk-announcement.ts';
import { createChunkBus, type ChunkBus } from './chunk-bus.ts';
import { openChunkEndpoint, type ChunkEndpoint } from './chunk-endpoint.ts';
import type { Cleanup } from '../config/cleanup.ts';
import type { WorkerConfig } from '../config/config.ts';

/** A bus, and the address of its endpoint. */
export interface Streaming {
  readonly bus: ChunkBus;
  /** Absent when the endpoint is off, or could not be opened. */
  readonly url?: string;
}

/** Opens the bus and, unless it is off, the endpoint; `cleanup` closes both. */
export async function openStreaming(
  config: Pick<WorkerConfig, 'dataDir' | 'streamListen' | 'streamToken'>,
  cleanup: Cleanup,
): Promise<Streaming> {
  const bus = createChunkBus();
  cleanup.add(bus.close);
  const { streamListen: listen, dataDir } = config;
  if (listen === 'off') return { bus };
  // A random token is only in the note, so access to the note is access to the stream.
  const token = config.streamToken ?? randomBytes(24).toString('base64url');
  const endpoint = await listenOn(listen ?? {}, bus, token);
  if (endpoint === null) return { bus };
  cleanup.add(endpoint.close);
  const { url } = endpoint;
  if (listen === undefined) {
    try {
      cleanup.add(await announceEndpoint(dataDir, { url, token }));
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
  source: ChunkBus,
  token: string,
): Promise<ChunkEndpoint | null> {
  try {
    return await openChunkEndpoint({ source, token, ...listen });
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
