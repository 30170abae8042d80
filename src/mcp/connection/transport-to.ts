/** The transport to a server: a child process, or HTTP with the credentials of this worker. */
import {
  ClientCredentialsProvider,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { errorText } from '../../core/base/error-text.ts';
import type { RunInfo } from '../../core/calls/run-info.ts';
import type { McpServerDefinition, McpTransport } from '../../define/definition/mcp-server.ts';
import type { McpLog } from '../text/log.ts';
import {
  processEnvironment,
  valueOf,
  valuesOf,
  type McpEnvironment,
  type Redactor,
} from '../text/secrets.ts';
import { boundedFetch } from '../transport/bounded-fetch.ts';
import { endStreams } from '../transport/end-streams.ts';
import { LOST } from '../transport/failure-codes.ts';
import type { Reaper } from '../transport/reaper.ts';
import { StdioTransport } from '../transport/stdio-transport.ts';
import { withinTime } from '../../tools/within-time.ts';
import { McpTokenError } from './failures.ts';
import { noteRetryAfter } from './retry-after.ts';
import { stderrLog } from './stderr-log.ts';

/** What the transports of a worker share. */
export interface TransportParts {
  readonly environment: McpEnvironment;
  readonly redactor: Redactor;
  readonly reaper: Reaper;
  readonly log: McpLog;
  /** What the newest call of the connection knows of its run. */
  readonly info: () => RunInfo | undefined;
}

/** How long before an ended stream is opened again; a server may ask for no wait, or for years. */
const MIN_RECONNECT_MS = 500;
const MAX_RECONNECT_MS = 60_000;

/** Makes the transport to `server`. It is not open yet. */
export function transportTo(server: McpServerDefinition, parts: TransportParts): Transport {
  const { environment, redactor, reaper, log } = parts;
  const { transport } = server;
  if (transport.kind === 'stdio') {
    const { command, args, cwd } = transport;
    return new StdioTransport({
      command,
      args,
      env: processEnvironment(transport.env, environment),
      ...(cwd === undefined ? undefined : { cwd }),
      onStderr: stderrLog(server.name, log, redactor),
      onStart: (pid, mark) => reaper.watch(pid, mark),
      onEnd: (pid) => reaper.end(pid),
    });
  }
  const http = new StreamableHTTPClientTransport(new URL(transport.url), {
    requestInit: { headers: valuesOf(transport.headers, environment) },
    fetch: boundedFetch({
      onRetryAfter: noteRetryAfter,
      onStreamEnd: (id) => {
        const error = { code: LOST, message: 'the stream has ended' };
        http.onmessage?.({ jsonrpc: '2.0', id, error });
      },
    }),
    reconnectionScheduler: (reconnect, delayMs) => {
      const waitMs = Math.min(Math.max(delayMs, MIN_RECONNECT_MS), MAX_RECONNECT_MS);
      const timer = setTimeout(reconnect, waitMs);
      timer.unref();
      return () => clearTimeout(timer);
    },
    ...authOf(server.name, transport, parts),
  });
  endStreams(http);
  return http;
}

function authOf(
  server: string,
  { auth }: Extract<McpTransport, { readonly kind: 'http' }>,
  { environment, redactor, info }: TransportParts,
): Pick<
  NonNullable<ConstructorParameters<typeof StreamableHTTPClientTransport>[1]>,
  'authProvider'
> {
  if (auth === undefined) return {};
  if (typeof auth === 'function') {
    const token = async (): Promise<string> => {
      const given = await tokenOf(server, () => auth(info()));
      redactor.add(given);
      return given;
    };
    return { authProvider: { token } };
  }
  if ('bearer' in auth) {
    const { bearer } = auth;
    return { authProvider: { token: async () => valueOf(bearer, environment) } };
  }
  const { clientId, clientSecret, scope, issuer } = auth.clientCredentials;
  const provider = new ClientCredentialsProvider({
    clientId: valueOf(clientId, environment),
    clientSecret: valueOf(clientSecret, environment),
    clientName: 'everloop',
    expectedIssuer: issuer,
    ...(scope === undefined ? undefined : { scope }),
  });
  const save = provider.saveTokens.bind(provider);
  provider.saveTokens = (tokens) => {
    redactor.add(tokens.access_token);
    save(tokens);
  };
  return { authProvider: provider };
}

async function tokenOf(server: string, give: () => string | Promise<string>): Promise<string> {
  let given: unknown;
  try {
    given = await withinTime(`\`auth\` of MCP server ${server}`, give);
  } catch (error) {
    throw new McpTokenError(`\`auth\` gave no token: ${errorText(error)}`);
  }
  if (typeof given === 'string' && given !== '') return given;
  throw new McpTokenError('`auth` gave no token: it is no text, or an empty one');
}
