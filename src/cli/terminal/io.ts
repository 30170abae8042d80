/** The process as the command line uses it; tests replace it. */
import { defined } from '../../core/base/defined.ts';
import { createInterface } from 'node:readline';
import { Writable, type Readable } from 'node:stream';
import type { ConnectedEverloop, ConnectOptions } from '../../client/connect.ts';
import type { ConnectDeploymentOptions, ConnectedDeployment } from '../../versioning/deployment.ts';
import type { Environment } from '../../client/connection/temporal-environment.ts';
import type { LocalEverloop, LocalOptions } from '../../worker/serve/local.ts';
import type { RunWorkerOptions } from '../../worker/serve/run-worker.ts';
import type { SignalSource } from '../../worker/serve/shutdown.ts';

/** An output stream. */
export interface TextSink {
  readonly write: (text: string) => unknown;
  readonly isTTY?: boolean;
  /** Width of a terminal, in characters. */
  readonly columns?: number;
}

/** Lines of input, typed at a terminal or piped. */
export interface LineSource {
  /** Whether a person types them, so that they can come at any time. */
  readonly isTerminal: boolean;
  /** Until the end of stdin or `close`. */
  readonly lines: AsyncIterable<string>;
  /** Sets the prompt of a terminal; does nothing elsewhere. */
  readonly prompt: (text: string) => void;
  readonly close: () => void;
}

/** The process as the command line uses it. */
export interface CliIo {
  /** Results, and nothing else. */
  readonly stdout: TextSink;
  /** Progress and errors. */
  readonly stderr: TextSink;
  readonly env: Environment;
  /** The folder that relative paths refer to. */
  readonly cwd: string;
  readonly signals: SignalSource;
  /** Lines of stdin until its end or `signal`; a terminal has line editing and shows the prompt. */
  readonly lines: (prompt: () => string, signal: AbortSignal) => AsyncIterable<string>;
  /** Lines of stdin, with a prompt that can change while it waits for a line. */
  readonly openLines: () => LineSource;
  /**
   * Stdin and stdout for a protocol. From then on all else that writes to stdout goes to stderr; the
   * process calls it once.
   */
  readonly openStdio: () => { readonly stdin: Readable; readonly stdout: Writable };
  readonly connect: (options: ConnectOptions) => Promise<ConnectedEverloop>;
  readonly connectDeployment: (options: ConnectDeploymentOptions) => Promise<ConnectedDeployment>;
  readonly local: (options: LocalOptions) => Promise<LocalEverloop>;
  readonly runWorker: (options: RunWorkerOptions) => Promise<void>;
  /** The task queue that this folder's agents are served on; see `folderQueue`. */
  readonly folderQueue: (dataDir: string) => Promise<string>;
}

/** This process. */
export function processIo(): CliIo {
  return {
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    signals: process,
    lines: linesOfStdin,
    openLines: openStdin,
    openStdio,
    // Loading the client takes half a second and the native code of a worker another one, which
    // commands that need neither can avoid.
    connect: async (options) => (await import('../../client/connect.ts')).connect(options),
    connectDeployment: async (options) =>
      (await import('../../versioning/deployment.ts')).connectDeployment(options),
    local: async (options) => (await import('../../worker/serve/local.ts')).local(options),
    runWorker: async (options) =>
      (await import('../../worker/serve/run-worker.ts')).runWorker(options),
    folderQueue: async (dataDir) =>
      (await import('../../worker/server/folder-queue.ts')).folderQueue(dataDir),
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
  const output = isTerminal ? process.stdout : undefined;
  const reader = createInterface(defined({ input: process.stdin, output }));
  // With line editing, Ctrl-C arrives as a key; pass it on as the usual signal.
  reader.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  return {
    isTerminal,
    // Create the iterator at once: lines that come before it would be lost.
    lines: { [Symbol.asyncIterator]: once(reader[Symbol.asyncIterator]()) },
    prompt: (text) => {
      if (!isTerminal) return;
      reader.setPrompt(text);
      if (text !== '') reader.prompt(true);
    },
    close: () => reader.close(),
  };
}

function openStdio(): ReturnType<CliIo['openStdio']> {
  const { stdin, stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  const own = new Writable({
    write: (chunk: Uint8Array, _encoding, done) => void write(chunk, done),
  });
  // The reader has left: the next write fails, which ends the protocol.
  stdout.on('error', (error) => own.destroy(error));
  return { stdin, stdout: own };
}

function once<Value>(value: Value): () => Value {
  return () => value;
}
