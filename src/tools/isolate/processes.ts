/**
 * Calls in child processes, a new one for each call: nothing that native code leaves behind reaches
 * another call.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { serialize } from 'node:v8';
import { frameOf, onFrames } from './frames.ts';
import { MAX_MESSAGE_BYTES, type IsolatedOrder } from './messages.ts';
import {
  entryPath,
  notStarted,
  sourceFlags,
  typeScriptFlags,
  type OnMessage,
  type Transport,
} from './transport.ts';

/** How long the last messages of an ended process may take. Its own children may hold the pipe. */
const LAST_MESSAGES_MS = 500;

const IS_WINDOWS = process.platform === 'win32';

/** The processes of a worker. */
export interface Processes {
  readonly open: (order: IsolatedOrder, heapMb: number, onMessage: OnMessage) => Transport;
  readonly close: () => Promise<void>;
}

/** Starts a process for each call. */
export function createProcesses(): Processes {
  const open = new Set<Transport>();
  return {
    open: (order, heapMb, onMessage) => {
      const transport = openProcess(order, heapMb, onMessage);
      open.add(transport);
      void transport.ended.then(() => open.delete(transport));
      return transport;
    },
    close: async () => {
      const all = [...open];
      for (const transport of all) transport.kill();
      await Promise.all(all.map(({ ended }) => ended));
    },
  };
}

function openProcess(order: IsolatedOrder, heapMb: number, onMessage: OnMessage): Transport {
  const child = start(order.module, heapMb);
  if (child instanceof Promise) {
    return { stop: () => undefined, kill: () => undefined, ended: child.then(notStarted) };
  }
  const socket = child.stdio[3] as Socket;
  let refusal: string | undefined;
  socket.on('error', (error) => {
    if (error.message.startsWith('a message')) refusal = `sent ${error.message}`;
    killGroup(child);
  });
  onFrames(socket, MAX_MESSAGE_BYTES, (bytes) => onMessage(bytes.toString()));
  const send = (message: unknown): void => void socket.write(frameOf(serialize(message)));
  send(order);
  const ended = endOf(child, socket, heapMb).then((how) => ({
    how: refusal ?? how,
    started: true,
  }));
  return {
    stop: (name, message) => {
      if (!socket.destroyed) send({ name, message });
    },
    kill: () => killGroup(child),
    ended,
  };
}

/** Starts a process; if the system cannot, a promise of its error. */
function start(module: string, heapMb: number): ChildProcess | Promise<unknown> {
  try {
    const child = spawn(
      process.execPath,
      [
        ...flagsFor(module),
        `--max-old-space-size=${heapMb}`,
        entryPath('process-entry'),
        String(process.pid),
      ],
      {
        // Its output is no output of the worker, whose stdout may carry events.
        stdio: ['ignore', 2, 2, 'pipe'],
        // A group of its own: Ctrl-C reaches the worker only, and what it starts ends with it.
        detached: !IS_WINDOWS,
        windowsHide: true,
      },
    );
    // Also without a process, this emits its error later.
    const failure = new Promise<unknown>((resolve) => void child.on('error', resolve));
    return child.pid === undefined ? failure : child;
  } catch (error) {
    return Promise.resolve(error);
  }
}

/** The flags of this process but those of the debugger, and what TypeScript needs. */
function flagsFor(module: string): readonly string[] {
  const own = process.execArgv.filter((flag) => !/^--(inspect|debug|max-old|test)/.test(flag));
  if (own.some((flag) => flag.includes('tsx'))) return own;
  return [...own, ...(/\.[cm]?tsx?$/.test(module) ? typeScriptFlags() : sourceFlags())];
}

function endOf(child: ChildProcess, socket: Socket, heapMb: number): Promise<string> {
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(endText(code, signal, heapMb)));
  });
  const closed = new Promise<void>((resolve) => void socket.once('close', resolve));
  return exited.then(async (text) => {
    const timer = setTimeout(() => socket.destroy(), LAST_MESSAGES_MS);
    await closed;
    clearTimeout(timer);
    return text;
  });
}

function endText(code: number | null, signal: string | null, heapMb: number): string {
  // V8 aborts when the heap is full; a shell reports that signal as 134.
  if (signal === 'SIGABRT' || code === 134) {
    return `was ended by SIGABRT, as when it needs more than its heap of ${heapMb} MB`;
  }
  return signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`;
}

/** Ends a process with everything that it started. */
function killGroup(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    if (IS_WINDOWS) child.kill('SIGKILL');
    else process.kill(-pid, 'SIGKILL');
  } catch {
    child.kill('SIGKILL');
  }
}
