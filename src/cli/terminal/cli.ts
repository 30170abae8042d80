/** What commands have in common: input and output, a client, and Ctrl-C. */
import type { Command } from 'commander';
import type { ConnectClientOptions, ConnectedEverloop } from '../../client/connect.ts';
import type { Everloop } from '../../client/everloop-client.ts';
import type { RunHandle } from '../../client/run-handle.ts';
import { defined } from '../../core/base/defined.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import type { WorkerConfig } from '../../worker/config/config.ts';
import { stopOnSignal } from '../../worker/serve/shutdown.ts';
import { EXIT_CODES } from './exit-codes.ts';
import type { CliIo } from './io.ts';
import { leaveSoon } from './leave.ts';
import type { Output } from './output.ts';

/** What a command works with. */
export interface Cli {
  readonly io: CliIo;
  readonly output: Output;
}

/** Adds a command to the program; `act` runs its body and keeps its exit code. */
export type AddCommand = (program: Command, act: CommandRunner) => void;

/** Runs the body of a command. */
export type CommandRunner = (body: (cli: Cli) => Promise<number>) => Promise<void>;

/**
 * The configuration of the environment. Reading it loads the client of Temporal, half a second of
 * work that help and the commands without a server do not need.
 */
export async function configFor({ io }: Cli, taskQueue?: string): Promise<WorkerConfig> {
  const { configOf } = await import('../../worker/config/config-of.ts');
  return configOf({ env: io.env, ...defined({ taskQueue }) });
}

/**
 * The configuration for the commands of this folder: where the environment names neither an address
 * nor a task queue, the queue is the one on which this folder was served.
 */
export async function folderConfig(cli: Cli): Promise<WorkerConfig> {
  const config = await configFor(cli);
  if (!usesFolderQueue(cli, config)) return config;
  const { notedQueue } = await import('../../client/noted-queue.ts');
  return configFor(cli, await notedQueue(config.dataDir));
}

/** Whether the environment leaves the choice of the task queue to the folder. */
function usesFolderQueue({ io }: Cli, { temporal }: WorkerConfig): boolean {
  return temporal.address === undefined && !io.env['EVERLOOP_TASK_QUEUE']?.trim();
}

/** The task queue on which a command serves the agent file of this folder. */
export async function servedQueue(cli: Cli): Promise<string> {
  const config = await configFor(cli);
  return usesFolderQueue(cli, config) ? cli.io.folderQueue(config.dataDir) : config.taskQueue;
}

/**
 * Calls `work` with a client of the running server, then closes the client. Throws a UsageError
 * `no_server` when there is no server.
 */
export async function withClient<Result>(
  cli: Cli,
  work: (everloop: Everloop) => Promise<Result>,
): Promise<Result> {
  const everloop = await openClient(cli);
  try {
    return await work(everloop);
  } finally {
    await everloop.close();
  }
}

/** Runs a command that reads something and shows it, as text or as JSON. */
export function showResult<Value>(
  act: CommandRunner,
  read: (everloop: Everloop) => Promise<Value>,
  toText: (value: Value, output: Output) => string,
): Promise<void> {
  return act(async (cli) => {
    const value = await withClient(cli, read);
    return print(cli, toText(value, cli.output), value);
  });
}

/** Runs a command about the run `id`. */
export function onRun(
  act: CommandRunner,
  id: string,
  work: (cli: Cli, run: RunHandle) => Promise<number>,
): Promise<void> {
  return act((cli) => withClient(cli, (everloop) => work(cli, everloop.attach(id))));
}

/** Writes a result, as text or as the document of `--json`; returns the exit code of a success. */
export function print({ output }: Cli, text: string, value: unknown): number {
  output.text(text);
  output.json(value);
  return EXIT_CODES.success;
}

/** A client of the running server; the caller closes it. */
export async function openClient(cli: Cli): Promise<ConnectedEverloop> {
  const config = await folderConfig(cli);
  return cli.io.connect({
    ...(await addressFor(cli)),
    taskQueue: config.taskQueue,
    dataDir: config.dataDir,
  });
}

/** How to connect to the running server. Throws a UsageError `no_server` when there is none. */
export async function addressFor(cli: Cli): Promise<ConnectClientOptions> {
  const config = await configFor(cli);
  const { connection, namespace } = config.temporal;
  const { findAddress } = await import('../../worker/serve/find-address.ts');
  const found = await findAddress(config);
  if (found.kind === 'none') throw noServer(found.tried);
  return { env: cli.io.env, address: found.address, namespace, connection };
}

function noServer(tried: readonly string[]): UsageError {
  return new UsageError(
    'no_server',
    [
      'Expected a Temporal server, got none. Looked at:',
      ...tried.map((line) => `- ${line}`),
      'Start one with `everloop dev`, or set `TEMPORAL_ADDRESS`.',
    ].join('\n'),
  );
}

/**
 * Runs `work` until it settles or Ctrl-C comes. Ctrl-C aborts `signal`, and the result is that of
 * `interrupted`; then the client has a moment to close, or `closeMs`. A second Ctrl-C ends the
 * process at once.
 */
export async function untilInterrupted(
  { io }: Cli,
  work: (signal: AbortSignal) => Promise<number>,
  interrupted: () => number = () => EXIT_CODES.interrupted,
  closeMs?: number,
): Promise<number> {
  const controller = new AbortController();
  const { signal } = controller;
  const stopped = new Promise<number>((resolve) => {
    const leave = (): void => {
      const exitCode = interrupted();
      leaveSoon(io.signals, exitCode, closeMs);
      resolve(exitCode);
    };
    signal.addEventListener('abort', leave, { once: true });
  });
  const release = stopOnSignal({ source: io.signals, stop: () => controller.abort() });
  try {
    const working = work(signal);
    // After Ctrl-C the client closes, so `work` may fail, which does not matter.
    working.catch(() => undefined);
    return await Promise.race([working, stopped]);
  } finally {
    release();
  }
}
