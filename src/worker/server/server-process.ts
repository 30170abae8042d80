/**
 * A Temporal development server that lives as long as this process.
 *
 * A small supervisor process starts the server as its child and holds a channel to this process. On
 * request, it stops the server with SIGTERM, then SIGKILL. The kernel closes the channel however
 * this process ends, even by SIGKILL. The supervisor then kills the server, so none is left
 * running. The alternatives do less: a signal handler does not run on SIGKILL, `prctl` is Linux
 * only and not available in Node, and a watcher that knows only a process id may kill another
 * process that got the id later. The supervisor is Node itself (some 40 MB), so it runs wherever
 * Everloop runs. If the supervisor is killed by SIGKILL, the server goes on, and the next start
 * finds and shares it.
 *
 * I1  A server whose parent has died is killed at once. If it took a second to stop, the next
 *     process could still find and share it. No data is lost, because SQLite's write-ahead log is
 *     on disk.
 * I2  When the server ends, the supervisor removes the server's note, but never another server's.
 */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Json } from '../../core/base/json.ts';
import { isPortTaken, probeServer } from './server-probe.ts';

/**
 * Settings for development and tests, by key of Temporal's dynamic configuration. Production
 * servers keep their own.
 */
export const DEVELOPMENT_SETTINGS: Readonly<Record<string, Json>> = {
  // With the default of 20, each workflow task of a single run waits up to 50 ms, and a turn takes
  // 102 ms instead of 35 to 43 (measured on server 1.32).
  'history.transferProcessorMaxPollRPS': 2000,
  // With the default of 10, bursts of messages wait for one another.
  'history.maxInFlightUpdates': 1000,
  // Activities on the workflow's own worker start without a round trip through the queue.
  'system.enableActivityEagerExecution': true,
  // With the default, a backlog of one tenant goes before the tasks of all others.
  'matching.useNewMatcher': true,
  'matching.enableFairness': true,
  // With the default of 4, a query that gets no answer holds up new tasks in its partition.
  'matching.numTaskqueueWritePartitions': 1,
  // No version check over the network.
  'frontend.enableServerVersionCheck': false,
};

/** How long a server may take to stop after SIGTERM before it is killed. */
const STOP_GRACE_MS = 10_000;

/** How often readiness is checked. A server is ready after 0.5 to 2 s. */
const READY_POLL_MS = 50;

/** What {@link startServerProcess} takes. */
export interface ServerProcessOptions {
  /** The Temporal CLI. */
  readonly program: string;
  readonly host: string;
  readonly port: number;
  readonly namespace: string;
  /** SQLite file, created if missing; its folder must exist. */
  readonly databaseFile: string;
  /** Absent: no UI. */
  readonly uiPort?: number;
  /** The codec server that the UI asks; absent: none. */
  readonly uiCodecEndpoint?: string;
  /** Port of the server's own metrics, at `/metrics`; absent: none. */
  readonly metricsPort?: number;
  /** Overrides {@link DEVELOPMENT_SETTINGS}; null leaves a setting to the server. */
  readonly dynamicConfig?: Readonly<Record<string, Json>>;
  /** Search attributes of the namespace when it is created: `{ EverloopAgent: 'Keyword' }`. */
  readonly searchAttributes?: Readonly<Record<string, string>>;
  /** The server's output is appended to it. */
  readonly logFile: string;
  /** The note, which is removed when the server has ended. */
  readonly stateFile: string;
  /** How long the server may take to answer. */
  readonly readyWithinMs: number;
}

/** Name of the error for a server that ended before it answered, as it does without a free port. */
export const ENDED_AT_ONCE = 'ServerEndedAtOnce';

/** A server that answers. */
export interface ServerProcess {
  /** Process id of the server, not of its supervisor. */
  readonly pid: number;
  /** Stops the server and waits for its end. May be called twice. */
  readonly stop: () => Promise<void>;
  /** Settles when the server has ended, whoever ended it. */
  readonly ended: Promise<void>;
}

/**
 * Starts a server and waits until it answers and has its namespace.
 *
 * Rejects when the server ends or does not answer in time; no process is left then. The message
 * ends with the last line of the server's log.
 */
export async function startServerProcess(options: ServerProcessOptions): Promise<ServerProcess> {
  const supervisor = spawn(process.execPath, ['-e', SUPERVISOR, supervisorInput(options)], {
    // A process group of its own, so that Ctrl-C in a terminal reaches only this process.
    detached: true,
    // The supervisor must not load this process's loaders and hooks.
    env: { ...garbageSettings(memoryBytes()), ...process.env, NODE_OPTIONS: '' },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const life = { hasEnded: false };
  const whenEnded = new Promise<void>((resolve) => {
    supervisor.once('exit', () => resolve());
    supervisor.once('error', () => resolve());
  }).then(() => {
    life.hasEnded = true;
  });
  const stop = async (): Promise<void> => {
    // Without this, the process could exit before the server has ended.
    supervisor.ref();
    if (supervisor.connected) supervisor.send('stop', () => undefined);
    await whenEnded;
  };

  const started = await Promise.race([
    new Promise<unknown>((resolve) => supervisor.once('message', resolve)),
    whenEnded.then(() => ({ error: 'its supervisor ended' })),
  ]);
  // The server alone must not keep this process alive.
  supervisor.unref();
  supervisor.channel?.unref();
  const { pid, error } = started as { readonly pid?: number; readonly error?: string };
  if (pid === undefined) {
    await stop();
    throw new Error(`${options.program} cannot be started: ${error ?? 'no reason given'}`);
  }

  const problem = await waitUntilReady(options, life);
  if (problem !== undefined) {
    const name = life.hasEnded ? ENDED_AT_ONCE : 'Error';
    await stop();
    throw Object.assign(new Error(problem), { name });
  }
  return { pid, stop, ended: whenEnded };
}

/** The command line of the server, after the program. */
export function serverArguments(options: ServerProcessOptions): readonly string[] {
  const settings = { ...DEVELOPMENT_SETTINGS, ...options.dynamicConfig };
  const { uiPort, uiCodecEndpoint: codec, metricsPort } = options;
  const ui = uiPort === undefined ? ['--headless'] : ['--ui-port', String(uiPort)];
  if (uiPort !== undefined && codec !== undefined) ui.push('--ui-codec-endpoint', codec);
  const fixed = {
    '--ip': options.host,
    '--port': String(options.port),
    '--namespace': options.namespace,
    '--log-level': 'warn',
    '--db-filename': options.databaseFile,
  };
  // Without a write-ahead log, throughput halves (measured).
  const pragmas = ['journal_mode=WAL', 'synchronous=NORMAL'];
  const attributes = Object.entries(options.searchAttributes ?? {});
  return [
    'server',
    'start-dev',
    ...Object.entries(fixed).flat(),
    ...ui,
    ...(metricsPort === undefined ? [] : ['--metrics-port', String(metricsPort)]),
    ...pragmas.flatMap((pragma) => ['--sqlite-pragma', pragma]),
    ...Object.entries(settings).flatMap(([key, value]) =>
      value === null ? [] : ['--dynamic-config-value', `${key}=${JSON.stringify(value)}`],
    ),
    ...attributes.flatMap(([name, type]) => ['--search-attribute', `${name}=${type}`]),
  ];
}

/**
 * How the server collects garbage, on a machine with so much memory. Go's default, `GOGC=100`, takes
 * about 9 % more of the processor. The heap may then grow to five times what is in use, so it is
 * bounded: near the bound, the server collects as often as it must.
 */
export function garbageSettings(bytes: number): Readonly<Record<'GOGC' | 'GOMEMLIMIT', string>> {
  const mib = Math.floor(bytes / 2 ** 20 / SERVER_MEMORY_PART);
  const { least, most } = SERVER_MEMORY_MIB;
  return { GOGC: '400', GOMEMLIMIT: `${Math.min(most, Math.max(least, mib))}MiB` };
}

/** The bound of the server's memory: a quarter of the machine, from 512 MiB to 2 GiB. */
const SERVER_MEMORY_PART = 4;
const SERVER_MEMORY_MIB = { least: 512, most: 2_048 } as const;

/** The memory of this machine, or what its container may use. */
function memoryBytes(): number {
  // Zero, or more than there is, when nothing constrains it.
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

async function waitUntilReady(
  options: ServerProcessOptions,
  life: { readonly hasEnded: boolean },
): Promise<string | undefined> {
  const { host, port, namespace, readyWithinMs } = options;
  const deadline = Date.now() + readyWithinMs;
  while (Date.now() < deadline) {
    if (life.hasEnded) return `${options.program} ended at once${await lastLogLine(options)}`;
    if (await isPortTaken(host, port)) {
      const probe = await probeServer({ address: `${host}:${port}`, namespace, timeoutMs: 5_000 });
      if (probe.kind === 'ready' && !life.hasEnded) return undefined;
    }
    await sleep(READY_POLL_MS);
  }
  const waited = `${readyWithinMs / 1000} s`;
  return `${options.program} did not answer within ${waited}${await lastLogLine(options)}`;
}

async function lastLogLine(options: ServerProcessOptions): Promise<string> {
  const log = await readFile(options.logFile, 'utf8').catch(() => '');
  const last = log
    .split('\n')
    .findLast((line) => line.trim() !== '')
    ?.trim();
  return last === undefined ? '' : `: ${last.slice(0, 200)}`;
}

function supervisorInput(options: ServerProcessOptions): string {
  const { databaseFile, logFile } = options;
  return JSON.stringify({
    program: options.program,
    args: serverArguments(options),
    logFile: options.logFile,
    stateFile: options.stateFile,
    privateFiles: [logFile, ...['', '-wal', '-shm'].map((end) => databaseFile + end)],
    graceMs: STOP_GRACE_MS,
  });
}

/**
 * The supervisor's program, for `node -e`. A file would have to work from the sources and from the
 * build.
 */
const SUPERVISOR = `
const { spawn } = require('node:child_process');
const { chmodSync, openSync, readFileSync, rmSync } = require('node:fs');
const { program, args, logFile, stateFile, privateFiles, graceMs } = JSON.parse(process.argv[1]);
const report = (message) => { if (process.connected) process.send(message, () => {}); };

// Runs may be confidential: what the server writes is for this user only.
process.umask(0o077);
for (const file of privateFiles) {
  try { chmodSync(file, 0o600); } catch { /* it is not there yet */ }
}
const log = openSync(logFile, 'a');
const server = spawn(program, args, { stdio: ['ignore', log, log] });
server.once('spawn', () => report({ pid: server.pid }));
server.once('error', (error) => {
  report({ error: error.message });
  setTimeout(() => process.exit(1), 100);
});
server.once('exit', (code) => {
  try {
    if (JSON.parse(readFileSync(stateFile, 'utf8')).pid === server.pid) rmSync(stateFile);
  } catch { /* no note was written */ }
  process.exit(code ?? 1);
});

const stop = () => {
  server.kill('SIGTERM');
  setTimeout(() => server.kill('SIGKILL'), graceMs);
};
process.once('message', stop);
process.once('disconnect', () => server.kill('SIGKILL'));
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, stop);
`;
