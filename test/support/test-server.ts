import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cliFolder } from '../../src/worker/server/cli-folder.ts';
import {
  startOrFindServer,
  type EmbeddedServer,
  type EmbeddedServerOptions,
} from '../../src/worker/server/embedded-server.ts';
import { DEVELOPMENT_SETTINGS } from '../../src/worker/server/server-process.ts';

/** The folder that keeps the fetched Temporal CLI, for all tests. */
export const CLI_FOLDER: string = await cliFolder(
  fileURLToPath(new URL('../../.everloop', import.meta.url)),
);

/** No settings of ours: what a server has that others have set up. */
export const STOCK_SETTINGS: NonNullable<EmbeddedServerOptions['dynamicConfig']> =
  Object.fromEntries(Object.keys(DEVELOPMENT_SETTINGS).map((key) => [key, null]));

/** A server of a test's own, and the folder that holds its database and log. */
export interface TestServer extends EmbeddedServer {
  readonly dataDir: string;
}

/** Settings of a server that wants a hand-over after so many events. */
export function handoverAfter(events: number): NonNullable<EmbeddedServerOptions['dynamicConfig']> {
  return {
    'limit.historyCount.suggestContinueAsNew': events,
    // A chain waits until its last link is a second old; links of so few events are shorter.
    'history.continueAsNewMinInterval': '0s',
  };
}

/**
 * Starts a server on a free port with a database of its own; `stop` also removes its folder.
 * For tests that need settings of their own or that kill it; others take the one of the run.
 */
export async function startTestServer(options: EmbeddedServerOptions = {}): Promise<TestServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'everloop-server-'));
  const server = await startOrFindServer({ port: 'free', dataDir, cliDir: CLI_FOLDER, ...options });
  return {
    ...server,
    dataDir,
    stop: async () => {
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
