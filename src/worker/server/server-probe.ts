/** Finds out whether a Temporal server with a namespace answers at an address. */
import { isNotFound } from '../../client/connection/service-errors.ts';
import { errorText } from '../../core/base/error-text.ts';
import { createConnection, createServer, type AddressInfo } from 'node:net';
import { Connection, type ConnectionOptions } from '@temporalio/client';

/** The result of a probe. */
export type Probe =
  | { readonly kind: 'ready' }
  | { readonly kind: 'no_namespace' }
  /** `message` is for people: the error, or that nothing answered in time. */
  | { readonly kind: 'unreachable'; readonly message: string; readonly error?: unknown };

/** What {@link probeServer} takes. */
export interface ProbeOptions {
  /** `127.0.0.1:7233` */
  readonly address: string;
  readonly namespace: string;
  readonly timeoutMs: number;
  /** TLS, API key and the like. */
  readonly connection?: ConnectionOptions;
}

/** Connects, describes the namespace, disconnects. Never rejects. */
export async function probeServer(options: ProbeOptions): Promise<Probe> {
  const { address, namespace, timeoutMs } = options;
  const deadline = Date.now() + timeoutMs;
  let connection: Connection | undefined;
  try {
    connection = await Connection.connect({
      ...options.connection,
      address,
      connectTimeout: timeoutMs,
    });
    const { workflowService } = connection;
    await connection.withDeadline(Math.max(deadline, Date.now() + 500), () =>
      workflowService.describeNamespace({ namespace }),
    );
    return { kind: 'ready' };
  } catch (error) {
    if (isNotFound(error)) return { kind: 'no_namespace' };
    return { kind: 'unreachable', message: errorText(error).slice(0, 200), error };
  } finally {
    // Closing a broken connection may fail, which does not matter.
    await connection?.close().catch(() => undefined);
  }
}

/** Whether anything accepts connections at this port, within `timeoutMs`. */
export async function isPortTaken(host: string, port: number, timeoutMs = 500): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host, port });
    const finish = (taken: boolean): void => {
      socket.destroy();
      resolve(taken);
    };
    socket.setTimeout(timeoutMs, () => finish(false));
    socket.once('connect', () => finish(true));
    socket.once('error', () => finish(false));
  });
}

/** A port of `host` that is free at this moment. */
export async function findFreePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, host, () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
