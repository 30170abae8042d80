/** What the command line needs of its process; tests give another one. */
import { connect, type ConnectedEverloop, type ConnectOptions } from '../client/connect.ts';
import type { Environment } from '../client/temporal-environment.ts';
import type { LocalEverloop, LocalOptions } from '../worker/local.ts';
import type { RunWorkerOptions } from '../worker/run-worker.ts';
import type { SignalSource } from '../worker/shutdown.ts';

/** Takes text; a terminal says so. */
export interface TextSink {
  readonly write: (text: string) => unknown;
  readonly isTTY?: boolean;
  /** Characters in a line of a terminal. */
  readonly columns?: number;
}

/** What the command line needs of its process. */
export interface CliIo {
  /** Results, and nothing else. */
  readonly stdout: TextSink;
  /** Progress and errors. */
  readonly stderr: TextSink;
  readonly env: Environment;
  /** Where relative paths begin. */
  readonly cwd: string;
  readonly signals: SignalSource;
  readonly connect: (options: ConnectOptions) => Promise<ConnectedEverloop>;
  readonly local: (options: LocalOptions) => Promise<LocalEverloop>;
  readonly runWorker: (options: RunWorkerOptions) => Promise<void>;
}

/** That of this process. */
export function processIo(): CliIo {
  return {
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    signals: process,
    connect,
    // A worker's native code takes a second to load, which `ps` need not wait for.
    local: async (options) => (await import('../worker/local.ts')).local(options),
    runWorker: async (options) => (await import('../worker/run-worker.ts')).runWorker(options),
  };
}
