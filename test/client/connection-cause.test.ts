/** What `connect` says about a server that it cannot reach: the cause, and what to do about it. */
import { createServer as createHttp2, type Http2Server } from 'node:http2';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { createServer as createTls } from 'node:tls';
import type { ConnectionOptions } from '@temporalio/client';
import { afterAll, describe, expect, it } from 'vitest';
import { connect } from '../../src/client/connect.ts';
import { timesOf } from '../../src/client/connection/connection-cause.ts';
import { isUsageError } from '../../src/core/base/usage-error.ts';
import { CERTIFICATE, KEY } from '../support/certificate.ts';

const servers: (Server | Http2Server)[] = [];
afterAll(() => servers.forEach((server) => server.close()));

async function listen(server: Server | Http2Server): Promise<string> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A server that speaks TLS and nothing else. */
async function tlsServer(): Promise<string> {
  const server = createTls({ cert: CERTIFICATE, key: KEY, ALPNProtocols: ['h2'] });
  server.on('tlsClientError', () => undefined);
  server.on('secureConnection', (socket) => socket.on('error', () => undefined));
  return listen(server);
}

/** A server that answers every call with a status of gRPC. */
async function answering(status: string): Promise<string> {
  const server = createHttp2();
  server.on('stream', (stream) => {
    const headers = { ':status': 200, 'content-type': 'application/grpc' };
    const reason = { 'grpc-status': status, 'grpc-message': 'token expired' };
    stream.respond({ ...headers, ...reason }, { endStream: true });
  });
  return listen(server);
}

async function errorAt(address: string, connection: ConnectionOptions = {}): Promise<string> {
  const error: unknown = await connect({ env: {}, address, connection, timeoutMs: 10_000 }).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isUsageError(error)) throw new Error('Expected a usage error.', { cause: error });
  expect(error.code).toBe('no_server');
  return error.message.slice(`Expected a Temporal server at ${address}, got: `.length);
}

// Each waits for its deadline, so they wait at the same time.
describe.concurrent('a server that cannot be reached', () => {
  it('has refused the connection', async () => {
    const server = createServer();
    const address = await listen(server);
    await new Promise((resolve) => server.close(resolve));

    expect(await errorAt(address)).toBe(
      'the connection was refused (ECONNREFUSED): nothing listens at that port. ' +
        'Start one with `everloop dev`, or correct `TEMPORAL_ADDRESS`.',
    );
  });

  it('has a name without an address', async () => {
    expect(await errorAt('temporal.invalid:7233')).toMatch(
      /^DNS has no address for `temporal\.invalid` \(.+\)\. Correct `TEMPORAL_ADDRESS`, or the DNS/,
    );
  });

  it('has a certificate that cannot be trusted', async () => {
    expect(await errorAt(await tlsServer(), { tls: true })).toBe(
      'TLS failed (DEPTH_ZERO_SELF_SIGNED_CERT). Correct `TEMPORAL_TLS` and the variables `TEMPORAL_TLS_…`.',
    );
  });

  it('does not speak TLS, though it is asked to', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    });

    expect(await errorAt(await listen(server), { tls: true })).toMatch(/^TLS failed \(.+\)\. /);
  });

  it('wants TLS, which is off', async () => {
    expect(await errorAt(await tlsServer())).toBe(
      'it wants TLS, which is off. Set `TEMPORAL_TLS=true`, or `TEMPORAL_API_KEY`.',
    );
  });

  it('refuses the credentials', async () => {
    expect(await errorAt(await answering('16'))).toMatch(
      /^it refuses the credentials \(.*token expired.*\)\. Correct `TEMPORAL_API_KEY`, or /,
    );
  });

  it('listens, and says nothing', async () => {
    const server = createServer((socket) => void socket.on('error', () => undefined));

    expect(await errorAt(await listen(server))).toMatch(
      /^something accepts the connection, but does not answer as a Temporal server \(/,
    );
  });
});

it('leaves a share of the time for the cause', () => {
  expect(timesOf(5_000)).toEqual({ connectMs: 4_000, causeMs: 1_000 });
});
