/** Where the server is that a client of this machine should talk to; starts nothing. */
import { join } from 'node:path';
import type { WorkerConfig } from '../config/config.ts';
import { EMBEDDED_SERVER_DEFAULTS } from '../server/embedded-server.ts';
import { isPortTaken } from '../server/server-probe.ts';
import { readServerState } from '../server/server-state.ts';

/** Where to connect, or that nobody is there, with what was looked at. */
export type FoundAddress =
  | { readonly kind: 'found'; readonly address: string; readonly uiUrl?: string }
  | { readonly kind: 'none'; readonly tried: readonly string[] };

/**
 * The address that the configuration names; else that of the server which the data folder notes;
 * else the default port, when somebody listens there.
 */
export async function findAddress({ temporal, dataDir }: WorkerConfig): Promise<FoundAddress> {
  if (temporal.address !== undefined) return { kind: 'found', address: temporal.address };
  const stateFile = join(dataDir, 'server.json');
  const state = await readServerState(stateFile);
  if (state !== undefined && (await listens(state.address))) {
    const { address, uiUrl } = state;
    return { kind: 'found', address, ...(uiUrl === undefined ? {} : { uiUrl }) };
  }
  const { host, port } = EMBEDDED_SERVER_DEFAULTS;
  const address = `${host}:${port}`;
  if (await listens(address)) return { kind: 'found', address };
  return {
    kind: 'none',
    tried: [
      '`TEMPORAL_ADDRESS`: not set',
      `\`${stateFile}\`: ${state === undefined ? 'notes no server' : `nobody listens at ${state.address}`}`,
      `${address}: nobody listens`,
    ],
  };
}

async function listens(address: string): Promise<boolean> {
  const [host = '', port = ''] = address.split(':');
  return isPortTaken(host, Number(port));
}
