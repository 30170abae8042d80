/**
 * One connection to a server, of either era of the protocol.
 *
 * I1  Connecting, each request and closing end in bounded time, whatever the server does.
 * I2  What a server of the older era asks within a call is declined at once. The call learns of the
 *     question only if no other call can have caused it, since runs share connections.
 */
import {
  Client as McpClient,
  SdkError,
  SdkErrorCode,
  StreamableHTTPClientTransport,
  withInputRequired,
  type PriorDiscovery,
  type RequestOptions,
  type StandardSchemaV1,
  type Transport,
} from '@modelcontextprotocol/client';
import { defined } from '../../core/base/defined.ts';
import { VERSION } from '../../core/base/version.ts';
import type { McpServerDefinition } from '../../define/definition/mcp-server.ts';
import { McpUnreachableError, readFailure } from './failures.ts';
import { declineQuestions, type NoteQuestions } from './decline-questions.ts';
import { withRetryAfter } from './retry-after.ts';
import { transportTo, type TransportParts } from './transport-to.ts';

/**
 * How long a process may take to answer which era it speaks; one of the older era may never answer.
 */
const PROBE_MS = 3_000;

/** How long the end of a session may take. */
const GOODBYE_MS = 1_000;

/** How long after its end the stream of a server's own messages is opened again. */
const LISTEN_AGAIN_MS = 5_000;

/** What a connection needs. */
export interface ConnectParts extends TransportParts {
  /** The era that the server had; absent: it is asked. */
  readonly verdict?: PriorDiscovery;
  /** Called when the server says that its tools have changed. */
  readonly onToolsChanged: () => void;
}

/** A request to a server. */
export interface McpRequestOptions extends RequestOptions {
  readonly signal: AbortSignal;
}

/** An open connection. */
export interface McpConnection {
  /** The name that the server gives itself; empty if it gives none. */
  readonly identity: string;
  readonly instructions: string | undefined;
  readonly isModern: boolean;
  /** The revision of the protocol, such as `2026-07-28`. */
  readonly protocolVersion: string;
  /** What to connect with the next time. */
  readonly verdict: PriorDiscovery;
  /** Whether it can list resources, and prompts. */
  readonly offers: { readonly resources: boolean; readonly prompts: boolean };
  readonly isOpen: () => boolean;
  /** Whether the server has given it a session, over HTTP. */
  readonly hasSession: () => boolean;
  /** Settles when the connection has ended. */
  readonly closed: Promise<void>;
  /** The answer as it came, which may be `input_required`. */
  readonly request: (
    method: string,
    params: object,
    options: McpRequestOptions,
  ) => Promise<{ readonly [field: string]: unknown }>;
  readonly noteQuestions: NoteQuestions;
  readonly close: () => Promise<void>;
}

/** Connects to `server`. Rejects with an {@link McpUnreachableError}. */
export async function connectServer(
  server: McpServerDefinition,
  parts: ConnectParts,
): Promise<McpConnection> {
  const deadline = AbortSignal.timeout(server.connectTimeoutMs);
  try {
    return await connectOnce(server, parts, deadline).catch((error: unknown) => {
      // A process that ends at the first message that it does not know is of the older era.
      if (server.transport.kind === 'http' || !isClosedByProbe(error)) throw error;
      return connectOnce(server, { ...parts, verdict: { kind: 'legacy' } }, deadline);
    });
  } catch (error) {
    const { name, connectTimeoutMs } = server;
    if (deadline.aborted) {
      const text = `MCP server ${name} did not answer within ${connectTimeoutMs / 1000} s.`;
      throw new McpUnreachableError(text, false);
    }
    const { kind, message } = readFailure(error);
    const isRefused = kind === 'refused';
    const text = isRefused
      ? `MCP server ${name} refused the credentials of this worker.`
      : `MCP server ${name} could not be reached: ${parts.redactor.failure(message)}.`;
    throw new McpUnreachableError(text, isRefused);
  }
}

function isClosedByProbe(error: unknown): boolean {
  const isNegotiation =
    error instanceof SdkError && error.code === SdkErrorCode.EraNegotiationFailed;
  return isNegotiation && error.message.includes('closed');
}

async function connectOnce(
  server: McpServerDefinition,
  parts: ConnectParts,
  deadline: AbortSignal,
): Promise<McpConnection> {
  const transport = transportTo(server, parts);
  const client = newClient(server, parts);
  const noteQuestions = declineQuestions(client);
  const life = lifeOf(client, transport);
  const { verdict } = parts;
  const connecting = client.connect(transport, {
    timeout: server.connectTimeoutMs,
    signal: deadline,
    ...defined({ prior: verdict }),
  });
  try {
    await unlessAborted(connecting, deadline);
  } catch (error) {
    connecting.catch(() => undefined);
    void life.close();
    throw error;
  }
  const discover = client.getDiscoverResult();
  const isModern = client.getProtocolEra() === 'modern';
  const capabilities = client.getServerCapabilities() ?? {};
  if (isModern && capabilities.tools?.listChanged === true) void listen(client, life);
  return {
    identity: client.getServerVersion()?.name ?? '',
    instructions: client.getInstructions(),
    isModern,
    protocolVersion: client.getNegotiatedProtocolVersion() ?? '',
    verdict: discover === undefined ? { kind: 'legacy' } : { kind: 'modern', discover },
    offers: {
      resources: capabilities.resources !== undefined,
      prompts: capabilities.prompts !== undefined,
    },
    ...life,
    hasSession: () => 'sessionId' in transport && transport.sessionId !== undefined,
    request: (method, params, options) =>
      withRetryAfter(() =>
        client.request({ method, params: { ...params } }, withInputRequired(ANYTHING), {
          ...options,
          allowInputRequired: true,
        }),
      ),
    noteQuestions,
  };
}

function newClient(server: McpServerDefinition, { onToolsChanged }: ConnectParts): McpClient {
  const { transport, connectTimeoutMs } = server;
  const isStdio = transport.kind === 'stdio';
  const timeoutMs = isStdio ? Math.min(PROBE_MS, connectTimeoutMs / 2) : connectTimeoutMs;
  const client = new McpClient(
    { name: 'everloop', version: VERSION },
    {
      capabilities: { elicitation: { form: {}, url: {} } },
      inputRequired: { autoFulfill: false },
      versionNegotiation: { mode: 'auto', probe: { timeoutMs } },
    },
  );
  // Progress may come after its result, and lines may be no messages: neither ends anything.
  client.onerror = () => undefined;
  client.setNotificationHandler('notifications/tools/list_changed', () => onToolsChanged());
  return client;
}

/** Whether and how long a connection is open. */
function lifeOf(
  client: McpClient,
  transport: Transport,
): Pick<McpConnection, 'isOpen' | 'closed' | 'close'> {
  const { promise: closed, resolve } = withResolvers();
  let isOpen = true;
  const onClosed = (): void => {
    isOpen = false;
    resolve();
  };
  client.onclose = onClosed;
  return {
    isOpen: () => isOpen,
    closed,
    close: async () => {
      onClosed();
      if (transport instanceof StreamableHTTPClientTransport) await endSession(transport);
      await client.close().catch(() => undefined);
      await transport.close().catch(() => undefined);
    },
  };
}

/** Any object: `result.ts` reads what servers return, whatever it is. */
const ANYTHING: StandardSchemaV1<unknown, { readonly [field: string]: unknown }> = {
  '~standard': {
    version: 1,
    vendor: 'everloop',
    validate: (value) => ({ value: Object(value) as { readonly [field: string]: unknown } }),
  },
};

/** Keeps the stream open on which a server of the newer era says that its tools have changed. */
async function listen(
  client: McpClient,
  { isOpen, closed }: Pick<McpConnection, 'isOpen' | 'closed'>,
): Promise<void> {
  while (isOpen()) {
    try {
      const subscription = await client.listen({ toolsListChanged: true });
      await Promise.race([subscription.closed, closed]);
    } catch {
      // Without the stream, changes are seen when the listing is old.
    }
    await Promise.race([pause(LISTEN_AGAIN_MS), closed]);
  }
}

async function endSession(transport: StreamableHTTPClientTransport): Promise<void> {
  if (transport.sessionId === undefined) return;
  await Promise.race([transport.terminateSession().catch(() => undefined), pause(GOODBYE_MS)]);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}

/** `work`, unless `signal` is aborted first. */
export async function unlessAborted<Result>(
  work: Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  if (signal.aborted) throw signal.reason;
  const { promise, reject } = withResolvers();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return (await Promise.race([work, promise])) as Result;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function withResolvers(): {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
} {
  let resolve = (): void => undefined;
  let reject = (_reason: unknown): void => undefined;
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}
