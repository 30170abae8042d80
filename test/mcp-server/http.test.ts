import { request as httpRequest } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import type { Everloop } from '../../src/client/everloop-client.ts';
import { createMcpServer } from '../../src/mcp-server/create-mcp-server.ts';
import {
  serveOverHttp,
  type HttpOptions,
  type HttpServing,
} from '../../src/mcp-server/serve/http.ts';
import { httpHost, say } from '../support/mcp-hosts.ts';

const TOKEN = 'sentinel-token-of-the-test';
const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function serve(options: Partial<HttpOptions> = {}): Promise<HttpServing> {
  const everloop = { list: async () => [] } as unknown as Everloop;
  const signal = new AbortController().signal;
  const factory = createMcpServer({ everloop, signal, log: () => undefined });
  const serving = await serveOverHttp(factory, {
    host: '127.0.0.1',
    port: 0,
    log: () => undefined,
    ...options,
  });
  closers.push(() => serving.close());
  return serving;
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** A request with headers that `fetch` does not set. */
function ask(
  url: string,
  headers: Record<string, string>,
  body = '{}',
  path = new URL(url).pathname,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method: 'POST', headers, path }, (response) => {
      response.resume();
      resolve({ status: response.statusCode, headers: response.headers });
    });
    request.on('error', reject);
    request.end(body);
  });
}

const JSON_TYPE = { 'content-type': 'application/json' };

describe('a server over HTTP', () => {
  it('outlives request targets that are no paths', async () => {
    const { url } = await serve();
    for (const target of ['//', '//[', 'http://[', '*', '/mcp/../..//[']) {
      expect((await ask(url, JSON_TYPE, '{}', target)).status).toBe(404);
    }
    expect((await ask(url, JSON_TYPE)).status).not.toBe(404);
  });

  it('refuses other paths, hosts and origins', async () => {
    const { url } = await serve();
    expect((await ask(url.replace('/mcp', '/other'), JSON_TYPE)).status).toBe(404);
    expect((await ask(url, { ...JSON_TYPE, host: 'evil.example' })).status).toBe(403);
    expect((await ask(url, { ...JSON_TYPE, origin: 'https://evil.example' })).status).toBe(403);
    expect((await ask(url, { ...JSON_TYPE, origin: 'null' })).status).toBe(403);
    expect((await ask(url, { ...JSON_TYPE, host: 'mcp.internal' })).status).toBe(403);
    const named = await serve({ hosts: ['mcp.internal'] });
    const allowed = await ask(named.url, { ...JSON_TYPE, host: 'mcp.internal:80' });
    expect(allowed.status).toBe(400);
  });

  it.each([
    {},
    { authorization: TOKEN },
    { authorization: `Bearer ${TOKEN}x` },
    { authorization: `Bearer ${TOKEN.slice(1)}` },
    { authorization: `Basic ${TOKEN}` },
    { authorization: 'Bearer ' },
  ])('refuses a request without its token: %j', async (headers) => {
    const { url } = await serve({ tokens: ['another-token-of-the-test', TOKEN] });
    const refused = await ask(url, { ...JSON_TYPE, ...headers } as Record<string, string>);
    expect(refused.status).toBe(401);
    expect(refused.headers['www-authenticate']).toMatch(/^Bearer/);
  });

  it('takes a request with its token, and no message that is too large', async () => {
    const { url } = await serve({ tokens: ['another-token-of-the-test', TOKEN] });
    const client = await httpHost('modern', url, TOKEN);
    closers.push(() => client.close());
    expect(await say(client, 'list_runs')).toEqual({ value: { runs: [] } });
    const headers = { ...JSON_TYPE, authorization: `Bearer ${TOKEN}` };
    expect((await ask(url, headers, `"${'x'.repeat(5_000_000)}"`)).status).toBe(413);
  });

  it('does not start without the token that it needs, or on a port that is taken', async () => {
    await expect(serve({ host: '0.0.0.0' })).rejects.toThrow(
      'Expected a token for a server at `0.0.0.0`, which other machines reach, got none. Set EVERLOOP_MCP_TOKEN.',
    );
    const { url } = await serve();
    await expect(serve({ port: Number(new URL(url).port) })).rejects.toMatchObject({
      code: 'server_port',
    });
    await expect(serve({ host: '192.0.2.1', tokens: [TOKEN] })).rejects.toMatchObject({
      code: 'argument',
    });
  });

  it('refuses arguments that do not fit, and tools that it does not have', async () => {
    const { url } = await serve();
    const client = await httpHost('legacy', url);
    closers.push(() => client.close());
    expect(await say(client, 'list_runs', { limit: 0, all: true })).toEqual({
      error:
        'Expected arguments of list_runs that fit its schema, got: must NOT have additional properties, limit must be >= 1. Correct them.',
    });
    await expect(say(client, 'drop_runs')).rejects.toThrow('got "drop_runs". List the tools.');
  });
});
