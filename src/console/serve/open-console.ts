/**
 * A console of its own: listens, keeps its token, and says under which address people open it.
 *
 * I1  Off the loopback it does not start without a token of the environment.
 * I2  A token that it made stands in the fragment of the address, which browsers send to no server.
 *     One of the environment is not repeated: what is printed is often kept in a log.
 * I3  Slow requests are disconnected, connections are bounded, and those without a token are closed
 *     after two seconds.
 */
import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { defined } from '../../core/base/defined.ts';
import { errorText } from '../../core/base/error-text.ts';
import { isLoopback } from '../../core/base/loopback.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import { hostText } from '../../http/host-names.ts';
import { guardConnections } from '../../http/guard-connections.ts';
import { disconnectAll, listen, REQUEST_BOUNDS } from '../../http/listen.ts';
import { roleOf } from '../access.ts';
import { builtWeb } from '../assets.ts';
import { createConsole, type ConsoleOptions } from './console.ts';
import { keptToken } from './console-token.ts';

/** Where a console listens, unless the port is taken: then at the next free one. */
export const CONSOLE_PORT = 8_234;

/** Ports that are tried after {@link CONSOLE_PORT}, before any free one. */
const NEXT_PORTS = 20;

/** Options of {@link openConsole}. */
export interface OpenConsoleOptions extends Omit<ConsoleOptions, 'access' | 'base'> {
  /** Interface to listen on: an address or a name. Default 127.0.0.1. */
  readonly host?: string;
  /** 0: any free port. Default: 8234, or the next free one. */
  readonly port?: number;
  /** Where the token is kept, unless the environment names one. */
  readonly dataDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A console that listens. */
export interface OpenConsole {
  /** `http://127.0.0.1:8234` */
  readonly url: string;
  /** As people open it: with the token in the fragment, unless the environment named the token. */
  readonly address: string;
  readonly port: number;
  /** Disconnects all tabs and stops listening. */
  readonly close: () => Promise<void>;
}

/** How long nothing may be sent or read; the feed shows every five seconds that it is alive. */
const IDLE_MS = 60_000;

/**
 * Starts a console.
 *
 * @throws UsageError `console` without a token off the loopback, for a port that is in use, or for a
 * token file that others may read; `environment` for a token that is too short.
 */
export async function openConsole(options: OpenConsoleOptions): Promise<OpenConsole> {
  const { host = '127.0.0.1', port, dataDir, env, ...given } = options;
  const token = textOf(env['EVERLOOP_CONSOLE_TOKEN']);
  if (!isLoopback(host) && token === undefined) {
    throw new UsageError(
      'console',
      `Expected a token for a console at \`${host}\`, which other machines reach, got none. Set EVERLOOP_CONSOLE_TOKEN to at least 16 characters.`,
    );
  }
  const access = {
    token: token ?? (await keptToken(dataDir)),
    hosts: hostsOf(host, env['EVERLOOP_CONSOLE_HOSTS']),
    ...defined({
      readToken: textOf(env['EVERLOOP_CONSOLE_READ_TOKEN']),
      userHeader: textOf(env['EVERLOOP_CONSOLE_USER_HEADER']),
    }),
  };
  const web = given.web ?? (await builtWeb()) ?? undefined;
  const served = createConsole({ ...given, ...defined({ web }), access });
  const server = createAdaptorServer({
    fetch: (request: Request) => served.fetch(request),
    // The process is the user's, so its global Request and Response must stay as they are.
    overrideGlobalObjects: false,
    serverOptions: REQUEST_BOUNDS,
  }) as Server;
  server.setTimeout(IDLE_MS);
  guardConnections(server, ({ headers }) => roleOf(headers.authorization, access), IDLE_MS);
  const bound = await listenAtFree(server, host, port);
  const url = `http://${hostText(host)}:${bound}`;
  return {
    url,
    address: token === undefined ? `${url}/#key=${access.token}` : url,
    port: bound,
    close: async () => {
      served.close();
      await disconnectAll(server);
    },
  };
}

function hostsOf(host: string, named: string | undefined): readonly string[] {
  const names = (named ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  // All interfaces have many addresses, and an address is no name that somebody could lead here.
  const isAny = host === '0.0.0.0' || host === '::';
  return [isAny ? '*' : host, ...names];
}

/** Listens, and gives the port: the wanted one, else the first free one. */
async function listenAtFree(
  server: Server,
  host: string,
  wanted: number | undefined,
): Promise<number> {
  const next = Array.from({ length: NEXT_PORTS }, (_, place) => CONSOLE_PORT + place);
  const ports = wanted === undefined ? [...next, 0] : [wanted];
  let failure: unknown;
  for (const port of ports) {
    try {
      return await listen(server, host, port);
    } catch (error) {
      failure = error;
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') break;
    }
  }
  const message = `Expected to listen at ${host}:${wanted ?? CONSOLE_PORT}, got: ${errorText(failure)}. Choose another with \`--listen\`, or stop what listens there.`;
  throw Object.assign(new UsageError('console', message), { cause: failure });
}

function textOf(value: string | undefined): string | undefined {
  const text = value?.trim();
  return text === '' ? undefined : text;
}
