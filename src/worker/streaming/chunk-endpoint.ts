/**
 * Serves the chunks and events of a worker to readers in other processes: one read-only HTTP endpoint that
 * speaks the protocol of `core/streaming/chunk-wire.ts`, and gives the list of `agents-wire.ts`.
 *
 * I1  A publisher never waits for a reader. Each reader has a bounded subscription, which loses its
 *     oldest chunks when the reader is slow. Without readers, nothing is serialized.
 * I2  A reader that blocks a write for `drainMs` is disconnected.
 * I3  Every request needs a token, except for the question of a browser which headers it may send.
 *     Without one, the answer says only that.
 * I4  A scoped token opens one tree, and its streams end when it expires. It does not open the list
 *     of agents.
 * I5  Connections are bounded, and one that sends no request in time is closed: nobody needs a token
 *     to connect.
 */
import { randomUUID } from 'node:crypto';
import type { Server, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono, type Context } from 'hono';
import type {
  ChunkSubscription,
  EventSubscription,
  ReaderSubscription,
} from '../../client/streaming/chunk-queue.ts';
import { defined } from '../../core/base/defined.ts';
import {
  MAX_FILTER_TYPES,
  type ChunkFilter,
  type LiveFilter,
  type LiveItem,
} from '../../core/streaming/chunk.ts';
import { AGENTS_PATH } from '../../core/streaming/agents-wire.ts';
import {
  END_EVENT,
  EVENTS_PARAMETER,
  helloEvent,
  itemEvent,
  PING_MS,
  WIRE_PATH,
  wireText,
  type WireEvent,
} from '../../core/streaming/chunk-wire.ts';
import { hostText } from '../../http/host-names.ts';
import { disconnectAll, listen, REQUEST_BOUNDS } from '../../http/listen.ts';
import type { StreamScope } from '../../protection/stream-token.ts';
import { readerAccess } from './reader-access.ts';
import type { StreamTls } from './stream-tls.ts';

const DRAIN_MS = 30_000;

// If something else in this process serves with Hono, the global `Response` may be a class of Hono's.
// The headers of such a response are looked at only after somebody has asked for its body.
void RESPONSE_ALREADY_SENT.body;

/** A worker with more readers than this needs a fan-out proxy in front of it. */
const MAX_READERS = 1_000;

/** Connections beside those of readers: of requests that are being read or refused. */
const SPARE_CONNECTIONS = 100;

/** The part of all readers that scoped tokens of one tree may have: they are in many browsers. */
const TREE_PART = 0.1;

/** What {@link openChunkEndpoint} takes. */
export interface ChunkEndpointOptions {
  /** Where chunks and events come from, such as a bus. */
  readonly source: {
    readonly subscribe: (filter: ChunkFilter) => ChunkSubscription;
    /** Begins with a `feed` mark. Default: readers who want events get none, and are told so. */
    readonly subscribeEvents?: (filter: LiveFilter) => EventSubscription;
  };
  /**
   * Gives the body of `GET /agents`; undefined while the worker is not ready. Default: this endpoint
   * has no such path.
   */
  readonly agents?: () => string | undefined;
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
  const { host = '127.0.0.1', port = 0, tls, maxReaders = MAX_READERS } = options;
  const { fetch } = endpointApp(options);
  const { headersTimeout } = REQUEST_BOUNDS;
  const kind =
    tls === undefined
      ? { serverOptions: REQUEST_BOUNDS }
      : {
          createServer: createTlsServer,
          serverOptions: { ...REQUEST_BOUNDS, ...tls, handshakeTimeout: headersTimeout },
        };
  // The process is the user's, so its global Request and Response must stay as they are.
  const server = createAdaptorServer({ fetch, overrideGlobalObjects: false, ...kind }) as Server;
  server.maxConnections = maxReaders + SPARE_CONNECTIONS;
  const bound = await listen(server, host, port);
  const { address } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${hostText(address)}:${bound}`,
    close: () => disconnectAll(server),
  };
}

function endpointApp(options: ChunkEndpointOptions): Hono<Env> {
  const { source, agents, maxReaders = MAX_READERS, drainMs = DRAIN_MS } = options;
  const access = readerAccess(options.token);
  const instance = randomUUID();
  const places = createPlaces(maxReaders);
  const paths = agents === undefined ? [WIRE_PATH] : [WIRE_PATH, AGENTS_PATH];
  const app = new Hono<Env>();
  app.use(async (c, next) => {
    // A token is the only credential, and no browser sends it by itself, so any page may ask.
    c.header('access-control-allow-origin', '*');
    if (c.req.method === 'OPTIONS') return allowHeaders(c);
    const granted = access(c.req.header('authorization'));
    if (granted === null) return refuse(c, 401, 'Expected a token of this worker.');
    if (!paths.includes(c.req.path)) {
      return refuse(c, 404, `Expected the path ${paths.join(' or ')}.`);
    }
    if (c.req.method !== 'GET') return refuse(c, 405, 'Expected GET.');
    const scope = granted === 'all' ? undefined : granted;
    if (scope !== undefined && !isWithin(scope, c)) {
      return refuse(c, 401, 'Expected a token of this worker.');
    }
    // A response that waits for another on its connection has no socket, and nothing tells its end.
    if (c.env.outgoing.socket === null) {
      return refuse(c, 503, 'Expected one request at a time on a connection.');
    }
    if (!places.isFree(scope)) return refuse(c, 503, 'Too many readers. Try again later.');
    c.set('scope', scope);
    return next();
  });
  if (agents !== undefined) app.get(AGENTS_PATH, (c) => sendAgents(c, agents, places, drainMs));
  app.get(WIRE_PATH, (c) => {
    const scope = c.get('scope');
    const { runId, rootRunId: asked, events, types: named } = c.req.query();
    const rootRunId = scope?.rootRunId ?? asked;
    const types = named?.split(',', MAX_FILTER_TYPES);
    const opened = subscriptionOf(source, defined({ runId, rootRunId, types }), events);
    const { subscription, hasEvents } = opened;
    const leave = places.take(scope);
    const stopExpiry = endAt(scope, subscription, c.env.outgoing);
    void sendAll(subscription, helloEvent(instance, hasEvents), c.env.outgoing, options).finally(
      () => {
        leave();
        stopExpiry();
        subscription.unsubscribe();
      },
    );
    return RESPONSE_ALREADY_SENT;
  });
  return app;
}

/** Sends the list of agents whole; its reader has a place until it has taken it, or was disconnected. */
function sendAgents(
  c: Context<Env>,
  agents: () => string | undefined,
  places: Places,
  drainMs: number,
): Response {
  const body = agents();
  if (body === undefined) return refuse(c, 503, 'The worker is not ready. Try again later.');
  const { outgoing } = c.env;
  const leave = places.take(undefined);
  const timer = setTimeout(() => outgoing.destroy(), drainMs);
  outgoing.once('close', () => {
    clearTimeout(timer);
    leave();
  });
  const type = 'application/json; charset=utf-8';
  return c.body(body, 200, { 'content-type': type, 'cache-control': 'no-store' });
}

/** Whether a request asks for nothing but the tree of `scope`. */
function isWithin({ rootRunId }: StreamScope, c: Context<Env>): boolean {
  const asked = c.req.query('rootRunId');
  return c.req.path === WIRE_PATH && (asked === undefined || asked === rootRunId);
}

/** Subscribes a reader; `events` is the parameter of its request. */
function subscriptionOf(
  source: ChunkEndpointOptions['source'],
  { types, ...filter }: LiveFilter,
  events: string | undefined,
): { readonly subscription: ReaderSubscription<LiveItem>; readonly hasEvents: boolean } {
  const wants = EVENTS_PARAMETER.find((value) => value === events);
  if (wants === undefined || source.subscribeEvents === undefined) {
    return { subscription: source.subscribe(filter), hasEvents: false };
  }
  const subscription = source.subscribeEvents({
    ...filter,
    ...defined({ types }),
    text: wants === '1',
  });
  return { subscription, hasEvents: true };
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
  { unsubscribe }: ReaderSubscription<LiveItem>,
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

const STREAM_HEADERS = {
  // A token is the only credential, and no browser sends it by itself, so any page may ask.
  'access-control-allow-origin': '*',
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // A proxy that buffers responses would hold the stream back for ever.
  'x-accel-buffering': 'no',
} as const;

/**
 * Sends `first`, then what the subscription gives, until it ends or the reader leaves. Never rejects.
 * It writes to the response itself: web streams around it took a tenth of the time of a worker whose
 * runs are read.
 */
async function sendAll(
  subscription: ReaderSubscription<LiveItem>,
  first: WireEvent,
  outgoing: ServerResponse,
  { drainMs = DRAIN_MS, pingMs = PING_MS }: ChunkEndpointOptions,
): Promise<void> {
  // A disconnect in the middle of a write must not end the process.
  outgoing.on('error', () => undefined);
  outgoing.once('close', subscription.unsubscribe);
  if (outgoing.destroyed) subscription.unsubscribe();
  const isTaken = (event: WireEvent): boolean => outgoing.write(wireText(event));
  const pinging = setInterval(() => {
    if (outgoing.writableNeedDrain || outgoing.write(': ping\n\n')) return;
    void drained(outgoing, drainMs);
  }, pingMs);
  try {
    outgoing.writeHead(200, STREAM_HEADERS);
    if (!isTaken(first)) await drained(outgoing, drainMs);
    for await (const item of subscription) {
      if (!isTaken(itemEvent(item))) await drained(outgoing, drainMs);
    }
    clearInterval(pinging);
    outgoing.end(wireText(END_EVENT));
    if (outgoing.writableLength > 0) await drained(outgoing, drainMs);
  } catch {
    outgoing.destroy();
  } finally {
    clearInterval(pinging);
  }
}

/** Waits until the reader has taken what was written, or is gone; after `drainMs` it is. */
function drained(outgoing: ServerResponse, drainMs: number): Promise<void> {
  if (outgoing.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const settle = (): void => {
      clearTimeout(timer);
      for (const event of ['drain', 'finish', 'close']) outgoing.off(event, settle);
      resolve();
    };
    const timer = setTimeout(() => {
      outgoing.destroy();
      settle();
    }, drainMs);
    for (const event of ['drain', 'finish', 'close']) outgoing.once(event, settle);
  });
}

function refuse(c: Context<Env>, status: 401 | 404 | 405 | 503, text: string): Response {
  return c.text(`${text}\n`, status, { connection: 'close' });
}
