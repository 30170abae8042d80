/** Hosts of the Model Context Protocol: real clients of both eras, over stdio and HTTP. */
import { randomUUID } from 'node:crypto';
import {
  createTaskSessionFromClient,
  type TaskEnabledSession,
  type WithTasksOptions,
} from '@modelcontextprotocol/ext-tasks/client';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { JsonObject } from '../../src/core/base/json.ts';
import { cliProgram } from './builds.ts';

/** Revisions of the protocol: that of 2026-07-28, or those of 2025. */
export type Era = 'modern' | 'legacy';

const REVISION = '2026-07-28';

function newClient(era: Era): Client {
  return new Client(
    { name: 'host', version: '1.0.0' },
    { versionNegotiation: { mode: era === 'legacy' ? 'legacy' : { pin: REVISION } } },
  );
}

/** A client of `everloop mcp serve` as its own process, over stdio. */
export async function stdioHost(
  era: Era,
  env: Readonly<Record<string, string>>,
  { program = cliProgram(), args = [], cwd }: StdioHostOptions = {},
): Promise<Client> {
  const client = newClient(era);
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [...program, 'mcp', 'serve', ...args],
      env: { PATH: process.env['PATH'] ?? '', ...env },
      stderr: 'pipe',
      ...(cwd === undefined ? {} : { cwd }),
    }),
  );
  return client;
}

/** How the process is started. */
export interface StdioHostOptions {
  readonly program?: readonly string[];
  /** After `mcp serve`. */
  readonly args?: readonly string[];
  readonly cwd?: string;
}

/** A client of a server over HTTP. */
export async function httpHost(era: Era, url: string, token?: string): Promise<Client> {
  const client = newClient(era);
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }),
  );
  return client;
}

/** What a tool said: its structured result, or the text of its error. */
export interface Said {
  readonly value?: JsonObject;
  readonly error?: string;
}

/** Calls a tool; the text twin must be equal to the structured result. */
export async function say(client: Client, name: string, args: JsonObject = {}): Promise<Said> {
  const result = await client.callTool({ name, arguments: args });
  const [part] = result.content;
  const text = part?.type === 'text' ? part.text : '';
  if (result.structuredContent === undefined) return { error: text };
  const value = result.structuredContent as JsonObject;
  if (JSON.stringify(JSON.parse(text)) !== JSON.stringify(value)) {
    throw new Error(`Expected a text equal to the structured result, got ${text}`);
  }
  return { value };
}

/** Every message of the server to a session of tasks, by method. */
export interface SeenResult {
  readonly method: string;
  readonly result: unknown;
}

/**
 * A session of the tasks extension over HTTP, as a coding assistant opens one: the SDK's client refuses
 * tasks, so that calls and tasks go by requests of our own.
 */
export async function taskSession(
  url: string,
  options: WithTasksOptions,
  seen: SeenResult[] = [],
): Promise<{ readonly session: TaskEnabledSession; readonly close: () => Promise<void> }> {
  const client = await httpHost('modern', url);
  const session = createTaskSessionFromClient(client, {
    ...options,
    endpointId: 'everloop',
    v2RequestFraming: {
      protocolVersion: REVISION,
      clientInfo: { name: 'host', version: '1.0.0' },
      clientCapabilities: { elicitation: { form: {} } },
    },
    rawDispatch: async (request) => {
      const { method, params } = request as { method: string; params: JsonObject };
      const answer = await post(url, method, params);
      if (answer.error !== undefined) return { kind: 'error', error: answer.error as never };
      seen.push({ method, result: answer.result });
      return { kind: 'result', result: answer.result as never };
    },
  });
  return {
    session,
    close: async () => {
      await session.close();
      await client.close();
    },
  };
}

/** One request of the revision 2026-07-28 over HTTP, and the last message of its answer. */
export async function post(
  url: string,
  method: string,
  params: JsonObject,
): Promise<{ readonly result?: unknown; readonly error?: unknown }> {
  const name = params['name'] ?? params['taskId'];
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': REVISION,
      'mcp-method': method,
      ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: randomUUID(), method, params }),
  });
  const text = await response.text();
  const last = text.startsWith('{')
    ? text
    : text
        .split('\n')
        .findLast((line) => line.startsWith('data: '))
        ?.slice('data: '.length);
  return JSON.parse(last ?? '{}') as { result?: unknown; error?: unknown };
}
