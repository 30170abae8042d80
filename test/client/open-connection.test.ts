/** Which refusals of the service a connection leaves to its caller. */
import { createServer, type Http2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, it } from 'vitest';
import { isGuarded, openConnection } from '../../src/client/connection/open-connection.ts';

const servers: Http2Server[] = [];
afterAll(() => servers.forEach((server) => server.close()));

/** A service that answers its first call, and refuses others with this gRPC status and message. */
async function refusing(
  status: string,
  message: string,
): Promise<{ readonly address: string; readonly calls: () => number }> {
  let calls = 0;
  const server = createServer();
  server.on('stream', (stream, { ':path': path }) => {
    const headers = { ':status': 200, 'content-type': 'application/grpc' } as const;
    if (String(path).endsWith('GetSystemInfo')) {
      stream.respond(headers, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.end(Buffer.alloc(5));
      return;
    }
    calls += 1;
    const refusal = { 'grpc-status': status, 'grpc-message': message };
    stream.respond({ ...headers, ...refusal }, { endStream: true });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { address: `127.0.0.1:${port}`, calls: () => calls };
}

it.each([
  ['a query that waits for another one', '8', 'consistent query buffer is full', 1],
  ['what a client should not repeat', '3', 'invalid', 1],
  ['what is too much for now, until the deadline', '14', 'unavailable', 2],
])('leaves to its caller %s', async (_name, status, message, least) => {
  const { address, calls } = await refusing(status, message);
  const { connection, close } = await openConnection({ address });
  const query = { namespace: 'n', execution: { workflowId: 'w' }, query: { queryType: 'q' } };

  const asking = connection.withDeadline(Date.now() + 700, () =>
    connection.workflowService.queryWorkflow(query),
  );

  await expect(asking).rejects.toThrow();
  if (least === 1) expect(calls()).toBe(1);
  else expect(calls()).toBeGreaterThanOrEqual(least);
  expect(isGuarded(connection)).toBe(true);
  await close();
});

it('repeats a look at a schedule that the service refuses for a query of its own', async () => {
  const { address, calls } = await refusing('8', 'consistent query buffer is full');
  const { connection, close } = await openConnection({ address });

  const asking = connection.withDeadline(Date.now() + 500, () =>
    connection.workflowService.describeSchedule({ namespace: 'n', scheduleId: 's' }),
  );

  await expect(asking).rejects.toThrow();
  expect(calls()).toBeGreaterThan(4);
  await close();
});

it('reads a page of more than the 4 MB that gRPC takes by default', async () => {
  const bytes = 6_000_000;
  const server = createServer();
  server.on('stream', (stream, { ':path': path }) => {
    stream.respond(
      { ':status': 200, 'content-type': 'application/grpc' },
      { waitForTrailers: true },
    );
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    const isPage = String(path).endsWith('GetWorkflowExecutionHistory');
    stream.end(isPage ? pageOf(bytes) : Buffer.alloc(5));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const { connection, close } = await openConnection({ address: `127.0.0.1:${port}` });

  const page = await connection.workflowService.getWorkflowExecutionHistory({ namespace: 'n' });

  expect(page.nextPageToken?.length).toBe(bytes);
  await close();
});

/** An answer whose token for the next page, field 3, has so many bytes. */
function pageOf(bytes: number): Buffer {
  const length: number[] = [];
  for (let rest = bytes; rest > 0; rest = Math.floor(rest / 128)) {
    length.push((rest % 128) + (rest >= 128 ? 128 : 0));
  }
  const message = Buffer.concat([Buffer.from([0x1a, ...length]), Buffer.alloc(bytes)]);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}
