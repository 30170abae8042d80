/** Servers of the Model Context Protocol for tests, and calls of their tools as activities make them. */
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { Json, JsonObject } from '../../src/core/base/json.ts';
import type { RunInfo } from '../../src/core/calls/run-info.ts';
import type { ToolContext } from '../../src/define/definition/definitions.ts';
import { mcpServer, type McpServerOptions } from '../../src/define/mcp/mcp-server.ts';
import type { McpServerDefinition } from '../../src/define/definition/mcp-server.ts';
import type { McpCall, McpTools } from '../../src/define/mcp/mcp-tools.ts';
import { askingServer } from './fixtures/mcp/asking-server.ts';

const NODE_MODULES = fileURLToPath(new URL('../../node_modules/', import.meta.url));
const WILD = fileURLToPath(new URL('fixtures/mcp/wild-server.mjs', import.meta.url));

/** One of the three reference servers, as a process. */
export function referenceServer(
  name: 'everything' | 'filesystem' | 'memory',
  args: readonly string[] = [],
  options: Partial<McpServerOptions> = {},
): McpServerDefinition {
  const program = `${NODE_MODULES}@modelcontextprotocol/server-${name}/dist/index.js`;
  return mcpServer({
    name,
    command: process.execPath,
    args: [program, ...args],
    connectTimeoutMs: 60_000,
    ...options,
  });
}

/** What the hand-written server does; see `fixtures/mcp/wild-server.mjs`. */
export interface WildOptions {
  readonly notes?: string;
  readonly list?: 'loop' | 'many' | 'hidden';
  /** Answers the first request for its tools only. */
  readonly listsOnce?: boolean;
  readonly toolsFile?: string;
  readonly silent?: boolean;
}

/** The hand-written server, as a process. */
export function wildServer(
  wild: WildOptions = {},
  options: Partial<McpServerOptions> = {},
): McpServerDefinition {
  const args = [WILD, JSON.stringify(wild)];
  const command = process.execPath;
  return mcpServer({ name: 'wild', command, args, connectTimeoutMs: 60_000, ...options });
}

/** A server over HTTP in this process. */
export interface HttpServer {
  readonly url: string;
  /** The requests so far, with their headers. */
  readonly requests: readonly IncomingMessage[];
  readonly close: () => Promise<void>;
}

/** Serves `askingServer` over HTTP. `guard` may answer a request in its place. */
export async function startHttpServer(
  guard: (
    request: IncomingMessage,
  ) => { status: number; headers?: Record<string, string>; body?: string } | undefined = () =>
    undefined,
  port = 0,
): Promise<HttpServer> {
  const handler = toNodeHandler(createMcpHandler(askingServer)) as RequestListener;
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    const refusal = guard(request);
    if (refusal === undefined) {
      handler(request, response);
      return;
    }
    request.resume();
    response.writeHead(refusal.status, refusal.headers).end(refusal.body ?? '');
  });
  const { url, close } = await listening(server, port);
  return { url: `${url}/mcp`, requests, close };
}

/** Opens `server` on `port` of this machine; 0: a free one. */
export async function listening(
  server: Server,
  port = 0,
): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const { port: own } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${own}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** How a call ended, and what it emitted. */
export interface CallEnd {
  readonly value?: unknown;
  readonly error?: Error;
  readonly emitted: readonly { readonly name: string; readonly data: Json }[];
}

/** How a call is made, and what it knows of its run. */
type CallOptions = Partial<McpCall> & {
  readonly callId?: string;
  readonly info?: Partial<RunInfo>;
};

/** Binds and calls the tool `name` of the listing of `servers`, as an activity does. */
export async function callListed(
  tools: McpTools,
  servers: readonly McpServerDefinition[],
  name: string,
  args: JsonObject = {},
  options: CallOptions = {},
): Promise<CallEnd> {
  const listing = await tools.list(servers);
  if (listing.kind === 'not_here') throw new Error(listing.message);
  const spec = listing.tools.find((tool) => tool.spec.name === name)?.spec;
  if (spec?.mcp === undefined) throw new Error(`Expected tool ${name}, got none.`);
  return callBound(tools, spec.mcp, name, args, options);
}

/** Binds and calls a tool. */
export async function callBound(
  tools: McpTools,
  binding: Parameters<McpTools['bind']>[0],
  name: string,
  args: JsonObject = {},
  { callId = 'c1', info = {}, ...options }: CallOptions = {},
): Promise<CallEnd> {
  const { signal = AbortSignal.timeout(60_000), runId = 'r1' } = options;
  const bound = await tools.bind(binding, { name, runId, signal, ...options });
  if (bound.kind !== 'tool')
    throw new Error(bound.kind === 'rejected' ? bound.message : bound.what);
  const emitted: { name: string; data: Json }[] = [];
  const context = {
    ...info,
    signal,
    runId,
    callId,
    idempotencyKey: `${runId}/${callId}`,
    attempt: 1,
    emit: (event: string, data: Json) => void emitted.push({ name: event, data }),
  } as unknown as ToolContext;
  try {
    return { value: await bound.tool.execute(args, context), emitted };
  } catch (error) {
    return { error: error as Error, emitted };
  }
}

/** Whether a process of this id runs. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
