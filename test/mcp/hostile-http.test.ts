/** Servers that attack their client over HTTP: nothing may hold, grow or end the worker. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { mcpServer } from '../../src/define/mcp/mcp-server.ts';
import { createMcpTools } from '../../src/mcp/mcp-tools.ts';
import { boundedFetch } from '../../src/mcp/transport/bounded-fetch.ts';
import { eventually } from '../support/eventually.ts';
import { RUNS_ALL } from '../support/extent.ts';
import { callListed, listening } from '../support/mcp-servers.ts';
import { mostInATurn } from '../support/turns.ts';

const TOO_LARGE = 'the server hostile failed: its answer has more than 16 MB or 200000 values';
const REFUSED = 'the server hostile refused the credentials of this worker';
const STREAM = { 'content-type': 'text/event-stream' };
const JSON_TYPE = { 'content-type': 'application/json' };
/** 40 MB of spaces. */
const BOMB = gzipSync(Buffer.alloc(40_000_000, ' '), { level: 1 });
const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** How a call is attacked; `id` is that of its request. */
type Attack = (response: ServerResponse, id: number) => void;

const ATTACKS: Record<string, Attack> = {
  none: (response, id) => response.writeHead(200, STREAM).end(answerOf(id)),
  'events that are no messages': (response, id) => {
    response.writeHead(200, STREAM).end(`${'data: {}\n\n'.repeat(6_000)}${answerOf(id)}`);
  },
  comments: (response, id) => {
    response.writeHead(200, STREAM).end(`${':\n'.repeat(100_000)}\n${answerOf(id)}`);
  },
  'lines without end': (response, id) => {
    response.writeHead(200, STREAM).end(`${'data:\n'.repeat(1_000_000)}\n${answerOf(id)}`);
  },
  'a result of many values': (response, id) => {
    const list = `[${'[],'.repeat(2_000_000)}0]`;
    response.writeHead(200, JSON_TYPE).end(`{"jsonrpc":"2.0","id":${id},"result":{"a":${list}}}`);
  },
  'a gzip bomb': (response) => {
    response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip' });
    response.end(BOMB);
  },
  'a refusal in a gzip bomb': (response) => {
    response.writeHead(401, { 'content-encoding': 'gzip' });
    response.end(BOMB);
  },
  'a refusal of many words': (response) => {
    response.writeHead(401, { 'www-authenticate': `Bearer ${'a="b", '.repeat(1_700)}` }).end();
  },
  'a refusal of quotes': (response) => {
    response.writeHead(401, { 'www-authenticate': `Bearer scope="${'\\ '.repeat(6_000)}` }).end();
  },
  'a scope of many words': (response) => {
    const scope = `Bearer error="insufficient_scope", scope="${'a '.repeat(6_000)}"`;
    response.writeHead(403, { 'www-authenticate': scope }).end();
  },
  garbage: ({ socket }) => {
    socket?.end(
      'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzzzz\r\ngarbage',
    );
  },
  'a long failure': (response) => response.writeHead(400).end('secret=abcdefgh '.repeat(900_000)),
  'another type': (response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('x'.repeat(10_000_000));
  },
};

function answerOf(id: number): string {
  const result = { content: [{ type: 'text', text: 'done' }] };
  return `data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`;
}

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params: { readonly protocolVersion?: string; readonly arguments?: { how: string } };
}

async function messageOf(request: IncomingMessage): Promise<Message> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  return JSON.parse(body) as Message;
}

/** A server of the 2025 era whose tool is attacked by `attacks`, and GET by `onGet`. */
async function hostile(
  attacks: Record<string, Attack> = ATTACKS,
  onGet: (response: ServerResponse) => void = (response) => response.writeHead(405).end(),
) {
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method === 'GET') return onGet(response);
    if (request.method !== 'POST') return void response.writeHead(200).end();
    const { id, method, params } = await messageOf(request);
    const answer = (result: object): void => {
      response.writeHead(200, { ...JSON_TYPE, 'mcp-session-id': 's' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    };
    if (id === undefined) response.writeHead(202).end();
    else if (method === 'initialize') {
      const { protocolVersion } = params;
      const serverInfo = { name: 'hostile', version: '1' };
      answer({ protocolVersion, capabilities: { tools: {} }, serverInfo });
    } else if (method === 'tools/list') {
      const inputSchema = { type: 'object', properties: { how: { type: 'string' } } };
      answer({ tools: [{ name: 'attack', inputSchema, annotations: { readOnlyHint: true } }] });
    } else if (method === 'tools/call') attacks[params.arguments?.how ?? '']?.(response, id);
    else {
      const error = { code: -32_601, message: 'Method not found' };
      response.writeHead(200, JSON_TYPE).end(JSON.stringify({ jsonrpc: '2.0', id, error }));
    }
  };
  const { url, close } = await listening(
    createServer((request, response) => void serve(request, response)),
  );
  closers.push(close);
  const fields = { url: `${url}/mcp`, connectTimeoutMs: 60_000, auth: { bearer: { env: 'T' } } };
  const server = mcpServer({ name: 'hostile', ...fields });
  const tools = createMcpTools({ servers: [server], environment: { T: 'token-of-the-test' } });
  closers.push(() => tools.close());
  const attack = (how: string, options = {}) =>
    callListed(tools, [server], 'hostile_attack', { how }, options);
  return { attack };
}

describe('answers of a hostile server over HTTP', () => {
  it.each(['none', 'events that are no messages', 'comments'])('%s: are read', async (how) => {
    const { attack } = await hostile();

    expect((await attack(how)).value).toBe('done');
  });

  // Lines are taken so many in a second: it waits for ten of them.
  it.runIf(RUNS_ALL)('lines without end: fail their call in few words, and no other', async () => {
    const { attack } = await hostile();
    const { error } = await attack('lines without end');

    expect(error?.message).toMatch(/more than 16 MB|gave no answer/);
    expect((await attack('none')).value).toBe('done');
  });

  it.each([
    ['a result of many values', TOO_LARGE],
    ['a gzip bomb', TOO_LARGE],
    ['a refusal in a gzip bomb', REFUSED],
    ['a refusal of many words', REFUSED],
    ['a refusal of quotes', REFUSED],
    ['a scope of many words', REFUSED],
    ['garbage', expect.stringContaining('gave no answer') as string],
    ['a long failure', expect.stringContaining('HTTP 400') as string],
    ['another type', expect.stringContaining('text/html') as string],
  ])('%s: fail their call in few words, and no other', async (how, message) => {
    const { attack } = await hostile();
    const { error } = await attack(how);

    expect(error?.message).toEqual(message);
    expect(error?.message.length).toBeLessThanOrEqual(2_100);
    expect((await attack('none')).value).toBe('done');
  });

  it('of many events are taken a few at a time', async () => {
    const events = 20_000;
    const { url, close } = await listening(
      createServer((_request, response) => {
        response.writeHead(200, STREAM).end('data: {}\n\n'.repeat(events));
      }),
    );
    closers.push(close);
    const ignore = (): void => undefined;
    const get = boundedFetch({ onStreamEnd: ignore, onRetryAfter: ignore });
    const { body } = await get(url, { method: 'POST', body: '{}' });
    let bytes = 0;
    const reading = body?.pipeTo(
      new WritableStream<Uint8Array>({ write: ({ length }) => void (bytes += length) }),
    );
    const most = await mostInATurn(reading ?? Promise.reject(new Error('no body')), () => bytes);

    expect(bytes).toBe(events * 10);
    expect(most).toBeLessThanOrEqual(4 * 32 * 10);
  });
});

describe('streams of a hostile server', () => {
  it('end with the call that is stopped', async () => {
    let isOpen = false;
    const { attack } = await hostile({
      none: (response) => {
        isOpen = true;
        const timer = setInterval(() => response.write(': on\n\n'), 5);
        response.writeHead(200, STREAM).once('close', () => {
          clearInterval(timer);
          isOpen = false;
        });
      },
    });
    const stop = new AbortController();
    const ended = attack('none', { signal: stop.signal });
    await eventually('the stream to open', () => isOpen);
    stop.abort(new Error('enough'));
    expect((await ended).error?.message).toBe('enough');

    await eventually('the stream to end', () => !isOpen);
  });

  it('that end at once are not opened again at once', async () => {
    let opened = 0;
    const { attack } = await hostile(ATTACKS, (response) => {
      opened += 1;
      response.writeHead(200, STREAM).end('retry: 0\nid: 1\n\n');
    });
    const begun = performance.now();
    await attack('none');
    await eventually('a second stream', () => opened >= 2);

    expect(opened).toBeLessThanOrEqual(2 + (performance.now() - begun) / 500);
  });
});
