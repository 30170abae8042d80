/**
 * One address for a cluster, as a load balancer gives it: each connection goes to the next node that
 * takes it, and breaks with it.
 */
import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';

/** Listens until `close`. */
export interface ClusterFront {
  /** `127.0.0.1:41233` */
  readonly address: string;
  close(): void;
}

/** Opens the front of nodes with these ports. */
export async function openFront(ports: readonly number[]): Promise<ClusterFront> {
  const open = new Set<Socket>();
  let next = 0;
  const server: Server = createServer((client) => {
    open.add(client);
    client.once('close', () => open.delete(client));
    client.on('error', () => undefined);
    next += 1;
    join(client, [...ports.slice(next % ports.length), ...ports.slice(0, next % ports.length)]);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    close: () => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

function join(client: Socket, [port, ...others]: readonly number[]): void {
  if (port === undefined) {
    client.destroy();
    return;
  }
  const node = connect(port, '127.0.0.1');
  let isJoined = false;
  node.once('connect', () => {
    isJoined = true;
    client.pipe(node).pipe(client);
  });
  node.on('error', () => {
    if (!isJoined) join(client, others);
  });
  node.once('close', () => {
    if (isJoined) client.destroy();
  });
  client.once('close', () => node.destroy());
}
