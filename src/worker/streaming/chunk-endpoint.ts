/**
 * Serves the chunks of a worker to readers in other processes: one read-only HTTP endpoint that
 * speaks the protocol of `core/streaming/chunk-wire.ts`.
 *
 * I1  A publisher never waits for a reader. Each reader has a bounded subscription, which loses its
 *     oldest chunks when the reader is slow. Without readers, nothing is serialized.
 * I2  A reader that blocks a write for `drainMs` is disconnected.
 * I3  Every request needs the token. Without it, the answer says only that.
 */
import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import { Hono, type Context } from 'hono';
import { streamSSE, type SSEStreamingApi } from 'hono/streaming';
import type { ChunkSubscription } from '../../client/chunk-queue.ts';
import { defined } from '../../core/base/defined.ts';
import type { ChunkFilter } from '../../core/streaming/chunk.ts';
import {
  END_EVENT,
  helloEvent,
  itemEvent,
  PING_MS,
  WIRE_PATH,
} from '../../core/streaming/chunk-wire.ts';

const DRAIN_MS = 30_000;

/** A worker with more readers than this needs a fan-out proxy in front of it. */
const MAX_READERS = 1_000;

/** What {@link openChunkEndpoint} takes. */
export interface ChunkEndpointOptions {
  /** Where chunks come from, such as a bus. */
  readonly source: { readonly subscribe: (filter: ChunkFilter) => ChunkSubscription };
  /** The token that a reader must send. */
  readonly token: string;
  /** Interface to listen on; default 127.0.0.1. */
  readonly host?: string;
  /** Default 0: any free port. */
  readonly port?: number;
  /** How long a reader may block a write; default 30 s. */
  readonly drainMs?: number;
  /** How often a silent stream sends a comment; default {@link PING_MS}. */
  readonly pingMs?: number;
  /** Maximum number of concurrent readers; default 1,000. */
  readonly maxReaders?: number;
}

/** An open endpoint. */
export interface ChunkEndpoint {
  /** `http://127.0.0.1:41233` */
  readonly url: string;
  /** Disconnects all readers and stops listening. */
  readonly close: () => Promise<void>;
}

type Env = { Bindings: HttpBindings };

/** Starts to listen; rejects with the system's error when it cannot. */
export async function openChunkEndpoint(options: ChunkEndpointOptions): Promise<ChunkEndpoint> {
  const { host = '127.0.0.1', port = 0 } = options;
  const { fetch } = endpointApp(options);
  // The process is the user's, so its global Request and Response must stay as they are.
  const server = createAdaptorServer({ fetch, overrideGlobalObjects: false }) as Server;
  server.listen(port, host);
  await once(server, 'listening');
  // A connection can fail to open, for example when the process has too many open files.
  server.on('error', () => undefined);
  const { address, family, port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function endpointApp(options: ChunkEndpointOptions): Hono<Env> {
  const { source, token, maxReaders = MAX_READERS } = options;
  const instance = randomUUID();
  let readers = 0;
  const app = new Hono<Env>();
  app.use(async (c, next) => {
    if (!hasToken(c.req.header('authorization'), token)) {
      return refuse(c, 401, 'Expected the token of this worker.');
    }
    if (c.req.path !== WIRE_PATH) return refuse(c, 404, `Expected the path ${WIRE_PATH}.`);
    if (c.req.method !== 'GET') return refuse(c, 405, 'Expected GET.');
    if (readers >= maxReaders) return refuse(c, 503, 'Too many readers. Try again later.');
    return next();
  });
  app.get(WIRE_PATH, (c) => {
    const { runId, rootRunId } = c.req.query();
    const subscription = source.subscribe(defined({ runId, rootRunId }));
    readers += 1;
    const response = streamSSE(c, async (stream) => {
      stream.onAbort(subscription.unsubscribe);
      try {
        await stream.writeSSE(helloEvent(instance));
        await sendAll(subscription, stream, c.env.outgoing, options);
      } finally {
        readers -= 1;
        subscription.unsubscribe();
      }
    });
    response.headers.set('content-type', 'text/event-stream; charset=utf-8');
    response.headers.set('cache-control', 'no-store');
    // A proxy that buffers responses would hold the stream back for ever.
    response.headers.set('x-accel-buffering', 'no');
    return response;
  });
  return app;
}

/** Sends what the subscription gives until it ends. `stream` ignores writes after a disconnect. */
async function sendAll(
  subscription: ChunkSubscription,
  stream: SSEStreamingApi,
  outgoing: ServerResponse,
  { drainMs = DRAIN_MS, pingMs = PING_MS }: ChunkEndpointOptions,
): Promise<void> {
  // A disconnect in the middle of a write must not end the process.
  outgoing.on('error', () => undefined);
  let writes = 0;
  const write = async (send: () => Promise<unknown>): Promise<void> => {
    const timer = setTimeout(() => outgoing.destroy(), drainMs);
    writes += 1;
    await send();
    writes -= 1;
    clearTimeout(timer);
  };
  const pinging = setInterval(() => {
    if (writes === 0) void write(() => stream.write(': ping\n\n'));
  }, pingMs);
  try {
    for await (const item of subscription) await write(() => stream.writeSSE(itemEvent(item)));
    await write(() => stream.writeSSE(END_EVENT));
  } finally {
    clearInterval(pinging);
  }
}

function refuse(c: Context<Env>, status: 401 | 404 | 405 | 503, text: string): Response {
  return c.text(`${text}\n`, status, { connection: 'close' });
}

/** Compares digests of equal length, so the time that it takes reveals nothing about the token. */
function hasToken(authorization: string | undefined, token: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(authorization ?? ''), digest(`Bearer ${token}`));
}
