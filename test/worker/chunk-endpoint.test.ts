import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { get as getSecurely } from 'node:https';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createFrameReader } from '../../src/client/streaming/frame-reader.ts';
import { signStreamToken } from '../../src/protection/stream-token.ts';
import type { WireMessage } from '../../src/core/streaming/chunk-wire.ts';
import { createChunkBus, type ChunkBus } from '../../src/worker/streaming/chunk-bus.ts';
import {
  openChunkEndpoint,
  type ChunkEndpoint,
  type ChunkEndpointOptions,
} from '../../src/worker/streaming/chunk-endpoint.ts';
import { CERTIFICATE, KEY } from '../support/certificate.ts';
import { chunk, marker } from '../support/chunks.ts';
import { cpuClock } from '../support/cpu-time.ts';
import { eventually } from '../support/eventually.ts';

const TOKEN = 'a-token-of-sixteen';
const opened: ChunkEndpoint[] = [];

afterEach(async () => {
  for (const endpoint of opened.splice(0)) await endpoint.close();
});

async function open(
  bus: ChunkBus,
  options: Partial<ChunkEndpointOptions> = {},
): Promise<ChunkEndpoint> {
  const endpoint = await openChunkEndpoint({ source: bus, token: TOKEN, ...options });
  opened.push(endpoint);
  return endpoint;
}

async function ask(url: string, token: string = TOKEN, method = 'GET'): Promise<IncomingMessage> {
  const request = get(url, { method, agent: false, headers: { authorization: `Bearer ${token}` } });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}

async function textOf(response: IncomingMessage): Promise<string> {
  response.setEncoding('utf8');
  let text = '';
  for await (const piece of response) text += String(piece);
  return text;
}

/** Whatever a reader is told, as it comes. */
function readFrames(response: IncomingMessage): WireMessage[] {
  const frames: WireMessage[] = [];
  const read = createFrameReader();
  response.setEncoding('utf8');
  response.on('data', (text: string) => frames.push(...read(text)));
  return frames;
}

const deltasOf = (frames: readonly WireMessage[]): readonly string[] =>
  frames.flatMap((frame) =>
    frame.kind === 'item' ? ['delta' in frame.item ? frame.item.delta : frame.item.kind] : [],
  );

describe('openChunkEndpoint', () => {
  it('listens on loopback alone unless it is told otherwise', async () => {
    const { url } = await open(createChunkBus());

    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  it.each([
    { name: 'a wrong token', path: '/chunks', token: 'another', method: 'GET', status: 401 },
    { name: 'a wrong token elsewhere', path: '/x', token: 'another', method: 'GET', status: 401 },
    { name: 'another path', path: '/x', token: TOKEN, method: 'GET', status: 404 },
    { name: 'another method', path: '/chunks', token: TOKEN, method: 'POST', status: 405 },
    { name: 'a path that is no URL', path: '//', token: TOKEN, method: 'GET', status: 404 },
  ])('refuses $name', async ({ path, token, method, status }) => {
    const { url } = await open(createChunkBus());

    const response = await ask(`${url}${path}`, token, method);

    expect(response.statusCode).toBe(status);
    expect(await textOf(response)).toMatch(/^Expected .*\n$/);
  });

  it('refuses a request for headers alone, and counts no reader for it', async () => {
    const { url } = await open(createChunkBus(), { maxReaders: 1 });

    const head = await ask(`${url}/chunks`, TOKEN, 'HEAD');
    const response = await ask(`${url}/chunks`);

    expect([head.statusCode, response.statusCode]).toEqual([405, 200]);
  });

  it.each(['//', '//chunks', '/\\\\', 'http://[', '/chunks?runId=%zz'])(
    'outlives a request for %s',
    async (target) => {
      const { url } = await open(createChunkBus());
      const { port } = new URL(url);
      const socket = connect(Number(port), '127.0.0.1');
      socket.write(`GET ${target} HTTP/1.1\r\nHost: w\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`);
      const [answer] = (await once(socket, 'data')) as [Buffer];
      socket.destroy();

      expect(answer.toString()).toMatch(/^HTTP\/1\.1 (200|400|404) /);
      expect((await ask(`${url}/chunks`)).statusCode).toBe(200);
    },
  );

  it('gives a reader what it asked for, the reply so far first, in order', async () => {
    const bus = createChunkBus();
    const { url } = await open(bus);
    bus.publish(chunk(1, 'ear'));
    bus.publish(chunk(2, 'ly'));
    const response = await ask(`${url}/chunks?runId=r`);
    const frames = readFrames(response);
    await eventually('a greeting', () => frames.length > 0);

    bus.publish(chunk(3, 'one'));
    bus.publish(chunk(1, 'other', { runId: 'x', rootRunId: 'x' }));
    bus.publish(chunk(4, 'two'));
    bus.publish(marker(5, 'end'));

    await eventually('all of it', () => deltasOf(frames).length === 4);
    expect(frames[0]).toMatchObject({ kind: 'hello', v: 1 });
    expect(frames[1]).toMatchObject({ item: { seq: 2, lengths: [3, 2] } });
    expect(deltasOf(frames)).toEqual(['early', 'one', 'two', 'end']);
  });

  it('says that it is there while a model is silent', async () => {
    const { url } = await open(createChunkBus(), { pingMs: 5 });
    const response = await ask(`${url}/chunks`);
    response.setEncoding('utf8');
    let text = '';
    response.on('data', (piece: string) => (text += piece));

    await eventually('two pings', () => text.split(': ping\n\n').length > 2);
  });

  it('ends a stream with the bus, and says so', async () => {
    const bus = createChunkBus();
    const { url } = await open(bus);
    const response = await ask(`${url}/chunks`);
    const reading = textOf(response);

    bus.close();

    expect(await reading).toMatch(/event: end\ndata: \{\}\n\n$/);
  });

  it('costs a publisher nothing when a reader takes nothing, and lets that reader go', async () => {
    const bus = createChunkBus();
    let hasLeft = false;
    const subscribe: ChunkBus['subscribe'] = (filter) => {
      const subscription = bus.subscribe(filter);
      const unsubscribe = (): void => {
        hasLeft = true;
        subscription.unsubscribe();
      };
      return { ...subscription, unsubscribe };
    };
    const { url } = await open({ ...bus, subscribe }, { drainMs: 50 });
    await ask(`${url}/chunks`);
    const piece = 'x'.repeat(100);

    const cpuMs = cpuClock();
    for (let seq = 1; seq <= 100_000; seq++) bus.publish(chunk(seq, piece));
    const tookMs = cpuMs();

    // 100,000 pieces for a reader that is stuck: some microseconds each, and no memory to speak of.
    expect(tookMs).toBeLessThan(2_000);
    await eventually('the reader to be let go', () => {
      // More than the sockets between the two can hold.
      bus.publish(chunk(0, 'x'.repeat(1_000_000)));
      return hasLeft;
    });
  });

  it('loses the oldest for a slow reader and tells it so', async () => {
    const bus = createChunkBus({ maxQueued: 10 });
    const { url } = await open(bus);
    const response = await ask(`${url}/chunks`);
    const piece = 'x'.repeat(1_000_000);
    for (let seq = 1; seq <= 200; seq++) {
      bus.publish(chunk(seq, piece));
      // The endpoint has its turn, and the reader takes nothing.
      await new Promise((resolve) => setImmediate(resolve));
    }

    const frames = readFrames(response);

    const last = await eventually('the newest', () => {
      const items = frames.flatMap((frame) => (frame.kind === 'item' ? [frame.item] : []));
      return items.at(-1)?.seq === 200 ? items : undefined;
    });
    expect(last.some(({ kind }) => kind === 'gap')).toBe(true);
    expect(last.length).toBeLessThan(200);
  });

  it('outlives readers that go in the middle of anything', async () => {
    const bus = createChunkBus();
    const { url } = await open(bus, { pingMs: 1 });
    const piece = 'x'.repeat(100_000);

    for (let round = 0; round < 20; round++) {
      const response = await ask(`${url}/chunks`);
      response.on('error', () => undefined);
      for (let seq = 1; seq <= 50; seq++) bus.publish(chunk(seq, piece));
      response.destroy();
      for (let seq = 51; seq <= 100; seq++) bus.publish(chunk(seq, piece));
      await new Promise((resolve) => setImmediate(resolve));
    }
    const last = readFrames(await ask(`${url}/chunks`));

    await eventually('a greeting', () => last.length > 0);
  });

  it('bounds the connections that anybody may open without a token', async () => {
    const { url } = await open(createChunkBus(), { maxReaders: 1 });
    const { port } = new URL(url);
    let refused = 0;
    const sockets = Array.from({ length: 150 }, () => {
      const socket = connect(Number(port), '127.0.0.1');
      socket.on('error', () => undefined).on('close', () => (refused += 1));
      return socket.resume();
    });

    await eventually('refusals', () => refused === 49);
    for (const socket of sockets) socket.destroy();
    await eventually('room', async () => {
      const response = await ask(`${url}/chunks`).catch(() => null);
      return response?.statusCode === 200;
    });
  });

  it('takes no more readers than it can serve', async () => {
    const { url } = await open(createChunkBus(), { maxReaders: 1 });
    const first = await ask(`${url}/chunks`);
    const second = await ask(`${url}/chunks`);
    expect(second.statusCode).toBe(503);

    first.destroy();

    await eventually('room', async () => {
      const response = await ask(`${url}/chunks`);
      response.destroy();
      return response.statusCode === 200;
    });
  });

  it('lets requests that wait for others on their connection take no place', async () => {
    const bus = createChunkBus();
    const { url } = await open(bus, { maxReaders: 3 });
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    const request = `GET /chunks?runId=r HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${TOKEN}\r\n\r\n`;
    socket.write(request.repeat(3));
    await eventually('a reader', () => bus.isRead({ runId: 'r', rootRunId: 'r' }));
    const others = [await ask(`${url}/chunks`), await ask(`${url}/chunks`)];
    expect(others.map(({ statusCode }) => statusCode)).toEqual([200, 200]);

    socket.destroy();

    for (const other of others) other.destroy();
    await eventually('nobody', () => !bus.isRead({ runId: 'r', rootRunId: 'r' }));
  });
});

/** A scoped token for the tree of `rootRunId`. */
function scoped(rootRunId: string, ttlMs = 60_000): string {
  return signStreamToken({ rootRunId, ttlMs, readers: TOKEN }).token;
}

describe('a scoped token', () => {
  it('opens one tree, with the runs below its root, whatever is asked for', async () => {
    const bus = createChunkBus();
    const { url } = await open(bus);
    const below = { runId: 'child', rootRunId: 'r' };
    const answers = await Promise.all(
      ['', '?rootRunId=r', '?runId=child', '?runId=other'].map((query) =>
        ask(`${url}/chunks${query}`, scoped('r')),
      ),
    );
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200]);
    const read = answers.map(readFrames);
    await eventually('greetings', () => read.every((frames) => frames.length > 0));

    bus.publish(chunk(1, 'root'));
    bus.publish(chunk(1, 'below', below));
    bus.publish(chunk(1, 'other', { runId: 'other', rootRunId: 'other' }));
    bus.publish(chunk(1, 'near', { runId: 'r-child', rootRunId: 'r-child' }));
    bus.publish(chunk(2, 'last'));
    bus.publish(chunk(2, 'last', below));

    const all = ['root', 'below', 'last', 'last'];
    await eventually('all of it', () => read.slice(0, 2).every((it) => deltasOf(it).length === 4));
    await eventually('the child', () => deltasOf(read[2] ?? []).length === 2);
    expect(read.map(deltasOf)).toEqual([all, all, ['below', 'last'], []]);
  });

  it('is refused for another tree, and when it has expired, with the words for any token', async () => {
    const { url } = await open(createChunkBus());
    const expired = signStreamToken({ rootRunId: 'r', readers: TOKEN, ttlMs: 1_000, now: 0 }).token;

    const refused = await Promise.all([
      ask(`${url}/chunks?rootRunId=other`, scoped('r')),
      ask(`${url}/chunks`, expired),
      ask(`${url}/chunks`, 'no-token-of-anyone'),
      ask(`${url}/elsewhere`, 'no-token-of-anyone'),
    ]);

    expect(refused.map(({ statusCode }) => statusCode)).toEqual([401, 401, 401, 401]);
    const texts = await Promise.all(refused.map(textOf));
    expect(new Set(texts)).toEqual(new Set(['Expected a token of this worker.\n']));
  });

  it('ends open streams when it expires', async () => {
    const { url } = await open(createChunkBus());
    const response = await ask(`${url}/chunks`, scoped('r', 1_000));

    expect(response.statusCode).toBe(200);
    expect(await textOf(response)).toMatch(/event: end\ndata: \{\}\n\n$/);
    const again = await ask(`${url}/chunks`);
    expect(again.statusCode).toBe(200);
  });

  it('takes no more than a tenth of the places for one tree', async () => {
    const { url } = await open(createChunkBus(), { maxReaders: 20 });
    const codes: unknown[] = [];
    for (const rootRunId of ['r', 'r', 'r', 'other']) {
      codes.push((await ask(`${url}/chunks`, scoped(rootRunId))).statusCode);
    }
    codes.push((await ask(`${url}/chunks`)).statusCode);

    expect(codes).toEqual([200, 200, 503, 200, 200]);
  });

  it('is read by a page of another address', async () => {
    const { url } = await open(createChunkBus());

    const asked = await fetch(`${url}/chunks`, { method: 'OPTIONS' });
    const refused = await fetch(`${url}/chunks`);
    const read = await ask(`${url}/chunks`, scoped('r'));

    expect(asked.status).toBe(204);
    expect(Object.fromEntries(asked.headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-headers': 'authorization',
      'access-control-allow-methods': 'GET',
    });
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([
      401,
      '*',
    ]);
    expect(read.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'cache-control': 'no-store',
    });
    expect(
      [asked, refused].map(({ headers }) => headers.get('access-control-allow-credentials')),
    ).toEqual([null, null]);
  });
});

describe('an endpoint with a certificate', () => {
  it('serves only encrypted connections', async () => {
    const bus = createChunkBus();
    const { url } = await open(bus, { tls: { cert: CERTIFICATE, key: KEY } });
    expect(url).toMatch(/^https:/);

    const request = getSecurely(`${url}/chunks?runId=r`, {
      ca: CERTIFICATE,
      agent: false,
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const frames = readFrames(response);
    await eventually('a greeting', () => frames.length > 0);
    bus.publish(chunk(1, 'one'));
    await eventually('a piece', () => frames.length > 1);

    expect(deltasOf(frames)).toEqual(['one']);
    await expect(ask(url.replace('https:', 'http:'))).rejects.toThrow();
    await expect(fetch(`${url}/chunks`)).rejects.toThrow();
  });
});
