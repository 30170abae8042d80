/**
 * Serves the chunks of a worker to readers in other processes: one read-only HTTP endpoint that
 * speaks the protocol of `core/streaming/chunk-wire.ts`.
 *
 * I1  A publisher never waits for a reader. Each reader has a bounded subscription, which loses its
 *     oldest chunks when the reader is slow. Without readers, nothing is serialized.
 * I2  A reader that blocks a write for `drainMs` is disconnected.
 * I3  Every request needs a token, except for the question of a browser which headers it may send.
 *     Without one, the answer says only that.
 * I4  A scoped token opens one tree, and its streams end when it expires.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
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
import type { StreamScope } from '../../protection/stream-token.ts';
import { readerAccess } from './reader-access.ts';
import type { StreamTls } from './stream-tls.ts';

const DRAIN_MS = 30_000;

/** A worker with more readers than this needs a fan-out proxy in front of it. */
const MAX_READERS = 1_000;

/** The part of all readers that scoped tokens of one tree may have: they are in many browsers. */
const TREE_PART = 0.1;

/** What {@link openChunkEndpoint} takes. */
export interface ChunkEndpointOptions {
  /** Where chunks come from, such as a bus. */
  readonly source: { readonly subscribe: (filter: ChunkFilter) => ChunkSubscription };
  /** The token that a reader must send; several, separated by commas: one of them. */
  readonly token: string;
  /** Certificate and key in PEM form; default: plain HTTP. */
  readonly tls?: StreamTls;
  /** Interface to listen on; default 127.0.0.1. */
  readonly host?: string;
  /** Default 0: any free port. */
  readonly port?: number;
  /** How long a reader may block a write; default 30 s. */
  readonly drainMs?: number;
  /** How often a silent stream sends a comment; default {@link PING_MS}. */
  readonly pingMs?: number;
  /** Maximum number of concurrent readers; default 1,000. A tenth of it for the scoped tokens of a tree. */
  readonly maxReaders?: number;
}

/** An open endpoint. */
export interface ChunkEndpoint {
  /** `http://127.0.0.1:41233`, with TLS `https://127.0.0.1:41233` */
  readonly url: string;
  /** Disconnects all readers and stops listening. */
  readonly close: () => Promise<void>;
}

type Env = { Bindings: HttpBindings; Variables: { readonly scope: StreamScope | undefined } };

/** Starts to listen; rejects with the system's error when it cannot. */
export async function openChunkEndpoint(options: ChunkEndpointOptions): Promise<ChunkEndpoint> {
  const { host = '127.0.0.1', port = 0, tls } = options;
  const { fetch } = endpointApp(options);
  const secure =
    tls === undefined ? undefined : { createServer: createTlsServer, serverOptions: { ...tls } };
  // The process is the user's, so its global Request and Response must stay as they are.
  const server = createAdaptorServer({ fetch, overrideGlobalObjects: false, ...secure }) as Server;
  server.listen(port, host);
  await once(server, 'listening');
  // A connection can fail to open, for example when the process has too many open files.
  server.on('error', () => undefined);
  const { address, family, port: bound } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${family === 'IPv6' ? `[${address}]` : address}:${bound}`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function endpointApp(options: ChunkEndpointOptions): Hono<Env> {
  const { source, maxReaders = MAX_READERS } = options;
  const access = readerAccess(options.token);
  const instance = randomUUID();
  const places = createPlaces(maxReaders);
  const app = new Hono<Env>();
  app.use(async (c, next) => {
    // A token is the only credential, and no browser sends it by itself, so any page may ask.
    c.header('access-control-allow-origin', '*');
    if (c.req.method === 'OPTIONS') return allowHeaders(c);
    const granted = access(c.req.header('authorization'));
    if (granted === null) return refuse(c, 401, 'Expected a token of this worker.');
    if (c.req.path !== WIRE_PATH) return refuse(c, 404, `Expected the path ${WIRE_PATH}.`);
    if (c.req.method !== 'GET') return refuse(c, 405, 'Expected GET.');
    const scope = granted === 'all' ? undefined : granted;
    const { rootRunId } = c.req.query();
    if (scope !== undefined && rootRunId !== undefined && rootRunId !== scope.rootRunId) {
      return refuse(c, 401, 'Expected a token of this worker.');
    }
    if (!places.isFree(scope)) return refuse(c, 503, 'Too many readers. Try again later.');
    c.set('scope', scope);
    return next();
  });
  app.get(WIRE_PATH, (c) => {
    const scope = c.get('scope');
    const { runId, rootRunId: asked } = c.req.query();
    const rootRunId = scope?.rootRunId ?? asked;
    const subscription = source.subscribe(defined({ runId, rootRunId }));
    const leave = places.take(scope);
    const stopExpiry = endAt(scope, subscription, c.env.outgoing);
    const response = streamSSE(c, async (stream) => {
      stream.onAbort(subscription.unsubscribe);
      try {
        await stream.writeSSE(helloEvent(instance));
        await sendAll(subscription, stream, c.env.outgoing, options);
      } finally {
        leave();
        stopExpiry();
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

/** Counts readers, and those of each tree that have scoped tokens. */
interface Places {
  readonly isFree: (scope: StreamScope | undefined) => boolean;
  /** Takes a place; returns the function that gives it back. */
  readonly take: (scope: StreamScope | undefined) => () => void;
}

function createPlaces(maxReaders: number): Places {
  const maxOfTree = Math.max(1, Math.floor(maxReaders * TREE_PART));
  const trees = new Map<string, number>();
  let readers = 0;
  const add = (scope: StreamScope | undefined, by: 1 | -1): void => {
    readers += by;
    if (scope === undefined) return;
    const count = (trees.get(scope.rootRunId) ?? 0) + by;
    if (count === 0) trees.delete(scope.rootRunId);
    else trees.set(scope.rootRunId, count);
  };
  return {
    isFree: (scope) =>
      readers < maxReaders &&
      (scope === undefined || (trees.get(scope.rootRunId) ?? 0) < maxOfTree),
    take: (scope) => {
      add(scope, 1);
      return () => add(scope, -1);
    },
  };
}

/** How long the last event of an expired stream may be on its way. */
const EXPIRED_MS = 1_000;

/** Ends a stream when its token expires. Returns a function that ends the wait. */
function endAt(
  scope: StreamScope | undefined,
  { unsubscribe }: ChunkSubscription,
  outgoing: ServerResponse,
): () => void {
  if (scope === undefined) return () => undefined;
  let timer = setTimeout(() => {
    unsubscribe();
    // A reader that takes nothing would keep what was written before.
    timer = setTimeout(() => outgoing.destroy(), EXPIRED_MS);
  }, scope.expiresAt - Date.now());
  return () => clearTimeout(timer);
}

/** The answer to the question of a browser that is about to read for a page of another address. */
function allowHeaders(c: Context<Env>): Response {
  c.header('access-control-allow-methods', 'GET');
  c.header('access-control-allow-headers', 'authorization');
  c.header('access-control-max-age', '600');
  return c.body(null, 204);
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
