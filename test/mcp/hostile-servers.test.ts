import { createServer } from 'node:http';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../src/core/base/json.ts';
import type { RunInfo } from '../../src/core/calls/run-info.ts';
import type { McpServerDefinition } from '../../src/define/definition/mcp-server.ts';
import { isCheckable } from '../../src/mcp/catalogue/check-cost.ts';
import type { McpConnection } from '../../src/mcp/connection/connection.ts';
import { ServerPool } from '../../src/mcp/connection/pool.ts';
import { createMcpTools, type WorkerMcpTools } from '../../src/mcp/mcp-tools.ts';
import { boundedFetch } from '../../src/mcp/transport/bounded-fetch.ts';
import { fakeServer } from '../support/fake-servers.ts';
import { callListed, listening, wildServer } from '../support/mcp-servers.ts';
import { passing } from '../support/passing.ts';

const opened: WorkerMcpTools[] = [];

afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(opened.splice(0).map((tools) => tools.close()));
});

function open(server: McpServerDefinition): WorkerMcpTools {
  const tools = createMcpTools({ servers: [server] });
  opened.push(tools);
  return tools;
}

/** A chain of definitions, each of which tries the next one twice. */
function doublingSchema(levels: number): JsonObject {
  const twice = (name: string): JsonObject => ({
    anyOf: [{ allOf: [{ $ref: `#/$defs/${name}` }] }, { allOf: [{ $ref: `#/$defs/${name}` }] }],
  });
  const $defs = Object.fromEntries(
    Array.from({ length: levels }, (_, level): [string, JsonObject] => [
      `t${level}`,
      level === 0 ? { type: 'string' } : twice(`t${level - 1}`),
    ]),
  );
  return { type: 'object', properties: { text: { $ref: `#/$defs/t${levels - 1}` } }, $defs };
}

describe('a server whose schemas take years to check', () => {
  it('checks its arguments itself', async () => {
    const toolsFile = join(mkdtempSync(join(tmpdir(), 'everloop-mcp-')), 'tools.json');
    const tool = { name: 'echo', description: 'Echoes.', inputSchema: doublingSchema(60) };
    writeFileSync(toolsFile, JSON.stringify([tool]));
    const server = wildServer({ toolsFile });
    const tools = open(server);
    const listing = await tools.list([server]);
    const spec = listing.kind === 'listed' ? listing.tools[0]?.spec : undefined;
    const bound = await tools.bind(spec?.mcp ?? { server: '', tool: '', hash: '' }, {
      name: 'wild_echo',
      runId: 'r',
      args: { text: 7 },
      signal: AbortSignal.timeout(60_000),
    });

    expect(bound).toMatchObject({
      kind: 'tool',
      tool: { spec: { parameters: { type: 'object' } } },
    });
    expect((await callListed(tools, [server], 'wild_echo', { text: 'x' })).value).toBe('x');
  });

  it.each<[string, JsonObject, boolean]>([
    ['a plain one', { type: 'object', properties: { a: { type: 'string' } } }, true],
    ['a reference', { properties: { a: { $ref: '#/$defs/a~1b' } }, $defs: { 'a/b': {} } }, true],
    ['twelve doublings', doublingSchema(12), true],
    ['forty doublings', doublingSchema(40), false],
    ['one within itself', { properties: { a: { $ref: '#' } } }, false],
    ['a name for it', { $defs: { a: { $anchor: 'a' } }, $ref: '#a' }, false],
    ['another base', { $defs: { a: { $id: 'https://x.example/', $ref: '#' } } }, false],
    ['a part that is missing', { $ref: '#/$defs/none' }, false],
    ['a part that is no schema', { $ref: '#/x/y', x: { y: { pattern: '(a+)+$' } } }, false],
    ['a field of the name $ref', { properties: { $ref: doublingSchema(40) } }, false],
    ['a field of the name $id', { properties: { $id: { type: 'string' } } }, true],
  ])('%s: can be checked here or not', (_name, schema, isFit) => {
    expect(isCheckable(schema, { a: 1 })).toBe(isFit);
  });

  it('a thousand shapes are not tried on a thousand values', () => {
    const shapes = Array.from({ length: 1_000 }, () => ({ type: 'null' }));
    const schema = { type: 'object', properties: { a: { items: { anyOf: shapes } } } };

    expect(isCheckable(schema, { a: [1] })).toBe(true);
    expect(isCheckable(schema, { a: Array.from({ length: 1_000 }, () => 1) })).toBe(false);
  });

  const names = Array.from({ length: 4_000 }, (_, index) => `n${index}`);
  it.each<[string, JsonObject]>([
    ['values to choose from', { enum: names }],
    ['names that are required', { required: names }],
    ['names that depend on one', { dependentRequired: { a: names } }],
    ['names that depend on one, as before', { dependencies: { a: names } }],
    ['items that differ', { items: { uniqueItems: true } }],
  ])('%s are counted for each value', (_name, items) => {
    const schema = { type: 'object', properties: { a: { items } } };

    expect(isCheckable(schema, { a: [[1]] })).toBe(true);
    expect(isCheckable(schema, { a: Array.from({ length: 2_000 }, () => [1]) })).toBe(false);
  });
});

describe('calls of a server that never answers', () => {
  it('give back their places when they are stopped', async () => {
    const server = wildServer({}, { maxConcurrent: 2, overrides: { hang: { effect: 'once' } } });
    const tools = open(server);
    for (let call = 0; call < 4; call++) {
      const stop = new AbortController();
      void callListed(tools, [server], 'wild_hang', {}, { signal: stop.signal });
      await callListed(tools, [server], 'wild_echo', { text: 'x' });
      stop.abort(new Error('stop'));
    }

    expect((await callListed(tools, [server], 'wild_echo', { text: 'on' })).value).toBe('on');
  });

  it('a newer listing does not hold those who know an older one', async () => {
    const server = wildServer({ listsOnce: true });
    const tools = open(server);
    const first = await tools.list([server]);
    const later = Date.now() + 120_000;
    vi.spyOn(Date, 'now').mockReturnValue(later);
    const late = new Promise((resolve) => setTimeout(resolve, 7_000, 'late'));

    expect(await Promise.race([tools.list([server]), late])).toEqual(first);
  });
});

describe('the connections of a server', () => {
  function connections() {
    const made: { readonly connection: McpConnection; isClosed: boolean }[] = [];
    const connect = (): McpConnection => {
      const one = {
        isClosed: false,
        connection: {
          isOpen: () => !one.isClosed,
          close: async () => void (one.isClosed = true),
        } as unknown as McpConnection,
      };
      made.push(one);
      return one.connection;
    };
    return { made, connect };
  }
  const signal = AbortSignal.timeout(60_000);

  it('one that is refused to a call is closed after the other calls on it', async () => {
    const { made, connect } = connections();
    const pool = new ServerPool(fakeServer('x'), async () => connect());
    const [refused, other] = [
      await pool.lease(undefined, signal),
      await pool.lease(undefined, signal),
    ];
    refused.release(true);
    const next = await pool.lease(undefined, signal);

    expect(made.map(({ isClosed }) => isClosed)).toEqual([false, false]);
    other.release();
    expect(made.map(({ isClosed }) => isClosed)).toEqual([true, false]);
    next.release();
    await pool.close();
    expect(made.map(({ isClosed }) => isClosed)).toEqual([true, true]);
  });

  it('those of many runs stay for a minute, then the longest unused are closed', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    try {
      const { made, connect } = connections();
      const pool = new ServerPool(fakeServer('x', { scope: 'run' }), async () => connect());
      const use = async (run: number) =>
        (await pool.lease({ runId: `run-${run}` } as RunInfo, signal)).release();
      for (let run = 0; run < 70; run++) await use(run);
      expect(made.filter(({ isClosed }) => isClosed)).toEqual([]);
      vi.advanceTimersByTime(61_000);
      await use(0);

      expect(made.flatMap(({ isClosed }, run) => (isClosed ? [run] : []))).toEqual([
        1, 2, 3, 4, 5, 6,
      ]);
      await pool.close();
    } finally {
      vi.useRealTimers();
    }
  });

  it('one that comes when nobody waits for it any more is closed', async () => {
    const { made, connect } = connections();
    let arrive = (): void => undefined;
    const arrived = new Promise<void>((resolve) => (arrive = resolve));
    const pool = new ServerPool(fakeServer('x', { idleMs: 1 }), () => arrived.then(connect));
    const stop = new AbortController();
    const lease = pool.lease(undefined, stop.signal);
    stop.abort(new Error('stop'));
    await expect(lease).rejects.toThrow('stop');
    await new Promise((resolve) => setTimeout(resolve, 30));
    arrive();
    await passing(() => expect(made[0]?.isClosed).toBe(true));
  });
});

describe('streams over HTTP', () => {
  async function read(chunks: Iterable<string>): Promise<{ bytes: number; ms: number }> {
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      void (async () => {
        for (const chunk of chunks) {
          if (!response.write(chunk)) await new Promise((go) => response.once('drain', go));
        }
        response.end();
      })();
    });
    const { url, close } = await listening(server);
    try {
      const reports = { onStreamEnd: () => undefined, onRetryAfter: () => undefined };
      const began = performance.now();
      const { body } = await boundedFetch(reports)(url);
      let bytes = 0;
      for await (const chunk of body ?? []) bytes += (chunk as Uint8Array).length;
      return { bytes, ms: performance.now() - began };
    } finally {
      await close();
    }
  }

  it('are read slowly if they bring too many messages, however their lines end', async () => {
    const events = Array.from({ length: 10 }, () => 'data: {}\r\r'.repeat(1_000));

    // Four thousand a second.
    expect((await read(events)).ms).toBeGreaterThan(1_000);
  });

  it('may be endless, wherever their messages are cut', async () => {
    const message = `data: ${'x'.repeat(1_000_000)}\n`;
    const chunks = Array.from({ length: 20 }, () => [message, '\n']).flat();

    expect((await read(chunks)).bytes).toBeGreaterThan(20_000_000);
  });
});
