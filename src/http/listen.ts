/** How servers over HTTP listen and end: bounded requests, and no error that ends the process. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** How long a request may take to arrive, as options of Node's `createServer`; in ms. */
export const REQUEST_BOUNDS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 5_000,
} as const;

/** Listens at `host`; port 0 means any free one. Returns the port, or rejects with the system's error. */
export async function listen(server: Server, host: string, port: number): Promise<number> {
  const listening = once(server, 'listening');
  server.listen(port, host);
  await listening;
  // A connection can fail to open, for example when the process has too many open files.
  server.on('error', () => undefined);
  return (server.address() as AddressInfo).port;
}

/** Disconnects all clients and stops listening. */
export async function disconnectAll(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
