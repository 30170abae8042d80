/** What the command line needs of its process; tests give another one. */
import { createInterface } from 'node:readline';
import { connect, type ConnectedEverloop, type ConnectOptions } from '../../client/connect.ts';
import type { Environment } from '../../client/temporal-environment.ts';
import type { LocalEverloop, LocalOptions } from '../../worker/serve/local.ts';
import type { RunWorkerOptions } from '../../worker/serve/run-worker.ts';
import type { SignalSource } from '../../worker/serve/shutdown.ts';

/** Takes text; a terminal says so. */
export interface TextSink {
  readonly write: (text: string) => unknown;
  readonly isTTY?: boolean;
  /** Characters in a line of a terminal. */
  readonly columns?: number;
}

/** Somebody's lines: typed at a terminal, or piped. */
export interface LineSource {
  /** Whether a person types them, so that they may come at any time. */
  readonly isTerminal: boolean;
  /** Until the end of stdin or `close`. */
  readonly lines: AsyncIterable<string>;
  /** Shows `text` in front of what is typed from now on; nothing elsewhere than on a terminal. */
  readonly prompt: (text: string) => void;
  readonly close: () => void;
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
  /** Lines of stdin until its end or `signal`; on a terminal with editing, after a prompt each. */
  readonly lines: (prompt: () => string, signal: AbortSignal) => AsyncIterable<string>;
  /** Lines of stdin, whose prompt changes while one is waited for. */
  readonly openLines: () => LineSource;
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
    lines: linesOfStdin,
    openLines: openStdin,
    connect,
    // A worker's native code takes a second to load, which `ps` need not wait for.
    local: async (options) => (await import('../../worker/serve/local.ts')).local(options),
    runWorker: async (options) =>
      (await import('../../worker/serve/run-worker.ts')).runWorker(options),
  };
}

async function* linesOfStdin(prompt: () => string, signal: AbortSignal): AsyncGenerator<string> {
  const source = openStdin();
  signal.addEventListener('abort', source.close, { once: true });
  try {
    source.prompt(prompt());
    for await (const line of source.lines) {
      yield line;
      source.prompt(prompt());
    }
  } finally {
    source.close();
  }
}

function openStdin(): LineSource {
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY;
  const reader = createInterface({
    input: process.stdin,
    ...(isTerminal ? { output: process.stdout } : {}),
  });
  // A terminal that is edited gives Ctrl-C as a key; it means what it means elsewhere.
  reader.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  return {
    isTerminal,
    // Asked for at once: lines that come before would be lost.
    lines: { [Symbol.asyncIterator]: once(reader[Symbol.asyncIterator]()) },
    prompt: (text) => {
      if (!isTerminal) return;
      reader.setPrompt(text);
      if (text !== '') reader.prompt(true);
    },
    close: () => reader.close(),
  };
}

function once<Value>(value: Value): () => Value {
  return () => value;
}
