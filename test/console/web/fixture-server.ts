/**
 * A server with the pages of the console and fixed answers, so that pages can be looked at and
 * tested without Temporal. It sends the same headers as the real one.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { builtWeb } from '../../../src/console/assets.ts';
import type { ActionAnswer } from '../../../src/console/api-actions.ts';
import type { ApiError } from '../../../src/console/api.ts';
import type { LiveFrame } from '../../../src/console/live-frames.ts';
import { answerOf } from './fixture-answers.ts';
import { fixtureRuns, type FixtureRun } from './fixture-data.ts';

/** What a page may do; that of the real console. */
const CONTENT_SECURITY_POLICY: string = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "img-src 'self' blob: data:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.woff2': 'font/woff2',
};

/** A server that runs, what it was asked, and how to send frames to its pages. */
export interface FixtureServer {
  readonly url: string;
  readonly runs: readonly FixtureRun[];
  /** Actions that pages sent. */
  readonly actions: { readonly path: string; readonly body: Record<string, unknown> }[];
  /** Sends a frame to all pages. */
  push(frame: LiveFrame): void;
  /** Replaces the answer to GET `path`; null restores it. */
  answer(path: string, body: unknown, status?: number): void;
  /** What actions whose path ends with `ending` are answered beside their `requestId`. */
  accept(ending: string, answer: Partial<ActionAnswer>): void;
  /** Refuses POST `path` from now on, with 409 unless `status` is another; null takes it again. */
  refuse(path: string, error: ApiError | null, status?: number): void;
  close(): Promise<void>;
}

/** Starts it on a free port, or on `port`. */
export async function startFixtureServer(port = 0): Promise<FixtureServer> {
  const folder = await builtWeb();
  if (folder === null) throw new Error('Expected built pages. Run `npm run build`.');
  const runs = await fixtureRuns();
  const streams = new Set<ServerResponse>();
  const actions: FixtureServer['actions'] = [];
  const replaced = new Map<string, { readonly body: unknown; readonly status: number }>();
  const accepted = new Map<string, Partial<ActionAnswer>>();
  const refused = new Map<string, { readonly body: ApiError; readonly status: number }>();
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://fixture');
    response.setHeader('content-security-policy', CONTENT_SECURITY_POLICY);
    response.setHeader('x-content-type-options', 'nosniff');
    response.setHeader('referrer-policy', 'no-referrer');
    if (!url.pathname.startsWith('/api/v1')) {
      await sendFile(response, folder, url.pathname);
      return;
    }
    const path = url.pathname.slice('/api/v1'.length);
    if (path === '/live') {
      openStream(response, streams);
      return;
    }
    if (request.method !== 'GET') {
      const body = await bodyOf(request);
      if (request.method === 'POST') actions.push({ path: decodeURIComponent(path), body });
      const refusal = refused.get(decodeURIComponent(path));
      if (refusal !== undefined) {
        send(response, refusal.status, refusal.body);
        return;
      }
      const run = decodeURIComponent(path.split('/')[2] ?? runs[0]?.id ?? '');
      send(response, 200, {
        requestId: body['requestId'],
        run: run === '' ? runs[0]?.id : run,
        position: 1,
        ...[...accepted].find(([ending]) => path.endsWith(ending))?.[1],
      });
      return;
    }
    const other = replaced.get(decodeURIComponent(path));
    if (other !== undefined) {
      send(response, other.status, other.body);
      return;
    }
    const found = answerOf(path, url.searchParams, runs);
    if (found === undefined) send(response, 404, { code: 'not_found', message: `No ${path}.` });
    else send(response, 200, found);
  };
  const server: Server = createServer((request, response) => {
    respond(request, response).catch((error: unknown) => {
      send(response, 500, { code: 'internal', message: String(error) });
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${bound}`,
    runs,
    actions,
    push: ({ kind, ...data }) => {
      for (const stream of streams) {
        stream.write(`event: ${kind}\ndata: ${JSON.stringify(data)}\n\n`);
      }
    },
    answer: (path, body, status = 200) => {
      if (body === null) replaced.delete(path);
      else replaced.set(path, { body, status });
    },
    accept: (ending, answer) => void accepted.set(ending, answer),
    refuse: (path, error, status = 409) => {
      if (error === null) refused.delete(path);
      else refused.set(path, { body: error, status });
    },
    close: async () => {
      for (const stream of streams) stream.end();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function sendFile(response: ServerResponse, folder: string, path: string): Promise<void> {
  const isAsset = path.startsWith('/assets/');
  const file = isAsset ? path.slice(1) : 'index.html';
  const content = await readFile(join(folder, file)).catch(() => null);
  if (content === null) {
    response.writeHead(404).end();
    return;
  }
  response.setHeader('content-type', TYPES[extname(file)] ?? 'application/octet-stream');
  response.end(isAsset ? content : content.toString().replaceAll('%BASE%', ''));
}

function openStream(response: ServerResponse, streams: Set<ServerResponse>): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  response.write('event: hello\ndata: {"connection":"fixture"}\n\n');
  streams.add(response);
  const timer = setInterval(() => response.write('event: ping\ndata: {"at":0}\n\n'), 5_000);
  response.on('close', () => {
    clearInterval(timer);
    streams.delete(response);
  });
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
}
