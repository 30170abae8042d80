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
import { delimiter, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionOptions } from '@temporalio/client';
import { defined } from '../../core/base/defined.ts';
import { errorText } from '../../core/base/error-text.ts';
import { connectionCause, timesOf } from '../../client/connection-cause.ts';
import { DEFAULT_DATA_DIR } from '../../client/chunk-endpoints.ts';
import type { Json } from '../../core/base/json.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import { makeFolder } from '../files/write-whole.ts';
import { cliFolder } from './cli-folder.ts';
import { keepServer } from './keep-server.ts';
import { isRunning, withLock } from './server-lock.ts';
import { findFreePort, isPortTaken, probeServer, type Probe } from './server-probe.ts';
import { ENDED_AT_ONCE, startServerProcess } from './server-process.ts';
import { readServerState, removeServerState, writeServerState } from './server-state.ts';
import { fetchTemporalCli } from './temporal-cli.ts';

/** Defaults of {@link startOrFindServer}. */
export const EMBEDDED_SERVER_DEFAULTS = {
  dataDir: DEFAULT_DATA_DIR as typeof DEFAULT_DATA_DIR,
  /** The dev server skips HTTP security checks, so it listens on the loopback only. */
  host: '127.0.0.1',
  /** Temporal's own default, which other tools expect. */
  port: 7233,
  namespace: 'default',
  /** A server is ready within 1 s on an idle machine, but needs far longer under load. */
  readyWithinMs: 60_000,
  /** Enough for a server on another continent. */
  addressTimeoutMs: 5_000,
  /** Another process may first fetch the CLI over a slow line, then start its server. */
  lockWaitMs: 360_000,
  /** A server on this machine answers in milliseconds, unless the machine is overloaded. */
  localTimeoutMs: 3_000,
} as const;

/** Options of {@link startOrFindServer}. */
export interface EmbeddedServerOptions {
  /** Use only the server at this address; no server is started. */
  readonly address?: string;
  /** TLS, API key and the like for `address`. */
  readonly connection?: ConnectionOptions;
  readonly namespace?: string;
  /** The folder of the database, the logs and the note about a running server. */
  readonly dataDir?: string;
  /** The folder of the fetched CLI. Default: that of {@link cliFolder}, once for each user. */
  readonly cliDir?: string;
  /**
   * Port to listen on, and to find a running server at. `'free'` takes any free port, and shares
   * only the server of the same data folder.
   */
  readonly port?: number | 'free';
  /** Port of Temporal's web UI; `'free'` takes any. Default: no UI. */
  readonly uiPort?: number | 'free';
  /** Overrides the development settings of a server that is started here. */
  readonly dynamicConfig?: Readonly<Record<string, Json>>;
  /**
   * Search attributes of a namespace that is created here, such as `{ EverloopAgent: 'Keyword' }`.
   */
  readonly searchAttributes?: Readonly<Record<string, string>>;
  /** Folders that are searched for `temporal`. Default: `PATH`. */
  readonly path?: string;
  /** Returns the path of the pinned CLI. Default: {@link fetchTemporalCli} into `cliDir`. */
  readonly fetchCli?: (folder: string) => Promise<string>;
  /**
   * Receives a line for people, before something that takes long, when something is wrong, and when
   * a server is used that this process did not start.
   */
  readonly onProgress?: (line: string) => void;
  /**
   * Starts a server again that was started here and ended by itself, and says when its database was
   * deleted. Default false.
   */
  readonly keeps?: boolean;
  /** How long a server may take to answer. Default: 60 s for a new one, 5 s for `address`. */
  readonly readyWithinMs?: number;
}

/** A Temporal server that answers. */
export interface EmbeddedServer {
  /** `127.0.0.1:7233` */
  readonly address: string;
  readonly namespace: string;
  /** Whether this process started it, and {@link stop} therefore stops it. */
  readonly startedHere: boolean;
  /** How it was found; for people and logs. */
  readonly origin: 'address' | 'data folder' | 'port' | 'path' | 'pinned CLI';
  /** Process id; absent when another program started the server. */
  readonly pid?: number;
  readonly uiUrl?: string;
  /** Absent when another program started it. */
  readonly logFile?: string;
  /** Stops a server that was started here and waits for its end; does nothing to a shared one. */
  readonly stop: () => Promise<void>;
  /** Settles when a server that was started here has ended; absent for a shared one. */
  readonly ended?: Promise<void>;
}

/** The options with their defaults, and the files of the data folder. */
interface Setup extends EmbeddedServerOptions {
  readonly namespace: string;
  readonly dataDir: string;
  readonly port: number | 'free';
  /** Whether the caller chose the port. */
  readonly isPortGiven: boolean;
  readonly databaseFile: string;
  readonly stateFile: string;
  readonly lockFile: string;
  readonly logFile: string;
}

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
 * try { … } finally { await server.stop(); }
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

function setUp(options: EmbeddedServerOptions): Setup {
  const dataDir = resolve(options.dataDir ?? EMBEDDED_SERVER_DEFAULTS.dataDir);
  return {
    ...options,
    namespace: options.namespace ?? EMBEDDED_SERVER_DEFAULTS.namespace,
    port: options.port ?? EMBEDDED_SERVER_DEFAULTS.port,
    isPortGiven: typeof options.port === 'number',
    dataDir,
    databaseFile: join(dataDir, 'temporal.db'),
    stateFile: join(dataDir, 'server.json'),
    lockFile: join(dataDir, 'server.lock'),
    logFile: join(dataDir, 'logs', 'temporal-server.log'),
  };
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

async function useAddress(setup: Setup, address: string): Promise<EmbeddedServer> {
  const { namespace } = setup;
  const { connection, readyWithinMs = EMBEDDED_SERVER_DEFAULTS.addressTimeoutMs } = setup;
  const { connectMs, causeMs } = timesOf(readyWithinMs);
  const probe = await probeServer(
    defined({ address, namespace, timeoutMs: connectMs, connection }),
  );
  if (probe.kind === 'unreachable') {
    const wanted = defined({ address, connection, withinMs: causeMs });
    const { text, advice } = await connectionCause(probe.error, wanted);
    throw new UsageError(
      'server_address',
      `Expected a Temporal server at ${address} (\`TEMPORAL_ADDRESS\`), got: ${text}. ${advice} ` +
        'Or unset it to use a server of this machine.',
    );
  }
  return shared(setup, probe, { address, origin: 'address' });
}

/** The server of the data folder, or the one at the port, if either answers. */
async function findRunning(setup: Setup, tried: string[]): Promise<EmbeddedServer | undefined> {
  const noted = await findNoted(setup, tried);
  const { host } = EMBEDDED_SERVER_DEFAULTS;
  const address = `${host}:${setup.port}`;
  const isElsewhere = setup.isPortGiven && noted !== undefined && noted.address !== address;
  if ((noted !== undefined && !isElsewhere) || setup.port === 'free') return noted;

  if (isElsewhere && !(await isPortTaken(host, setup.port))) {
    throw new UsageError(
      'server_port',
      `Expected the server of \`${setup.stateFile}\` at ${address}, got one that runs at ${noted.address}. ` +
        'A database takes one server: stop that one, leave the port out to use it, or choose ' +
        'another data folder with `EVERLOOP_DATA_DIR`.',
    );
  }
  if (!(await isPortTaken(host, setup.port))) {
    tried.push(`a server at ${address}: nothing listens`);
    return undefined;
  }
  const probe = await probeLocal(setup, address);
  if (probe.kind === 'unreachable') {
    throw new UsageError(
      'server_port',
      `Expected port ${setup.port} of ${host} to be free or to have a Temporal server, got ` +
        `something else that listens (${probe.message}). Stop it, or choose another port.`,
    );
  }
  return shared(setup, probe, { address, origin: 'port' });
}

/** The server of the note in the data folder; removes a note that is out of date. */
async function findNoted(setup: Setup, tried: string[]): Promise<EmbeddedServer | undefined> {
  const deadline = Date.now() + EMBEDDED_SERVER_DEFAULTS.localTimeoutMs * 3;
  for (;;) {
    const state = await readServerState(setup.stateFile);
    if (state === undefined) {
      tried.push(`a server noted in ${setup.stateFile}: none`);
      return undefined;
    }
    const probe = await probeLocal(setup, state.address);
    if (probe.kind !== 'unreachable') {
      const { address, pid, logFile, uiUrl } = state;
      const found = { address, origin: 'data folder' as const, pid, logFile };
      return shared(setup, probe, { ...found, ...defined({ uiUrl }) });
    }
    if (!isRunning(state.pid)) {
      await removeServerState(setup.stateFile, state.pid);
      tried.push(`a server noted in ${setup.stateFile}: its process ${state.pid} has ended`);
      return undefined;
    }
    // It may be about to stop. A second server would corrupt the database file, so wait.
    if (Date.now() > deadline) {
      throw new UsageError(
        'server_hanging',
        `Expected the server noted in \`${setup.stateFile}\` to answer at ${state.address}, got ` +
          `silence while process ${state.pid} runs. End that process, or remove the file if it ` +
          'is no Temporal server.',
      );
    }
    await sleep(200);
  }
}

/** A server that this process did not start. Throws if it lacks the namespace. */
function shared(
  { namespace }: Setup,
  probe: Probe,
  found: Pick<EmbeddedServer, 'address' | 'origin' | 'pid' | 'logFile' | 'uiUrl'>,
): EmbeddedServer {
  if (probe.kind === 'no_namespace') {
    throw new UsageError(
      'server_namespace',
      `Expected the Temporal server at ${found.address} to have a namespace \`${namespace}\`, got none of ` +
        `that name. Create it with \`temporal operator namespace create -n ${namespace}\`, or ` +
        'correct `TEMPORAL_NAMESPACE`.',
    );
  }
  return { ...found, namespace, startedHere: false, stop: () => Promise.resolve() };
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
  } catch (error) {
    // Without the note, no other process could find the server or stop it.
    await stop();
    throw error;
  }
  return { ...found, startedHere: true, origin, stop, ended };
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

/** Probes a server on this machine. Detects a free port at once, without the time-out. */
async function probeLocal(setup: Setup, address: string): Promise<Probe> {
  const [host = '', port = ''] = address.split(':');
  if (!(await isPortTaken(host, Number(port)))) {
    return { kind: 'unreachable', message: 'nothing listens' };
  }
  const timeoutMs = EMBEDDED_SERVER_DEFAULTS.localTimeoutMs;
  return probeServer({ address, namespace: setup.namespace, timeoutMs });
}
