/**
 * The bus of a worker for readers in other processes: one HTTP endpoint, read-only, in the protocol of
 * `core/streaming/chunk-wire.ts`.
 *
 * - E1: publishing knows nothing of it. A reader is a subscription like any other: bounded, losing its
 *   oldest pieces when it is slow, and without readers nothing is sent at all.
 * - E2: each wait has a deadline: a reader that takes nothing for `DRAIN_MS` is let go.
 * - E3: nobody reads without the token.
 */
import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ChunkSubscription } from '../../client/chunk-queue.ts';
import type { ChunkFilter } from '../../core/streaming/chunk.ts';
import {
  END_FRAME,
  helloFrame,
  itemFrame,
  PING_FRAME,
  PING_MS,
  WIRE_PATH,
} from '../../core/streaming/chunk-wire.ts';

/** How long a reader may take nothing while something waits for it. */
const DRAIN_MS = 30_000;

/** More readers than this at one worker need something between them and it. */
const MAX_READERS = 1_000;

/** What {@link openChunkEndpoint} takes. */
export interface ChunkEndpointOptions {
  /** Where pieces come from: a bus, or anything that reads from others. */
  readonly source: { readonly subscribe: (filter: ChunkFilter) => ChunkSubscription };
  /** What a reader must know. */
  readonly token: string;
  /** Interface to listen on; default 127.0.0.1. */
  readonly host?: string;
  /** Default 0: any that is free. */
  readonly port?: number;
  /** Default `DRAIN_MS`. */
  readonly drainMs?: number;
  /** Default {@link PING_MS}. */
  readonly pingMs?: number;
  /** Default 1,000. */
  readonly maxReaders?: number;
}

/** An endpoint that listens. */
export interface ChunkEndpoint {
  /** `http://127.0.0.1:41233` */
  readonly url: string;
  /** Lets readers go and stops listening. */
  readonly close: () => Promise<void>;
}

/** Listens; rejects with the error of the system when it cannot. */
export async function openChunkEndpoint(options: ChunkEndpointOptions): Promise<ChunkEndpoint> {
  const { source, host = '127.0.0.1', port = 0, maxReaders = MAX_READERS } = options;
  const instance = randomUUID();
  const subscriptions = new Set<ChunkSubscription>();
  const server = createServer((request, response) => {
    const refusal = refusalOf(request, options.token, subscriptions.size >= maxReaders);
    if (refusal !== null) return refuse(response, refusal);
    // A reader that goes in the middle of a write is no news, and no reason for a worker to end.
    response.on('error', () => undefined);
    const subscription = source.subscribe(filterOf(request));
    subscriptions.add(subscription);
    response.once('close', () => {
      subscriptions.delete(subscription);
      subscription.unsubscribe();
    });
    void pump(subscription, response, instance, options);
  });
  server.listen(port, host);
  await once(server, 'listening');
  // Nor is one that could not be let in, because the process has too many files open.
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

async function pump(
  subscription: ChunkSubscription,
  response: ServerResponse,
  instance: string,
  { drainMs = DRAIN_MS, pingMs = PING_MS }: ChunkEndpointOptions,
): Promise<void> {
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    // Proxies that gather an answer before they pass it on would hold it for ever.
    'x-accel-buffering': 'no',
  });
  response.write(helloFrame(instance));
  const pinging = setInterval(() => {
    // What waits for the reader already says that somebody is there.
    if (!response.writableNeedDrain && !response.destroyed) response.write(PING_FRAME);
  }, pingMs);
  response.once('close', () => clearInterval(pinging));
  for await (const item of subscription) {
    if (response.destroyed) return;
    if (!response.write(itemFrame(item))) await drained(response, drainMs);
  }
  if (!response.destroyed) response.end(END_FRAME);
}

/** Settles when the reader has taken what waited for it, or is gone. */
function drained(response: ServerResponse, drainMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => response.destroy(), drainMs);
    const settle = (): void => {
      clearTimeout(timer);
      response.off('drain', settle).off('close', settle);
      resolve();
    };
    response.once('drain', settle).once('close', settle);
  });
}

interface Refusal {
  readonly status: number;
  readonly text: string;
}

function refusalOf(request: IncomingMessage, token: string, isFull: boolean): Refusal | null {
  // Whoever lacks the token learns nothing else.
  if (!hasToken(request, token)) return { status: 401, text: 'Expected the token of this worker.' };
  if (urlOf(request).pathname !== WIRE_PATH) {
    return { status: 404, text: `Expected the path ${WIRE_PATH}.` };
  }
  if (request.method !== 'GET') return { status: 405, text: 'Expected GET.' };
  return isFull ? { status: 503, text: 'Too many readers. Try again later.' } : null;
}

function refuse(response: ServerResponse, { status, text }: Refusal): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
  response.end(`${text}\n`);
}

/** Compares digests, which are equally long: how long it takes says nothing of the token. */
function hasToken({ headers }: IncomingMessage, token: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(headers.authorization ?? ''), digest(`Bearer ${token}`));
}

function filterOf(request: IncomingMessage): ChunkFilter {
  const query = urlOf(request).searchParams;
  const [runId, rootRunId] = [query.get('runId'), query.get('rootRunId')];
  return {
    ...(runId === null ? {} : { runId }),
    ...(rootRunId === null ? {} : { rootRunId }),
  };
}

function urlOf({ url = '/' }: IncomingMessage): URL {
  return new URL(url, 'http://worker');
}
