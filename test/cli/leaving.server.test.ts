/** Ctrl-C of commands that wait, while a model is called: they end in a moment, whatever is open. */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { cliProgram, servingProgram } from '../support/builds.ts';
import { shareBundle } from '../support/bundles.ts';
import { eventually } from '../support/eventually.ts';
import { withinMs } from '../support/extent.ts';

const INDEX = pathToFileURL(
  join(fileURLToPath(new URL('../..', import.meta.url)), 'src/index.ts'),
).href;

/** A model that does not heed that it is cancelled. */
const AGENTS = `
import { defineAgent } from '${INDEX}';
export const agents = [defineAgent({ name: 'deaf', model: () => new Promise(() => setInterval(() => {}, 1000)) })];
`;

const QUEUE = `leaving-${randomUUID()}`;
const RUN = `deaf-${randomUUID()}`;

/** A program and what it has said. */
interface Told {
  readonly child: ChildProcess;
  readonly said: () => string;
  /** Sends Ctrl-C; how long it took to end, and its exit code. */
  readonly interrupt: (
    signal?: NodeJS.Signals,
  ) => Promise<{ readonly code: unknown; readonly tookMs: number }>;
}

let folder = '';
let worker: Told;
const children: ChildProcess[] = [];

function start(program: readonly string[], ...args: readonly string[]): Told {
  const { address, namespace } = inject('temporal');
  const child = spawn(process.execPath, [...program, ...args], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      TEMPORAL_ADDRESS: address,
      TEMPORAL_NAMESPACE: namespace,
      EVERLOOP_TASK_QUEUE: QUEUE,
      EVERLOOP_DATA_DIR: folder,
      EVERLOOP_LOG_LEVEL: 'WARN',
      EVERLOOP_SHUTDOWN_GRACE_MS: '1000',
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  children.push(child);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data: Buffer) => (said += data.toString()));
  }
  return {
    child,
    said: () => said,
    interrupt: async (signal = 'SIGINT') => {
      const exited = once(child, 'exit');
      const began = performance.now();
      child.kill(signal);
      const [code] = (await exited) as [unknown];
      return { code, tookMs: performance.now() - began };
    },
  };
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'everloop-leaving-'));
  await writeFile(join(folder, 'agents.ts'), AGENTS);
  await shareBundle(folder);
  worker = start(servingProgram(), 'worker');
  await eventually('the worker to be ready', () => worker.said().includes('Ready.'));
  const run = start(cliProgram(), 'run', 'deaf', 'go', '--no-serve', '--detach', '--id', RUN);
  await once(run.child, 'exit');
});

afterAll(async () => {
  for (const child of children) if (child.exitCode === null) child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

it.each([
  { args: ['run', 'deaf', 'go', '--no-serve', '--id', RUN, '--attach'], shows: 'model' },
  { args: ['logs', '-f', RUN], shows: 'iteration' },
  { args: ['tree', '-f', RUN], shows: 'deaf' },
  { args: ['chat', 'deaf', '--no-serve'], shows: 'conversation', signal: 'SIGTERM' },
])('Ctrl-C ends `$args.0`', async ({ args, shows, signal }) => {
  const { said, interrupt } = start(cliProgram(), ...args);
  await eventually('the command to wait', () => said().includes(shows));
  const { code, tookMs } = await interrupt(signal as NodeJS.Signals | undefined);

  expect(code).toBe(130);
  // Today a second; the request that is open lasts twenty.
  expect(tookMs).toBeLessThan(Math.min(withinMs(1_000), 12_000));
});

it('Ctrl-C ends a worker within its grace, although a model does not end, and says so', async () => {
  const { code, tookMs } = await worker.interrupt();

  expect(worker.said()).toContain('Stopping. Calls in flight have 1.0 s to end.');
  expect([0, 130]).toContain(code);
  expect(tookMs).toBeLessThan(withinMs(6_500));
});
