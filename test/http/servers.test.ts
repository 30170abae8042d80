import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { hostName, hostText } from '../../src/http/host-names.ts';
import { disconnectAll, listen } from '../../src/http/listen.ts';

describe('a server over HTTP', () => {
  it('outlives a connection that cannot be opened, and disconnects all when it ends', async () => {
    const server = createServer();
    const port = await listen(server, '127.0.0.1', 0);
    const client = connect(port, '127.0.0.1');
    await once(client, 'connect');

    server.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' }));
    const left = once(client, 'close');
    await disconnectAll(server);
    await left;

    expect(server.listening).toBe(false);
  });

  it('says why it cannot listen', async () => {
    const taken = createServer();
    const port = await listen(taken, '127.0.0.1', 0);

    await expect(listen(createServer(), '127.0.0.1', port)).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
    await disconnectAll(taken);
  });
});

describe('hosts', () => {
  it.each([
    ['localhost:8234', 'localhost'],
    ['Agents.Example', 'agents.example'],
    ['127.0.0.1:80', '127.0.0.1'],
    ['[::1]:8234', '::1'],
    ['[::1]', '::1'],
    ['', ''],
  ])('%s names %s', (header, name) => {
    expect(hostName(header)).toBe(name);
  });

  it('of IPv6 stand in brackets in an address', () => {
    expect(['::1', '127.0.0.1', 'localhost'].map(hostText)).toEqual([
      '[::1]',
      '127.0.0.1',
      'localhost',
    ]);
  });
});
