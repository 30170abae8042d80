/**
 * The server over HTTP, at one path.
 *
 * I1  A request is refused by its path, `Host`, `Origin` and token, in this order, before a byte of
 *     its body is read.
 * I2  Requests, connections and the time of both are bounded.
 */
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { hostHeaderValidation, originValidation, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, type McpServer } from '@modelcontextprotocol/server';
import { errorText } from '../../core/base/error-text.ts';
import { isLoopback } from '../../core/base/loopback.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import { hostText } from '../../http/host-names.ts';
import { listen, REQUEST_BOUNDS } from '../../http/listen.ts';
import { isAmong } from '../../protection/same-text.ts';
import { MAX_REQUEST_BYTES } from '../create-mcp-server.ts';

/** The path of the server. */
const HTTP_PATH = '/mcp';

/** How the server serves over HTTP. */
export interface HttpOptions {
  /** A name or address of this machine; an IPv6 address without brackets. */
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** Callers have to show one of them; needed where other machines reach the server. Default: none. */
  readonly tokens?: readonly string[];
  /** Further names under which callers reach the server. */
  readonly hosts?: readonly string[];
  /** Where errors of requests go. */
  readonly log: (message: string) => void;
}

/** A server that listens. */
export interface HttpServing {
  /** `http://127.0.0.1:7245/mcp` */
  readonly url: string;
  /** Settles when no connection is left. */
  close(): Promise<void>;
}

const LOOPBACK_NAMES: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

const MAX_CONNECTIONS = 512;

/** How long a connection may carry nothing, in ms: longer than a call. */
const IDLE_MS = 90_000;

/** Subscriptions to changes at once. This server announces none, so they only hold connections. */
const MAX_SUBSCRIPTIONS = 16;

/** How long calls may take to end when the server stops. */
const CLOSING_MS = 2_000;

/**
 * Listens for clients.
 *
 * @throws UsageError `environment` for a token that is missing, `server_port` for a port that
 * is taken, `argument` for an address that this machine does not have.
 */
export async function serveOverHttp(
  factory: () => McpServer,
  options: HttpOptions,
): Promise<HttpServing> {
  assertToken(options);
  const { host, port, log } = options;
  const handler = createMcpHandler(factory, {
    maxRequestBodySize: MAX_REQUEST_BYTES,
    maxSubscriptions: MAX_SUBSCRIPTIONS,
    onerror: (error) => log(error.message),
  });
  const answer = toNodeHandler(handler, {
    maxRequestBodySize: MAX_REQUEST_BYTES,
    onerror: (error) => log(error.message),
  }) as RequestListener;
  const isAdmitted = createGate(options);
  const server = createServer(REQUEST_BOUNDS, (request, response) => {
    if (isAdmitted(request, response)) answer(request, response);
    else request.resume();
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.setTimeout(IDLE_MS);
  const bound = await listen(server, host, port).catch((error: unknown) => {
    throw notListening(host, port, error);
  });
  return {
    url: `http://${hostText(host)}:${bound}${HTTP_PATH}`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeIdleConnections();
      const late = setTimeout(() => server.closeAllConnections(), CLOSING_MS);
      await handler.close();
      await closed;
      clearTimeout(late);
    },
  };
}

function assertToken({ host, tokens = [] }: HttpOptions): void {
  if (tokens.length > 0 || isLoopback(host)) return;
  throw new UsageError(
    'environment',
    `Expected a token for a server at \`${host}\`, which other machines reach, got none. Set EVERLOOP_MCP_TOKEN.`,
  );
}

/** Whether a request is admitted; a refused one has been answered. */
function createGate({
  host,
  hosts = [],
  tokens = [],
}: HttpOptions): (request: IncomingMessage, response: ServerResponse) => boolean {
  const names = [...LOOPBACK_NAMES, hostText(host), ...hosts];
  const hasHost = hostHeaderValidation(names);
  const hasOrigin = originValidation(names);
  return (request, response) => {
    // A refused request must not hold the connection by sending the rest of its body.
    response.setHeader('connection', 'close');
    if (pathOf(request.url ?? '/') !== HTTP_PATH) {
      return refuse(response, 404, `Expected the path ${HTTP_PATH}.`);
    }
    if (!hasHost(request, response) || !hasOrigin(request, response)) return false;
    if (tokens.length > 0 && !hasToken(request.headers.authorization, tokens)) {
      response.setHeader('www-authenticate', 'Bearer realm="everloop"');
      return refuse(response, 401, 'Expected the token of the server.');
    }
    response.removeHeader('connection');
    return true;
  };
}

function refuse(response: ServerResponse, status: number, text: string): false {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
  return false;
}

function hasToken(authorization: string | undefined, tokens: readonly string[]): boolean {
  const [, given = ''] = /^Bearer +(.+)$/i.exec(authorization ?? '') ?? [];
  return isAmong(given.trim(), tokens);
}

/** The path of a request target; empty for one that names none, such as `//`. */
function pathOf(target: string): string {
  return URL.canParse(target, 'http://localhost')
    ? new URL(target, 'http://localhost').pathname
    : '';
}

function notListening(host: string, port: number, error: unknown): UsageError {
  const { code } = error as { readonly code?: string };
  if (code === 'EADDRINUSE') {
    return new UsageError(
      'server_port',
      `Expected port ${port} of ${host} to be free, got one that another program listens on. Choose another with \`--http\`.`,
    );
  }
  return new UsageError(
    'argument',
    `Expected \`--http\` to be an address of this machine, got ${host}:${port}: ${errorText(error)}. Correct it.`,
  );
}
