/**
 * Finds the Temporal server to use, or starts one.
 *
 * The order is: the configured address (`TEMPORAL_ADDRESS`); the server of this data folder, or one
 * that answers at the port; a new server from `temporal` on the path; a new server from the pinned
 * CLI. The process that starts a server stops it; other processes share it and do not stop it.
 *
 * I1  A server that is returned has answered and has the namespace.
 * I2  A database file never has two servers: finding and starting happen under one lock.
 */
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { Connection } from '@temporalio/client';
import { addSearchAttributes } from '../../client/setup.ts';
import { defined } from '../../core/base/defined.ts';
import { errorText } from '../../core/base/error-text.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import { makeFolder } from '../files/write-whole.ts';
import { cliFolder } from './cli-folder.ts';
import { findRunning, useAddress } from './find-server.ts';
import { keepServer } from './keep-server.ts';
import { withLock } from './server-lock.ts';
import {
  EMBEDDED_SERVER_DEFAULTS,
  setUp,
  type EmbeddedServer,
  type EmbeddedServerOptions,
  type Setup,
} from './server-options.ts';
import { findFreePort } from './server-probe.ts';
import { ENDED_AT_ONCE, startServerProcess } from './server-process.ts';
import { writeServerState } from './server-state.ts';
import { fetchTemporalCli } from './temporal-cli.ts';

/** What {@link startOrFindServer} takes and returns, and its defaults. */
export { EMBEDDED_SERVER_DEFAULTS, type EmbeddedServer, type EmbeddedServerOptions };

/**
 * Finds the server to use, or starts one, in the order that the header of this file lists.
 *
 * Throws a `UsageError`: `server_address` when the configured address does not answer,
 * `server_namespace` when a server lacks the namespace, `server_port` when something else listens
 * at the port, `server_hanging` when the server of the data folder runs but does not answer,
 * `server_data_dir` when the data folder cannot be created, `server_lock` when another process
 * holds the lock, `no_server` when no server could be started; this message lists what was tried.
 *
 * @example
 * const server = await startOrFindServer({ port: 'free', dataDir: '/tmp/test' });
 * try {
 *   await connect({ address: server.address });
 * } finally {
 *   await server.stop();
 * }
 */
export async function startOrFindServer(
  options: EmbeddedServerOptions = {},
): Promise<EmbeddedServer> {
  const setup = setUp(options);
  if (setup.address !== undefined) return useAddress(setup, setup.address);

  const tried: string[] = [];
  const running = await findRunning(setup, tried);
  if (running !== undefined) return announced(running, setup);

  await makeDataFolder(join(setup.logFile, '..'));
  return withLock(setup.lockFile, EMBEDDED_SERVER_DEFAULTS.lockWaitMs, async () => {
    // Another process may have started one while this one waited for the lock.
    const startedMeanwhile = await findRunning(setup, []);
    if (startedMeanwhile !== undefined) return announced(startedMeanwhile, setup);
    const server = await startNew(setup, tried);
    return setup.keeps === true ? kept(server, setup) : server;
  });
}

/** `server`, which is not ours: says so. */
function announced(server: EmbeddedServer, { dataDir, onProgress }: Setup): EmbeddedServer {
  const { address, origin } = server;
  onProgress?.(
    origin === 'port'
      ? `Uses the Temporal server at ${address}, which something else started: its runs are not ` +
          `kept in ${dataDir}. For a server of your own, choose another port.`
      : `Uses the Temporal server at ${address}, which another process started for ${dataDir}.`,
  );
  return server;
}

/** `server`, which is started again at the same ports when it ends by itself. */
function kept(server: EmbeddedServer, setup: Setup): EmbeddedServer {
  const { keeps: _keeps, ...options } = setup;
  const port = Number(server.address.split(':')[1]);
  const uiPort = server.uiUrl === undefined ? undefined : Number(new URL(server.uiUrl).port);
  return keepServer(server, {
    databaseFile: setup.databaseFile,
    onProgress: setup.onProgress ?? (() => undefined),
    start: () => startOrFindServer({ ...options, port, ...defined({ uiPort }) }),
  });
}

async function makeDataFolder(folder: string): Promise<void> {
  try {
    await makeFolder(folder);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'an error';
    throw new UsageError(
      'server_data_dir',
      `Expected \`${folder}\` to be a folder that can be made and written, got ${code}. ` +
        'Choose another with `EVERLOOP_DATA_DIR`.',
    );
  }
}

/** Starts a server with the first program that works. The caller holds the lock. */
async function startNew(setup: Setup, tried: string[]): Promise<EmbeddedServer> {
  const onPath = await findOnPath('temporal', setup.path ?? process.env['PATH'] ?? '');
  if (onPath === undefined) tried.push('`temporal` on the PATH: not there');
  else {
    try {
      return await startWith(setup, onPath, 'path');
    } catch (error) {
      tried.push(`\`temporal\` on the PATH: ${errorText(error)}`);
    }
  }
  try {
    const { onProgress } = setup;
    const fetchCli =
      setup.fetchCli ?? ((folder) => fetchTemporalCli(defined({ folder, onProgress })));
    const folder = setup.cliDir ?? (await cliFolder(setup.dataDir));
    return await startWith(setup, await fetchCli(folder), 'pinned CLI');
  } catch (error) {
    tried.push(`the pinned Temporal CLI: ${errorText(error)}`);
    throw new UsageError(
      'no_server',
      [
        'Expected a Temporal server, got none. Tried:',
        ...tried.map((line) => `- ${line.replaceAll('\n', '\n  ')}`),
        `The server's log is ${setup.logFile}.`,
      ].join('\n'),
    );
  }
}

/**
 * The CLI picks four more free ports by itself, and another process may take one of them before the
 * server does. Two servers that start at the same time can thus fail, so a failed start is
 * repeated.
 */
const START_TRIES = 3;

async function startWith(
  setup: Setup,
  program: string,
  origin: 'path' | 'pinned CLI',
): Promise<EmbeddedServer> {
  for (let tries = 1; ; tries++) {
    try {
      return await startOnce(setup, program, origin);
    } catch (error) {
      const isTransient = error instanceof Error && error.name === ENDED_AT_ONCE;
      if (!isTransient || tries === START_TRIES) throw error;
    }
  }
}

async function startOnce(
  setup: Setup,
  program: string,
  origin: 'path' | 'pinned CLI',
): Promise<EmbeddedServer> {
  const { host } = EMBEDDED_SERVER_DEFAULTS;
  const { readyWithinMs = EMBEDDED_SERVER_DEFAULTS.readyWithinMs } = setup;
  const { namespace, logFile, stateFile } = setup;
  const port = setup.port === 'free' ? await findFreePort(host) : setup.port;
  const uiPort = setup.uiPort === 'free' ? await findFreePort(host) : setup.uiPort;
  const address = `${host}:${port}`;
  const uiUrl = uiPort === undefined ? undefined : `http://${host}:${uiPort}`;
  const { pid, stop, ended } = await startServerProcess(
    defined({ ...setup, program, host, port, uiPort, readyWithinMs }),
  );
  const found = { address, namespace, pid, logFile, ...defined({ uiUrl }) };
  try {
    await writeServerState(stateFile, { v: 1, ...found, startedAtMs: Date.now() });
    await addAttributes(address, setup);
  } catch (error) {
    // Without the note, no other process could find the server or stop it.
    await stop();
    throw error;
  }
  return { ...found, startedHere: true, origin, stop, ended };
}

/** A new database has no search attributes; lists work without them too. */
async function addAttributes(address: string, { namespace, onProgress }: Setup): Promise<void> {
  try {
    const connection = await Connection.connect({ address });
    try {
      await addSearchAttributes(connection, namespace);
    } finally {
      await connection.close();
    }
  } catch (error) {
    onProgress?.(`The server has no search attributes for lists of runs: ${errorText(error)}`);
  }
}

/** The first executable file `program` in the folders of `path`. */
async function findOnPath(program: string, path: string): Promise<string | undefined> {
  for (const folder of path.split(delimiter).filter((entry) => entry !== '')) {
    const file = join(folder, program);
    const mayRun = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (mayRun) return file;
  }
  return undefined;
}
