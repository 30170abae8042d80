/**
 * Which Temporal server to use, and starting one when there is none.
 *
 * The order is: the address that was asked for (`TEMPORAL_ADDRESS`); the server of this data
 * folder, or one that answers at the port; a new one of `temporal` on the path; a new one of the
 * pinned CLI. Whoever starts a server stops it; everybody else shares it and stops nothing.
 *
 * Invariants
 * - I1: never without a server: what is returned has answered with its namespace.
 * - I2: one database file has one server: looking and starting happen under one lock.
 */
import { access, constants, mkdir } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionOptions } from '@temporalio/client';
import { errorText } from '../../core/base/error-text.ts';
import type { Json } from '../../core/base/json.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import { isRunning, withLock } from './server-lock.ts';
import { findFreePort, isPortTaken, probeServer, type Probe } from './server-probe.ts';
import { ENDED_AT_ONCE, startServerProcess, type ServerProcess } from './server-process.ts';
import {
  readServerState,
  removeServerState,
  writeServerState,
  type ServerState,
} from './server-state.ts';
import { fetchTemporalCli } from './temporal-cli.ts';

/** What {@link startOrFindServer} goes by when nothing else is said. */
export const EMBEDDED_SERVER_DEFAULTS = {
  /** Beside the project's own files, and in its .gitignore. */
  dataDir: '.everloop',
  /** The dev server skips HTTP security checks, so it stays on the loopback. */
  host: '127.0.0.1',
  /** Temporal's own default, where other tools look too. */
  port: 7233,
  namespace: 'default',
  /** Ready in under 1 s on an idle machine; a loaded one with a large file takes far longer. */
  readyWithinMs: 60_000,
  /** An address that was asked for may be across the world, but not down. */
  addressTimeoutMs: 10_000,
  /** Another process may fetch the CLI over a slow line first, then start its server. */
  lockWaitMs: 360_000,
  /** A server on this machine answers in milliseconds, unless it is starving. */
  localTimeoutMs: 3_000,
} as const;

/** What {@link startOrFindServer} takes; everything has a default. */
export interface EmbeddedServerOptions {
  /** `TEMPORAL_ADDRESS`: use the server there and no other; nothing is started. */
  readonly address?: string;
  /** TLS, API key and the like for `address`. */
  readonly connection?: ConnectionOptions;
  readonly namespace?: string;
  /** Holds the database, logs, the note about a running server and the fetched CLI. */
  readonly dataDir?: string;
  /** Holds the fetched CLI. Default: `bin` in the data folder. */
  readonly cliDir?: string;
  /**
   * Where to listen, and where to look for a server that already runs. `'free'` takes any free
   * port and shares only the server of the same data folder.
   */
  readonly port?: number | 'free';
  /** Port of Temporal's web UI; `'free'` takes any. Default: no UI. */
  readonly uiPort?: number | 'free';
  /** Settings on top of those for development, for a server that is started here. */
  readonly dynamicConfig?: Readonly<Record<string, Json>>;
  /** Search attributes of a namespace that is created here: `{ EverloopAgent: 'Keyword' }`. */
  readonly searchAttributes?: Readonly<Record<string, string>>;
  /** Folders that are searched for `temporal`. Default: those of `PATH`. */
  readonly path?: string;
  /** Gives the pinned CLI's path. Default: {@link fetchTemporalCli} into `cliDir`. */
  readonly fetchCli?: (folder: string) => Promise<string>;
  /** Gets a line for people when something is about to take a while. */
  readonly onProgress?: (line: string) => void;
  /** How long a server may take to answer. Default: 60 s for a new one, 10 s for `address`. */
  readonly readyWithinMs?: number;
}

/** A Temporal server that answers. */
export interface EmbeddedServer {
  /** `127.0.0.1:7233` */
  readonly address: string;
  readonly namespace: string;
  /** Whether this process started it, and so whether {@link stop} stops it. */
  readonly startedHere: boolean;
  /** What decided: for people and logs. */
  readonly origin: 'address' | 'data folder' | 'port' | 'path' | 'pinned CLI';
  /** Of the server; absent when another program started it. */
  readonly pid?: number;
  readonly uiUrl?: string;
  /** Absent when another program started it. */
  readonly logFile?: string;
  /** Ends a server that was started here and waits for it; does nothing to a shared one. */
  readonly stop: () => Promise<void>;
}

/** The options with their defaults, and the files of the data folder. */
interface Setup extends EmbeddedServerOptions {
  readonly namespace: string;
  readonly port: number | 'free';
  readonly cliDir: string;
  readonly databaseFile: string;
  readonly stateFile: string;
  readonly lockFile: string;
  readonly logFile: string;
}

/**
 * Finds the server to use, or starts one; see the header for the order.
 *
 * Throws a `UsageError`: `server_address` when the address that was asked for does not answer,
 * `server_namespace` when a server lacks the namespace, `server_port` when something else listens
 * at the port, `server_hanging` when the server of the data folder runs and does not answer,
 * `server_data_dir` when the data folder cannot be made, `server_lock` when another process keeps
 * it, `no_server` when none could be started, with everything that was tried.
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
  if (running !== undefined) return running;

  await makeFolder(join(setup.logFile, '..'));
  return withLock(setup.lockFile, EMBEDDED_SERVER_DEFAULTS.lockWaitMs, async () => {
    // Another process may have started one while this one waited for the lock.
    const startedMeanwhile = await findRunning(setup, []);
    if (startedMeanwhile !== undefined) return startedMeanwhile;
    return startNew(setup, tried);
  });
}

function setUp(options: EmbeddedServerOptions): Setup {
  const dataDir = resolve(options.dataDir ?? EMBEDDED_SERVER_DEFAULTS.dataDir);
  return {
    ...options,
    namespace: options.namespace ?? EMBEDDED_SERVER_DEFAULTS.namespace,
    port: options.port ?? EMBEDDED_SERVER_DEFAULTS.port,
    cliDir: options.cliDir ?? join(dataDir, 'bin'),
    databaseFile: join(dataDir, 'temporal.db'),
    stateFile: join(dataDir, 'server.json'),
    lockFile: join(dataDir, 'server.lock'),
    logFile: join(dataDir, 'logs', 'temporal-server.log'),
  };
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
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
  const probe = await probeServer({
    address,
    namespace,
    timeoutMs: setup.readyWithinMs ?? EMBEDDED_SERVER_DEFAULTS.addressTimeoutMs,
    ...(setup.connection === undefined ? {} : { connection: setup.connection }),
  });
  if (probe.kind === 'unreachable') {
    throw new UsageError(
      'server_address',
      `Expected a Temporal server at ${address} (\`TEMPORAL_ADDRESS\`), got: ${probe.message}. ` +
        'Start it, correct the address, or unset it to use a server of this machine.',
    );
  }
  requireNamespace(probe, address, namespace);
  return { address, namespace, startedHere: false, origin: 'address', stop: doNothing };
}

/** The server of the data folder, or the one at the port, if either answers. */
async function findRunning(setup: Setup, tried: string[]): Promise<EmbeddedServer | undefined> {
  const noted = await findNoted(setup, tried);
  if (noted !== undefined || setup.port === 'free') return noted;

  const { host } = EMBEDDED_SERVER_DEFAULTS;
  const address = `${host}:${setup.port}`;
  if (!(await isPortTaken(host, setup.port))) {
    tried.push(`a server at ${address}: nobody listens`);
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
  requireNamespace(probe, address, setup.namespace);
  const { namespace } = setup;
  return { address, namespace, startedHere: false, origin: 'port', stop: doNothing };
}

/** The server that the note in the data folder speaks of; removes a note that is out of date. */
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
      requireNamespace(probe, state.address, setup.namespace);
      return shared(state, setup.namespace);
    }
    if (!isRunning(state.pid)) {
      await removeServerState(setup.stateFile, state.pid);
      tried.push(`a server noted in ${setup.stateFile}: its process ${state.pid} has ended`);
      return undefined;
    }
    // It may be about to stop; a second server on its file would corrupt it, so wait.
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

function shared(state: ServerState, namespace: string): EmbeddedServer {
  return {
    address: state.address,
    namespace,
    startedHere: false,
    origin: 'data folder',
    pid: state.pid,
    logFile: state.logFile,
    ...(state.uiUrl === undefined ? {} : { uiUrl: state.uiUrl }),
    stop: doNothing,
  };
}

/** Starts a server with the first program that works; the lock is held. */
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
    const progress = setup.onProgress === undefined ? {} : { onProgress: setup.onProgress };
    const fetchCli = setup.fetchCli ?? ((folder) => fetchTemporalCli({ folder, ...progress }));
    return await startWith(setup, await fetchCli(setup.cliDir), 'pinned CLI');
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
 * The CLI looks for four more ports by itself, and a port that was free may be gone when it is taken:
 * two servers that start at the same time now and then disturb each other, so it is tried again.
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
      const mayPass = error instanceof Error && error.name === ENDED_AT_ONCE;
      if (!mayPass || tries === START_TRIES) throw error;
    }
  }
}

async function startOnce(
  setup: Setup,
  program: string,
  origin: 'path' | 'pinned CLI',
): Promise<EmbeddedServer> {
  const { host, readyWithinMs } = EMBEDDED_SERVER_DEFAULTS;
  const { namespace, databaseFile, logFile, stateFile, dynamicConfig, searchAttributes } = setup;
  const port = setup.port === 'free' ? await findFreePort(host) : setup.port;
  const uiPort = setup.uiPort === 'free' ? await findFreePort(host) : setup.uiPort;
  const address = `${host}:${port}`;
  const uiUrl = uiPort === undefined ? {} : { uiUrl: `http://${host}:${uiPort}` };
  const server: ServerProcess = await startServerProcess({
    program,
    host,
    port,
    namespace,
    databaseFile,
    logFile,
    stateFile,
    readyWithinMs: setup.readyWithinMs ?? readyWithinMs,
    ...(uiPort === undefined ? {} : { uiPort }),
    ...(dynamicConfig === undefined ? {} : { dynamicConfig }),
    ...(searchAttributes === undefined ? {} : { searchAttributes }),
  });
  const { pid, stop } = server;
  const state = { address, namespace, pid, startedAtMs: Date.now(), logFile, ...uiUrl };
  try {
    await writeServerState(stateFile, { v: 1, ...state });
  } catch (error) {
    // Nobody would find it to share it or to stop it.
    await stop();
    throw error;
  }
  return { address, namespace, startedHere: true, origin, pid, logFile, ...uiUrl, stop };
}

/** The file named `program` in the first of the folders that has one which may be run. */
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

/** Asks a server of this machine; that nobody listens is known at once, not after a time-out. */
async function probeLocal(setup: Setup, address: string): Promise<Probe> {
  const [host = '', port = ''] = address.split(':');
  if (!(await isPortTaken(host, Number(port)))) {
    return { kind: 'unreachable', message: 'nobody listens' };
  }
  const timeoutMs = EMBEDDED_SERVER_DEFAULTS.localTimeoutMs;
  return probeServer({ address, namespace: setup.namespace, timeoutMs });
}

function requireNamespace(probe: Probe, address: string, namespace: string): void {
  if (probe.kind !== 'no_namespace') return;
  throw new UsageError(
    'server_namespace',
    `Expected the Temporal server at ${address} to have a namespace \`${namespace}\`, got none of ` +
      `that name. Create it with \`temporal operator namespace create -n ${namespace}\`, or ` +
      'correct `TEMPORAL_NAMESPACE`.',
  );
}

function doNothing(): Promise<void> {
  return Promise.resolve();
}
