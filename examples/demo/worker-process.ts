/** The demo's worker from outside: start it, listen to it, kill it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { AgentEvent } from '../../src/index.ts';
import type { DemoWorkerSetup } from './worker.ts';

/** A worker process. */
export interface WorkerProcess {
  readonly pid: number;
  /** Sends the signal and waits until the process has ended; harmless afterwards. */
  readonly end: (signal: NodeJS.Signals) => Promise<void>;
}

const WORKER_FILE = fileURLToPath(new URL('worker.ts', import.meta.url));

/** Starts a worker and waits until it serves; `onEvent` gets the events of its runs. */
export async function startWorkerProcess(
  setup: DemoWorkerSetup,
  onEvent: (event: AgentEvent) => void,
): Promise<WorkerProcess> {
  const child = spawn(
    process.execPath,
    ['--import', import.meta.resolve('tsx'), WORKER_FILE, JSON.stringify(setup)],
    // A process group of its own: Ctrl-C reaches only the demo, which then stops its worker cleanly.
    { stdio: ['pipe', 'pipe', 'inherit'], detached: true },
  );
  // Not `exit`: its last output may still be in the pipe.
  const exited = once(child, 'close');
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await exited;
  };
  const ready = new Promise<void>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const message = readLine(line);
      if (message.ready === true) resolve();
      if (message.event !== undefined) onEvent(message.event);
    });
  });
  const died = exited.then(([code]) =>
    Promise.reject(
      new Error(`Expected the worker to become ready, got its exit (${String(code)}).`),
    ),
  );
  died.catch(() => undefined);
  try {
    await Promise.race([ready, died]);
  } catch (error) {
    await end('SIGKILL');
    throw error;
  }
  return { pid: child.pid ?? 0, end };
}

/** A line of the worker; a line that a kill cut off is ignored. */
function readLine(line: string): { readonly ready?: boolean; readonly event?: AgentEvent } {
  try {
    return JSON.parse(line) as ReturnType<typeof readLine>;
  } catch {
    return {};
  }
}
