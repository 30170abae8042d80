import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fixtureProgram } from './builds.ts';

/** A TypeScript file of the fixtures that runs as a process of its own. */
export interface FixtureProcess {
  readonly child: ChildProcess;
  /** The first line that it printed, parsed. */
  readonly firstLine: unknown;
  /** Settles when it has ended: with the signal that ended it, or its exit code. */
  readonly ended: Promise<NodeJS.Signals | number | null>;
  /** Ends it with this signal and waits until it has ended. */
  readonly kill: (signal: NodeJS.Signals) => Promise<void>;
}

/** What Node is started with so that a workflow task is cut off after two seconds, and not five. */
export const EARLY_CUT: readonly string[] = [
  '--import',
  new URL('fixtures/early-cut.mjs', import.meta.url).href,
];

/**
 * Starts `test/support/fixtures/NAME.ts` and waits for its first line, which must be JSON. `onLine` hears
 * the lines after it.
 */
export async function startFixture(
  name: string,
  args: readonly string[],
  onLine: (line: string) => void = () => undefined,
  nodeOptions: readonly string[] = [],
): Promise<FixtureProcess> {
  const child = spawn(process.execPath, [...nodeOptions, ...fixtureProgram(name), ...args], {
    env: fixtureEnv(),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const ended = exited.then(([code, signal]) => (signal ?? code) as NodeJS.Signals | number | null);
  const lines = createInterface({ input: child.stdout });
  const firstLine = await Promise.race([
    once(lines, 'line').then(([line]) => {
      lines.on('line', onLine);
      return String(line);
    }),
    exited.then(([code]) => Promise.reject(new Error(`${name} ended with code ${String(code)}`))),
  ]);
  return {
    child,
    ended,
    firstLine: JSON.parse(firstLine) as unknown,
    kill: async (signal) => {
      child.kill(signal);
      await exited;
    },
  };
}

/** What tests find their browser by is no variable of Everloop. */
function fixtureEnv(): NodeJS.ProcessEnv {
  const { EVERLOOP_BROWSER: _wish, EVERLOOP_CHROMIUM: _file, ...env } = process.env;
  return { ...env, NODE_OPTIONS: '' };
}

/** The processes of one fixture that a file of tests starts. */
export interface FixtureProcesses<Work> {
  /** Starts one more, which is told its work as JSON. */
  start(work: Work): Promise<FixtureProcess>;
  /** Kills those that still run. */
  stop(): Promise<void>;
}

/** Processes of `test/support/fixtures/NAME.ts`, none yet. */
export function fixtureProcesses<Work>(
  name: string,
  nodeOptions: readonly string[] = [],
): FixtureProcesses<Work> {
  const started: FixtureProcess[] = [];
  return {
    start: async (work) => {
      const child = await startFixture(name, [JSON.stringify(work)], undefined, nodeOptions);
      started.push(child);
      return child;
    },
    stop: async () => {
      await Promise.all(started.splice(0).map((child) => child.kill('SIGKILL')));
    },
  };
}
