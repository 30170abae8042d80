/** `everloop chat` as people run it: processes of their own, a real server, a mock provider over HTTP. */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, inject, it } from 'vitest';
import { servingProgram } from '../support/builds.ts';
import { shareBundle } from '../support/bundles.ts';
import { eventually } from '../support/eventually.ts';
import { RUNS_ALL } from '../support/extent.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CHAT = [
  'chat',
  'host',
  '--agents',
  join(ROOT, 'examples/docs/chat-applications.ts'),
  '--serve',
  '--stream',
];

let folder = '';
const children: ChildProcessWithoutNullStreams[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'everloop-chat-'));
  await shareBundle(folder);
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A process that somebody talks with. */
interface Chat {
  readonly say: (line: string) => void;
  readonly interrupt: () => void;
  /** Ends the input. */
  readonly leave: () => void;
  readonly stdout: () => string;
  /** Waits until `text` stands on stderr behind what was waited for before. */
  readonly told: (text: string) => Promise<void>;
  readonly exitCode: Promise<unknown>;
}

function startChat(...args: readonly string[]): Chat {
  const { address, namespace } = inject('temporal');
  const child = spawn(process.execPath, [...servingProgram(), ...CHAT, ...args], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      TEMPORAL_ADDRESS: address,
      TEMPORAL_NAMESPACE: namespace,
      EVERLOOP_TASK_QUEUE: 'chat-test',
      EVERLOOP_DATA_DIR: folder,
      EVERLOOP_LOG_LEVEL: 'ERROR',
    },
  });
  children.push(child);
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8');
    child[name].on('data', (text: string) => (written[name] += text));
  }
  let read = 0;
  return {
    say: (line) => child.stdin.write(`${line}\n`),
    interrupt: () => void child.kill('SIGINT'),
    leave: () => child.stdin.end(),
    stdout: () => written.stdout,
    told: async (text) => {
      const isTold = (): boolean => written.stderr.includes(text, read);
      await eventually(`\`${text}\` on stderr`, isTold, 120_000).catch((error: unknown) => {
        throw new Error(`Got: ${written.stderr.slice(read)}`, { cause: error });
      });
      read = written.stderr.indexOf(text, read) + text.length;
    },
    exitCode: once(child, 'exit').then(([code]: unknown[]) => code),
  };
}

it.runIf(RUNS_ALL)(
  'asks, has a call approved, is stopped, and goes on in a second process [sub 17] [sub 18]',
  { timeout: 300_000 },
  async () => {
    const id = `guest-${randomUUID()}`;
    const first = startChat('--id', id);
    first.say('Hello!');
    await first.told('success');
    expect(first.stdout()).toBe('Good evening! How can I help?\n');

    first.say('A table for two, please.');
    await first.told('? Inside or outside?\n  1 inside\n  2 outside\n');
    first.say('roof');
    await first.told('answer one of: 1 inside, 2 outside');
    first.interrupt();
    await first.told('Stopped.\ncanceled (canceled)');

    first.say('A table for two, I said.');
    await first.told('? Inside or outside?');
    first.leave();
    await first.told(`Come back with \`everloop chat host --resume ${id}\`.`);
    expect(await first.exitCode).toBe(1);

    const second = startChat('--resume', id);
    await second.told('host: [No answer: canceled, canceled.]\nyou: A table for two, I said.\n');
    await second.told('? Inside or outside?');
    second.say('2');
    await second.told('? May I call book {"guests":2,"place":"outside"}');
    second.say('y');
    await second.told('success');
    second.say('Which table is it?');
    await second.told('success');
    second.say('/history');
    second.leave();
    expect(await second.exitCode).toBe(0);
    expect(second.stdout().split('\n')).toEqual([
      'Booked: table 7, outside, for two.',
      'Table 7, outside.',
      'you: Hello!',
      'host: Good evening! How can I help?',
      'you: A table for two, please.',
      'host: [No answer: canceled, canceled.]',
      'you: A table for two, I said.',
      'host: Inside or outside?',
      'you: outside',
      'host: Booked: table 7, outside, for two.',
      'you: Which table is it?',
      'host: Table 7, outside.',
      '',
    ]);
  },
);
