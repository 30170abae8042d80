/**
 * One Temporal development server as a process of this one.
 *
 * A tiny supervisor sits between the two: it starts the server as its child and holds a channel to
 * this process. Asked over the channel, it stops the server in order (SIGTERM, then SIGKILL). The
 * kernel closes the channel however this process ends, SIGKILL included, and then the supervisor
 * kills the server, so none is ever left behind. A signal handler could not do that, `prctl` cannot
 * be reached from Node and exists on Linux only, and a watcher that knows a mere process id may kill
 * a stranger that got the id later; a parent's knowledge of its own child is never wrong. It is Node
 * itself (some 40 MB), so that it runs wherever Everloop runs. What it cannot outlive is a SIGKILL
 * aimed at itself: the server then goes on, and the next start finds and shares it.
 *
 * Invariants
 * - I1: a server whose parent has died is gone within milliseconds: one that took its second to stop
 *   would still answer, and be shared, while the parent's successor starts. Nothing is lost, since a
 *   write-ahead log survives the death of its process.
 * - I2: the supervisor removes the server's note when the server has ended, and only its own.
 */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Json } from '../../core/base/json.ts';
import { isPortTaken, probeServer } from './server-probe.ts';

/**
 * Settings of a server for development and tests, by key of Temporal's dynamic configuration.
 * Production servers keep their own.
 */
export const DEVELOPMENT_SETTINGS: Readonly<Record<string, Json>> = {
  // Default 20: each workflow task of a lone run waits up to 50 ms, so a turn takes 102 ms instead
  // of 35 to 43 (measured on server 1.32).
  'history.transferProcessorMaxPollRPS': 2000,
  // Default 1: while a workflow task runs, further queries are refused and repeated after a second.
  'history.MaxBufferedQueryCount': 1000,
  // An activity on the workflow's own worker starts without a round trip through the queue.
  'system.enableActivityEagerExecution': true,
  // No call home.
  'frontend.enableServerVersionCheck': false,
};

/** How long a server may take to stop after SIGTERM before it is killed. */
const STOP_GRACE_MS = 10_000;

/** How often readiness is looked at. A server is ready after 0.5 to 2 s. */
const READY_POLL_MS = 50;

/** What one server is started with. */
export interface ServerProcessOptions {
  /** The Temporal CLI. */
  readonly program: string;
  readonly host: string;
  readonly port: number;
  readonly namespace: string;
  /** SQLite file, made when it is not there; its folder exists. */
  readonly databaseFile: string;
  /** Absent: no UI. */
  readonly uiPort?: number;
  /** On top of {@link DEVELOPMENT_SETTINGS}. */
  readonly dynamicConfig?: Readonly<Record<string, Json>>;
  /** Search attributes of the namespace when it is created: `{ EverloopAgent: 'Keyword' }`. */
  readonly searchAttributes?: Readonly<Record<string, string>>;
  /** Gets what the server prints, at its end. */
  readonly logFile: string;
  /** Removed when the server has ended, if it names this server. */
  readonly stateFile: string;
  /** How long the server may take until it answers. */
  readonly readyWithinMs: number;
}

/** Name of the error when the server ended before it answered, as it does without a free port. */
export const ENDED_AT_ONCE = 'ServerEndedAtOnce';

/** A server that answers. */
export interface ServerProcess {
  /** Of the server itself, not of its supervisor. */
  readonly pid: number;
  /** Stops the server and waits until it has ended; the second call waits for the first. */
  readonly stop: () => Promise<void>;
}

/**
 * Starts a server and waits until it answers and has its namespace.
 *
 * Rejects with an `Error` when it ends or does not answer in time; no process is left then. The
 * message ends with the last line that the server logged.
 */
export async function startServerProcess(options: ServerProcessOptions): Promise<ServerProcess> {
  const supervisor = spawn(process.execPath, ['-e', SUPERVISOR, supervisorInput(options)], {
    // A group of its own: Ctrl-C in a terminal reaches this process, which then stops in order.
    detached: true,
    // Loaders and hooks of this process are none of the supervisor's business.
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const life = { hasEnded: false };
  const whenEnded = new Promise<void>((resolve) => {
    supervisor.once('exit', () => {
      resolve();
    });
    supervisor.once('error', () => {
      resolve();
    });
  }).then(() => {
    life.hasEnded = true;
  });
  const stop = async (): Promise<void> => {
    // Waiting for the end is something to do: without this the process could leave before it.
    supervisor.ref();
    if (supervisor.connected) supervisor.send('stop', () => undefined);
    await whenEnded;
  };

  const started = await Promise.race([
    new Promise<unknown>((resolve) => supervisor.once('message', resolve)),
    whenEnded.then(() => ({ error: 'its supervisor ended' })),
  ]);
  // The server must not keep a process alive that has nothing else to do.
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
  return { pid, stop };
}

/** The command line of the server, after the program. */
export function serverArguments(options: ServerProcessOptions): readonly string[] {
  const settings = { ...DEVELOPMENT_SETTINGS, ...options.dynamicConfig };
  const ui = options.uiPort === undefined ? ['--headless'] : ['--ui-port', String(options.uiPort)];
  const fixed = {
    '--ip': options.host,
    '--port': String(options.port),
    '--namespace': options.namespace,
    '--log-level': 'warn',
    '--db-filename': options.databaseFile,
  };
  // Without a write-ahead log a fleet of runs gets half as much done (measured).
  const pragmas = ['journal_mode=WAL', 'synchronous=NORMAL'];
  const attributes = Object.entries(options.searchAttributes ?? {});
  return [
    'server',
    'start-dev',
    ...Object.entries(fixed).flat(),
    ...ui,
    ...pragmas.flatMap((pragma) => ['--sqlite-pragma', pragma]),
    ...Object.entries(settings).flatMap(([key, value]) => [
      '--dynamic-config-value',
      `${key}=${JSON.stringify(value)}`,
    ]),
    ...attributes.flatMap(([name, type]) => ['--search-attribute', `${name}=${type}`]),
  ];
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
  return JSON.stringify({
    program: options.program,
    args: serverArguments(options),
    logFile: options.logFile,
    stateFile: options.stateFile,
    graceMs: STOP_GRACE_MS,
  });
}

/**
 * The supervisor's whole program. It is text for `node -e`, as a file would have to be found and
 * run both from the sources and from the build.
 */
const SUPERVISOR = `
const { spawn } = require('node:child_process');
const { openSync, readFileSync, rmSync } = require('node:fs');
const { program, args, logFile, stateFile, graceMs } = JSON.parse(process.argv[1]);
const report = (message) => { if (process.connected) process.send(message, () => {}); };

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
