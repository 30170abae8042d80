/**
 * A codec server of its own: listens, and answers by `codec-handler.ts`.
 *
 * I1  Off the loopback it does not start without a token.
 * I2  A `Host` that is a name other than `localhost`, the given one or an allowed one is refused: a
 *     page of another site could otherwise reach this server through a name that leads here (DNS
 *     rebinding).
 * I3  Slow requests and readers are disconnected, and connections are bounded.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { errorText } from '../core/base/error-text.ts';
import { isLoopback } from '../core/base/loopback.ts';
import { UsageError } from '../core/base/usage-error.ts';
import { hostName, hostText } from '../http/host-names.ts';
import { disconnectAll, listen, REQUEST_BOUNDS } from '../http/listen.ts';
import { codecApp, type CodecAppParts } from './codec-handler.ts';

/** Default of `everloop codec serve`. */
export const CODEC_PORT = 7_246;

/** Options of {@link openCodecServer}. */
export interface CodecServerOptions extends CodecAppParts {
  /** Interface to listen on: an address or a name. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Further names under which clients reach the server, such as that of a proxy. Default: none. */
  readonly allowedHosts?: readonly string[];
}

/** A codec server that listens. */
export interface CodecServer {
  /** `http://127.0.0.1:7246` */
  readonly url: string;
  readonly port: number;
  /** Disconnects all clients and stops listening. */
  readonly close: () => Promise<void>;
}

/** How long a client may read nothing of an answer, in ms. */
const IDLE_MS = 30_000;

/** A web UI opens six. */
const MAX_CONNECTIONS = 256;

/**
 * Starts to listen.
 *
 * @throws UsageError `codec_server` if there is no token off the loopback, or the port is in use.
 */
export async function openCodecServer(options: CodecServerOptions): Promise<CodecServer> {
  const { host, port, token, allowedHosts = [] } = options;
  if (!isLoopback(host) && token === undefined) {
    throw new UsageError(
      'codec_server',
      `Expected a token for a codec server at \`${host}\`, which other machines reach, got none. Set EVERLOOP_CODEC_TOKEN.`,
    );
  }
  const server = createAdaptorServer({
    fetch: codecApp(options).fetch,
    // The process is the user's, so its global Request and Response must stay as they are.
    overrideGlobalObjects: false,
    serverOptions: REQUEST_BOUNDS,
  }) as Server;
  server.maxConnections = MAX_CONNECTIONS;
  server.setTimeout(IDLE_MS);
  checkHosts(
    server,
    new Set([host, 'localhost', ...allowedHosts].map((name) => name.toLowerCase())),
  );
  const bound = await listen(server, host, port).catch((error: unknown) => {
    throw inUse(host, port, error);
  });
  return {
    url: `http://${hostText(host)}:${bound}`,
    port: bound,
    close: () => disconnectAll(server),
  };
}

function inUse(host: string, port: number, cause: unknown): UsageError {
  const message = `Expected to listen at ${host}:${port}, got: ${errorText(cause)}. Choose another with \`--listen\`, or stop what listens there.`;
  return Object.assign(new UsageError('codec_server', message), { cause });
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/** Puts the check of `Host` before everything else. */
function checkHosts(server: Server, names: ReadonlySet<string>): void {
  const [answer] = server.listeners('request') as Listener[];
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    // A client that leaves in the middle of an answer must not end the process.
    response.on('error', () => undefined);
    if (isKnownHost(request.headers.host, names)) return answer?.(request, response);
    response.writeHead(403, { 'content-type': 'text/plain', connection: 'close' });
    response.end('Expected another Host. Allow it with --allow-host.\n');
  });
}

/** An address in `Host` is no name that someone else could lead here. */
function isKnownHost(host: string | undefined, names: ReadonlySet<string>): boolean {
  const name = hostName(host ?? '');
  return isIP(name) !== 0 || names.has(name);
}
