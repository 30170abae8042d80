/** A console whose port strangers reach: raw connections that send, and read, drop by drop. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openConsole, type OpenConsole } from '../../src/console/serve/open-console.ts';
import { withinMs } from '../support/extent.ts';
import { memoryEverloop } from '../support/memory-everloop.ts';
import { READ_TOKEN, TOKEN } from './console-stage.ts';

let dataDir = '';
let opened: OpenConsole;
const sockets: Socket[] = [];
const drips: NodeJS.Timeout[] = [];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'everloop-strangers-'));
  const env = { EVERLOOP_CONSOLE_TOKEN: TOKEN, EVERLOOP_CONSOLE_READ_TOKEN: READ_TOKEN };
  opened = await openConsole({ everloop: memoryEverloop([]), dataDir, env, port: 0 });
});
afterEach(async () => {
  for (const drip of drips.splice(0)) clearInterval(drip);
  for (const socket of sockets.splice(0)) socket.destroy();
  await opened.close();
  await rm(dataDir, { recursive: true });
});

/** A connection that sends `first`, then `drop` ten times a second. */
async function stranger(first: string, drop = ''): Promise<Socket> {
  const socket = connect(opened.port, '127.0.0.1');
  socket.on('error', () => undefined);
  sockets.push(socket);
  await once(socket, 'connect');
  socket.write(first);
  if (drop !== '') drips.push(setInterval(() => socket.write(drop), 100));
  return socket;
}

const head = (path: string, token?: string, method = 'GET'): string =>
  `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${opened.port}\r\n${
    token === undefined ? '' : `Authorization: Bearer ${token}\r\n`
  }`;

async function meta(token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, connection: 'close' };
  return (await fetch(`${opened.url}/api/v1/meta`, { headers })).status;
}

describe('connections without a token', () => {
  it.each([
    { what: 'nothing', first: '', drop: '' },
    {
      what: 'headers drop by drop',
      first: 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: ',
      drop: 'a',
    },
    {
      what: 'a body drop by drop',
      first: 'POST /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n\r\n',
      drop: 'a',
    },
    { what: 'one request', first: 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n', drop: '' },
    {
      what: 'another token',
      first:
        'GET /api/v1/live HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer some-other-token\r\n\r\n',
      drop: '',
    },
  ])('end after two seconds, with $what', async ({ first, drop }) => {
    const socket = await stranger(first, drop);
    socket.resume();
    const began = performance.now();
    await once(socket, 'close');

    expect(performance.now() - began).toBeLessThan(Math.min(withinMs(4_000), 9_000));
  });

  it('displace nobody: each of a thousand lets those in who have a token', async () => {
    const live = await stranger(`${head('/api/v1/live?list=true', TOKEN)}\r\n`);
    const [hello] = (await once(live, 'data')) as [Buffer];
    expect(hello.toString()).toContain('200 OK');
    for (let turn = 0; turn < 10; turn++) {
      await Promise.all(
        Array.from({ length: 100 }, () => stranger('GET / HTTP/1.1\r\nX-A: ', turn % 2 ? 'a' : '')),
      );
      expect(await meta(TOKEN)).toBe(200);
      expect(await meta(READ_TOKEN)).toBe(200);
    }
    expect(live.destroyed).toBe(false);
    expect(sockets.filter(({ destroyed }) => !destroyed).length).toBeLessThan(400);
  });
});

describe('live places', () => {
  it('are left for those who act, when tabs that only look and read nothing take the others', async () => {
    const readers = await Promise.all(
      Array.from({ length: 150 }, () => stranger(`${head('/api/v1/live', READ_TOKEN)}\r\n`)),
    );
    const answers = await Promise.all(
      readers.map(async (socket) => {
        const [answer] = (await once(socket, 'data')) as [Buffer];
        socket.pause();
        return /^HTTP\/1\.1 (\d+)/.exec(answer.toString())?.[1];
      }),
    );
    expect(answers.filter((status) => status === '200')).toHaveLength(100);
    expect(new Set(answers)).toEqual(new Set(['200', '503']));

    const own = await stranger(`${head('/api/v1/live', TOKEN)}\r\n`);
    const [answer] = (await once(own, 'data')) as [Buffer];
    expect(answer.toString()).toContain('200 OK');
  });
});
