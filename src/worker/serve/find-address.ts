/** Finds the server that a client on this machine should use. Starts nothing. */
import { defined } from '../../core/base/defined.ts';
import { join } from 'node:path';
import type { WorkerConfig } from '../config/config.ts';
import { EMBEDDED_SERVER_DEFAULTS } from '../server/embedded-server.ts';
import { isPortTaken } from '../server/server-probe.ts';
import { readServerState } from '../server/server-state.ts';

/** An address to connect to, or what was tried without success. */
export type FoundAddress =
  | { readonly kind: 'found'; readonly address: string; readonly uiUrl?: string }
  | { readonly kind: 'none'; readonly tried: readonly string[] };

/**
 * The configured address; else the server of the note in the data folder; else the default port, if
 * something listens there.
 */
export async function findAddress({ temporal, dataDir }: WorkerConfig): Promise<FoundAddress> {
  if (temporal.address !== undefined) return { kind: 'found', address: temporal.address };
  const stateFile = join(dataDir, 'server.json');
  const state = await readServerState(stateFile);
  if (state !== undefined && (await listens(state.address))) {
    const { address, uiUrl } = state;
    return defined({ kind: 'found' as const, address, uiUrl });
  }
  const { host, port } = EMBEDDED_SERVER_DEFAULTS;
  const address = `${host}:${port}`;
  if (await listens(address)) return { kind: 'found', address };
  return {
    kind: 'none',
    tried: [
      '`TEMPORAL_ADDRESS`: not set',
      `\`${stateFile}\`: ${state === undefined ? 'notes no server' : `nothing listens at ${state.address}`}`,
      `${address}: nothing listens`,
    ],
  };
}

async function listens(address: string): Promise<boolean> {
  const [host = '', port = ''] = address.split(':');
  return isPortTaken(host, Number(port));
}
