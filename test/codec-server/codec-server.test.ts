import { once } from 'node:events';
import { request, type IncomingMessage, type RequestOptions } from 'node:http';
import { connect, createServer, type AddressInfo } from 'node:net';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { afterEach, describe, expect, it } from 'vitest';
import {
  openCodecServer,
  type CodecServer,
  type CodecServerOptions,
} from '../../src/codec-server/codec-server.ts';
import { toWire } from '../../src/codec-server/wire.ts';
import { keyRing } from '../../src/protection/key-ring.ts';
import { protectionOf } from '../../src/protection/protection.ts';
import { eventually } from '../support/eventually.ts';
import { RUNS_ALL, withinMs } from '../support/extent.ts';
import { gate } from '../support/runs.ts';

const protection = protectionOf({
  keys: keyRing({ current: 'k1', keys: { k1: Buffer.alloc(32, 1) } }),
});
const TOKEN = 'a-token-of-sixteen';

const opened: CodecServer[] = [];
afterEach(async () => {
  for (const server of opened.splice(0)) await server.close();
});

async function open(options: Partial<CodecServerOptions> = {}): Promise<CodecServer> {
  const server = await openCodecServer({ protection, host: '127.0.0.1', port: 0, ...options });
  opened.push(server);
  return server;
}

async function ask(
  { port }: CodecServer,
  { headers = {}, ...options }: RequestOptions = {},
  body = '{"payloads":[]}',
): Promise<{ readonly status: number | undefined; readonly text: string }> {
  const to = { host: '127.0.0.1', port, path: '/decode', method: 'POST', agent: false, ...options };
  const sent = request({ ...to, headers });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.setEncoding('utf8');
  let text = '';
  for await (const piece of response) text += String(piece);
  return { status: response.statusCode, text };
}

describe('openCodecServer', () => {
  it('decrypts over HTTP', async () => {
    const payload = defaultPayloadConverter.toPayload('tea');
    const [encrypted] = await protection.codec.encode([payload]);
    const body = JSON.stringify({ payloads: [toWire(encrypted as Payload)] });

    const answer = await ask(await open(), {}, body);

    expect(JSON.parse(answer.text)).toEqual({ payloads: [toWire(payload)] });
  });

  it('knows its Host, so that no name leads a page of another site to it', async () => {
    const server = await open({ allowedHosts: ['Codec.Example'] });
    const own = [
      `127.0.0.1:${server.port}`,
      `localhost:${server.port}`,
      'LocalHost',
      `[::1]:${server.port}`,
      '10.0.0.7',
      'codec.example',
    ];
    for (const host of own) {
      expect(await ask(server, { headers: { host } }), host).toMatchObject({ status: 200 });
    }
    const strange = ['evil.example', `evil.example:${server.port}`, '127.0.0.1.evil.example'];
    for (const host of strange) {
      expect(await ask(server, { headers: { host } }), host).toEqual({
        status: 403,
        text: 'Expected another Host. Allow it with --allow-host.\n',
      });
    }
  });

  it('does not start off the loopback without a token', async () => {
    for (const host of ['0.0.0.0', '::', '10.0.0.1', 'codec.example']) {
      await expect(open({ host })).rejects.toMatchObject({
        code: 'codec_server',
        message: `Expected a token for a codec server at \`${host}\`, which other machines reach, got none. Set EVERLOOP_CODEC_TOKEN.`,
      });
    }
    const server = await open({ host: '0.0.0.0', token: TOKEN });
    expect(await ask(server)).toMatchObject({ status: 401 });
    const headers = { authorization: `Bearer ${TOKEN}` };
    expect(await ask(server, { headers })).toMatchObject({ status: 200 });
  });

  it('says that its port is in use', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;

    await expect(open({ port })).rejects.toMatchObject({
      code: 'codec_server',
      message: `Expected to listen at 127.0.0.1:${port}, got: listen EADDRINUSE: address already in use 127.0.0.1:${port}. Choose another with \`--listen\`, or stop what listens there.`,
    });
    taken.close();
  });

  it.runIf(RUNS_ALL)(
    'forgets clients that leave while their blobs and keys are being found',
    async () => {
      const found = gate();
      let asked = 0;
      const slow = protectionOf({
        keys: {
          current: () => 'k1',
          find: async () => {
            asked += 1;
            await found.opened;
            return Buffer.alloc(32, 1);
          },
        },
      });
      const server = await open({ protection: slow });
      // A small request with a large answer.
      const { codec } = protectionOf({
        keys: keyRing({ current: 'k1', keys: { k1: Buffer.alloc(32, 1) } }),
        compress: true,
      });
      const [encrypted] = await codec.encode([{ metadata: {}, data: Buffer.alloc(6_000_000) }]);
      const body = JSON.stringify({ payloads: [toWire(encrypted as Payload)] });
      const head = `POST /decode HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${body.length}\r\n\r\n`;
      // Their answers together are more than a server holds.
      for (let client = 0; client < 50; client++) {
        const socket = connect(server.port, '127.0.0.1');
        socket.on('error', () => undefined);
        socket.write(head + body);
        if (client === 0) await eventually('a question for the key', () => asked > 0);
        await new Promise((resolve) => setTimeout(resolve, 20));
        socket.destroy();
      }
      found.open();

      expect(await ask(server, {}, body)).toMatchObject({ status: 200 });
    },
  );

  it('stays up under bytes that are no HTTP, headers without end and broken connections', async () => {
    const server = await open();
    const requests = [
      'garbage\r\n\r\n',
      `POST /decode HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`,
      'POST /decode HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
      'POST /decode HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n',
      'POST /decode HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99\r\n\r\n{',
      'POST /decode HTTP/1.1\r\nHost: a b\r\nContent-Length: 2\r\n\r\n{}',
      'POST http://[ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n\r\n{}',
      'POST //evil/../decode?% HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n\r\n{}',
    ];
    for (const text of requests) {
      const socket = connect(server.port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.end(text);
      socket.resume();
      await once(socket, 'close');
    }
    expect(await ask(server)).toEqual({ status: 200, text: '{"payloads":[]}' });
  });
});

describe('payloads that become large', () => {
  const compressing = protectionOf({
    keys: keyRing({ current: 'k1', keys: { k1: Buffer.alloc(32, 1) } }),
    compress: true,
  });
  const bodyOf = async (bytes: number, count = 1): Promise<string> => {
    const [encrypted] = await compressing.codec.encode([
      { metadata: {}, data: Buffer.alloc(bytes) },
    ]);
    return JSON.stringify({ payloads: Array(count).fill(toWire(encrypted as Payload)) });
  };

  it('end their request at once, while honest ones are answered', async () => {
    const server = await open();
    // Just below and just above what one payload may have, alone and forty times.
    const bombs = await Promise.all([bodyOf(66_000_000, 40), bodyOf(70_000_000, 40)]);
    const honest = await bodyOf(300_000, 3);
    const before = process.memoryUsage.rss();
    let most = before;
    const watch = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 20);
    const refused: Promise<{ readonly status: number | undefined }>[] = [];
    const waits: number[] = [];
    try {
      for (let turn = 0; turn < 20; turn++) {
        refused.push(ask(server, {}, bombs[turn % 2]));
        const began = performance.now();
        const answer = await ask(server, {}, honest);
        waits.push(performance.now() - began);
        expect(answer.status).toBe(200);
      }
      const statuses = new Set((await Promise.all(refused)).map(({ status }) => status));
      expect([...statuses].filter((status) => status !== 413 && status !== 503)).toEqual([]);
      expect(statuses).toContain(413);
    } finally {
      clearInterval(watch);
    }
    // Forty bombs one after the other took seconds; here no more than a piece of one is in the way.
    expect(Math.max(...waits)).toBeLessThan(withinMs(1_000));
    expect(most - before).toBeLessThan(1_200_000_000);
  }, 60_000);
});
