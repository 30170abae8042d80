import { createServer } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { mcpServer, type McpServerOptions } from '../../src/define/mcp/mcp-server.ts';
import { isCallInput } from '../../src/define/tool/call-input.ts';
import { isNotSent } from '../../src/define/mcp/not-sent.ts';
import type { McpServerDefinition } from '../../src/define/definition/mcp-server.ts';
import { createMcpTools, type WorkerMcpTools } from '../../src/mcp/mcp-tools.ts';
import { fixtureProgram } from '../support/builds.ts';
import { callBound, callListed, listening, startHttpServer } from '../support/mcp-servers.ts';

const TOKEN = 'sentinel-token-of-the-test';
const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

function open(server: McpServerDefinition, log: string[] = []): WorkerMcpTools {
  const tools = createMcpTools({
    servers: [server],
    environment: { ...process.env, TOKEN, CLIENT_SECRET: 'sentinel-secret-of-the-test' },
    log: (_level, message) => log.push(message),
  });
  closers.push(() => tools.close());
  return tools;
}

async function startHttp(...args: Parameters<typeof startHttpServer>) {
  const http = await startHttpServer(...args);
  closers.push(http.close);
  return http;
}

function asking(url: string, options: Partial<McpServerOptions> = {}): McpServerDefinition {
  return mcpServer({ name: 'asking', url, connectTimeoutMs: 60_000, ...options });
}

describe('a server of revision 2026-07-28', () => {
  const refund = async (server: McpServerDefinition): Promise<void> => {
    const first = open(server);
    const { value } = await callListed(first, [server], 'asking_refund', { order: 'A-7' });
    if (!isCallInput(value)) throw new Error('Expected a question, got none.');

    expect(value).toEqual({
      requests: {
        why: {
          kind: 'form',
          message: 'Why is A-7 refunded?',
          form: expect.objectContaining({ required: ['reason'] }) as object,
        },
      },
      state: 'state of A-7',
    });
    const listing = await first.list([server]);
    const tools = listing.kind === 'listed' ? listing.tools : [];
    const binding = tools.find(({ spec }) => spec.name === 'asking_refund')?.spec.mcp;
    if (binding === undefined) throw new Error('Expected a binding, got none.');
    await first.close();
    // Another worker, another connection, and over stdio another process.
    const second = open(server);
    const goOn = (why: { action: 'decline' } | { action: 'accept'; content: { reason: string } }) =>
      callBound(
        second,
        binding,
        'asking_refund',
        { order: 'A-7' },
        {
          resume: { state: 'state of A-7', responses: { why } },
        },
      );

    const answered = await goOn({ action: 'accept', content: { reason: 'broken' } });
    expect(answered.value).toEqual({ refunded: 'A-7', reason: 'broken' });
    const declined = await goOn({ action: 'decline' });
    expect(declined.value).toEqual({ refunded: 'A-7', reason: 'decline' });
  };

  it('asks over HTTP, and another worker goes on with the answer', async () => {
    const { url } = await startHttp();
    await refund(asking(url));
  });

  it('asks over stdio, and another process goes on with the answer', async () => {
    const args = [...fixtureProgram('mcp/asking-server'), 'stdio'];
    await refund(
      mcpServer({ name: 'asking', command: process.execPath, args, connectTimeoutMs: 60_000 }),
    );
  });

  it('is connected to without a word once its era is known', async () => {
    const { url, requests } = await startHttp();
    const server = asking(url, { idleMs: 1 });
    const tools = open(server);
    await callListed(tools, [server], 'asking_add', { a: 1, b: 2 });
    await new Promise((resolve) => setTimeout(resolve, 50));
    const before = requests.length;
    const { value } = await callListed(tools, [server], 'asking_add', { a: 1, b: 2 });
    const methods = requests.slice(before).map(({ headers }) => headers['mcp-method']);

    expect(value).toBe('3');
    expect(methods).not.toContain('server/discover');
    expect(methods).toContain('tools/call');
  });

  it('gets the arguments that it wants as headers', async () => {
    const { url, requests } = await startHttp();
    const server = asking(url);
    const tools = open(server);
    const call = (region: string) => callListed(tools, [server], 'asking_route', { region });

    expect((await call('north')).value).toBe('north');
    expect((await call('süd ')).value).toBe('süd ');
    expect(requests.flatMap(({ headers }) => headers['mcp-param-region'] ?? [])).toEqual([
      'north',
      '=?base64?c8O8ZCA=?=',
    ]);
  });

  it('is declined by an override, and stopped when it asks for ever', async () => {
    const { url } = await startHttp();
    const overrides = {
      refund: { questions: 'decline' },
      for_ever: { questions: 'decline' },
    } as const;
    const server = asking(url, { overrides });
    const tools = open(server);

    expect((await callListed(tools, [server], 'asking_refund', { order: 'B' })).value).toEqual({
      refunded: 'B',
      reason: 'decline',
    });
    expect((await callListed(tools, [server], 'asking_for_ever')).error).toMatchObject({
      message: 'the server asking asked 10 times',
    });
  });
});

describe('the credentials of a worker', () => {
  it('go with every request, and into no text', async () => {
    const http = await startHttp(({ headers }) =>
      headers.authorization === `Bearer ${TOKEN}` && headers['x-team'] === 'blue'
        ? undefined
        : { status: 401 },
    );
    const auth = { bearer: { env: 'TOKEN' } };
    const server = asking(http.url, { auth, headers: { 'x-team': 'blue' } });
    const { value } = await callListed(open(server), [server], 'asking_add', { a: 2, b: 2 });

    expect(value).toBe('4');
    expect(JSON.stringify(server)).not.toContain(TOKEN);
  });

  it('that are refused for ever are an error with these words, and the token is in no log', async () => {
    let isOpen = true;
    const http = await startHttp(({ headers }) =>
      isOpen ? undefined : { status: 401, body: `bad token ${headers.authorization ?? ''}` },
    );
    const server = asking(http.url, { auth: { bearer: { env: 'TOKEN' } } });
    const log: string[] = [];
    const tools = open(server, log);
    await tools.list([server]);
    isOpen = false;
    const { error } = await callListed(tools, [server], 'asking_add', { a: 2, b: 2 });
    const refused = await open(server, log).list([server]);

    expect(error).toMatchObject({
      name: 'ToolError',
      message: 'the server asking refused the credentials of this worker',
    });
    expect(refused).toEqual({
      kind: 'not_here',
      what: 'MCP server asking',
      message: 'MCP server asking refused the credentials of this worker.',
    });
    expect(log.join('\n') + JSON.stringify(error)).not.toContain(TOKEN);
  });

  it('of a client are exchanged for a token, and again when that has expired', async () => {
    const issued: string[] = [];
    const issuer = await listening(
      createServer((request, response) => {
        const { port } = request.socket.address() as { readonly port: number };
        const self = `http://127.0.0.1:${port}`;
        response.setHeader('content-type', 'application/json');
        if (request.url?.startsWith('/.well-known/') === true) {
          response.end(
            JSON.stringify({
              issuer: self,
              token_endpoint: `${self}/token`,
              authorization_endpoint: `${self}/authorize`,
              response_types_supported: ['code'],
              grant_types_supported: ['client_credentials'],
              token_endpoint_auth_methods_supported: ['client_secret_basic'],
            }),
          );
          return;
        }
        issued.push(request.headers.authorization ?? '');
        const token = `token-number-${issued.length}-of-the-test`;
        response.end(JSON.stringify({ access_token: token, token_type: 'Bearer', expires_in: 60 }));
      }),
    );
    closers.push(issuer.close);
    let valid = 1;
    const http = await startHttp(({ url, headers }) => {
      if (url?.startsWith('/.well-known/') === true) {
        const body = {
          resource: `http://${headers.host}/mcp`,
          authorization_servers: [issuer.url],
        };
        return {
          status: 200,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        };
      }
      const isValid = headers.authorization === `Bearer token-number-${valid}-of-the-test`;
      return isValid ? undefined : { status: 401, headers: { 'www-authenticate': 'Bearer' } };
    });
    const clientCredentials = {
      clientId: 'everloop',
      clientSecret: { env: 'CLIENT_SECRET' },
      issuer: issuer.url,
    };
    const server = asking(http.url, { auth: { clientCredentials } });
    const tools = open(server);

    expect((await callListed(tools, [server], 'asking_add', { a: 1, b: 1 })).value).toBe('2');
    valid = 2;
    expect((await callListed(tools, [server], 'asking_add', { a: 1, b: 2 })).value).toBe('3');
    const basic = Buffer.from('everloop:sentinel-secret-of-the-test').toString('base64');
    expect(issued).toEqual([`Basic ${basic}`, `Basic ${basic}`]);
  });
});

describe('a server over HTTP that fails', () => {
  it('and is not there gets no call', async () => {
    const http = await startHttp();
    const server = asking(http.url);
    const tools = open(server);
    await tools.list([server]);
    await http.close();
    closers.splice(0, 1);
    // The first may still find the old socket, over which it could have left.
    await callListed(tools, [server], 'asking_add', { a: 1, b: 1 });
    const { error } = await callListed(tools, [server], 'asking_add', { a: 1, b: 1 });

    expect(error?.message).toBe(
      'the server asking could not be reached: no connection (ECONNREFUSED)',
    );
    expect(isNotSent(error)).toBe(true);
  });

  it('by a stream without an answer, an endless answer or HTTP 500 is lost or told', async () => {
    let answer: { status: number; headers?: Record<string, string>; body?: string } | undefined;
    const http = await startHttp(({ headers }) =>
      headers['mcp-method'] === 'tools/call' ? answer : undefined,
    );
    const server = asking(http.url);
    const tools = open(server);
    const call = () => callListed(tools, [server], 'asking_add', { a: 1, b: 1 });
    const stream = { 'content-type': 'text/event-stream' };

    answer = { status: 200, headers: stream, body: ': nothing\n\n' };
    expect((await call()).error).toMatchObject({ name: 'LostIsolateError', started: true });
    answer = { status: 503, headers: { 'retry-after': '1' } };
    const asked = performance.now();
    expect((await call()).error).toMatchObject({ name: 'LostIsolateError', started: true });
    expect(performance.now() - asked).toBeGreaterThan(900);
    answer = { status: 500, body: 'oops' };
    expect((await call()).error).toMatchObject({ name: 'LostIsolateError', started: true });
    for (const status of [404, 418]) {
      answer = { status, body: 'a teapot' };
      // Without a session, 404 is no session that was forgotten: the call may have had its effect.
      expect((await call()).error).toMatchObject({ name: 'ToolError' });
    }
    answer = { status: 200, headers: stream, body: `data: "${'x'.repeat(17_000_000)}"\n\n` };
    const { error } = await call();
    expect(error?.message).toMatch(/more than 16 MB|gave no answer/);
    answer = { status: 429, headers: { 'retry-after': '0' } };
    expect(isNotSent((await call()).error)).toBe(true);
    answer = undefined;
    expect((await call()).value).toBe('2');
  });

  it('and redirects to another origin gets no credentials there', async () => {
    const other = await startHttp();
    const http = await startHttp(() => ({ status: 307, headers: { location: other.url } }));
    const server = asking(http.url, { auth: { bearer: { env: 'TOKEN' } } });
    const listing = await open(server).list([server]);

    expect(listing).toMatchObject({ kind: 'not_here' });
    expect(other.requests).toEqual([]);
  });
});
