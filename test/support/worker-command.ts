/** `everloop worker` as a process of its own, with an agent file of `fixtures`. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { servingProgram } from './builds.ts';
import { eventually } from './eventually.ts';
import type { Stage } from './stage.ts';

/** What the command serves. */
export interface WorkerCommand {
  /** The name of the file in `fixtures`. */
  readonly agents: string;
  readonly taskQueue: string;
  /** Default `ERROR`. */
  readonly logLevel?: string;
  /** Further variables of its environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Further arguments. */
  readonly args?: readonly string[];
}

/** A process that runs the command. */
export interface RunningCommand {
  readonly process: ChildProcess;
  /** All that it has written to stderr. */
  readonly said: () => string;
  /** Stops it in order, if it still runs. */
  readonly stop: () => Promise<void>;
}

/** Starts the command; it is ready later. */
export function spawnWorkerCommand(
  stage: Stage,
  { agents, taskQueue, logLevel = 'ERROR', env = {}, args = [] }: WorkerCommand,
): RunningCommand {
  const file = fileURLToPath(new URL(`./fixtures/${agents}`, import.meta.url));
  const child = spawn(
    process.execPath,
    [...servingProgram(), 'worker', '--agents', file, ...args],
    {
      cwd: stage.folder,
      env: {
        PATH: process.env['PATH'],
        TEMPORAL_ADDRESS: stage.address,
        TEMPORAL_NAMESPACE: stage.namespace,
        EVERLOOP_TASK_QUEUE: taskQueue,
        EVERLOOP_DATA_DIR: stage.folder,
        EVERLOOP_LOG_LEVEL: logLevel,
        ...env,
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  const lines: string[] = [];
  child.stderr.on('data', (data: Buffer) => lines.push(data.toString()));
  return {
    process: child,
    said: () => lines.join(''),
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

/** Starts the command, and waits until it is ready. */
export async function startWorkerCommand(
  stage: Stage,
  command: WorkerCommand,
): Promise<RunningCommand> {
  const running = spawnWorkerCommand(stage, command);
  await eventually('the worker to be ready', () => running.said().includes('Ready.'));
  return running;
}
