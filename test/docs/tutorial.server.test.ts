/**
 * docs/tutorial.md, step by step: its files are written into an empty folder as they stand there, and
 * its commands are run there by a shell, in their order.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startAimock } from '../support/aimock.ts';
import { cliProgram, servingProgram } from '../support/builds.ts';
import { shareBundle } from '../support/bundles.ts';
import { eventually } from '../support/eventually.ts';
import { RUNS_ALL } from '../support/extent.ts';
import { linkPackages } from '../support/linked-packages.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PAGE = readFileSync(join(ROOT, 'docs/tutorial.md'), 'utf8');

const quoted = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(' ');

/** What `npx` is on a machine that has the package installed. */
const NPX = `
npx() {
  if [ "$1" = tsx ]; then shift; exec node --import '${import.meta.resolve('tsx')}' "$@"; fi
  shift
  if [ "$1" = run ] && [ -n "$SERVE" ]; then set -- "$@" --serve; fi
  case "$* " in
    dev* | *' --serve '*) node ${quoted(servingProgram())} "$@" ;;
    *) node ${quoted(cliProgram())} "$@" ;;
  esac
}
`;

/** A part of the page: a file to write, or commands; `tag` says how the test runs them. */
interface Block {
  readonly language: string;
  readonly tag: string;
  readonly text: string;
}

/** The blocks of each step, by the number of its heading. */
const STEPS = new Map(
  PAGE.split(/^## (?=\d+\. )/m)
    .slice(1)
    .map((step) => [
      Number.parseInt(step, 10),
      [...step.matchAll(/^```(\w+) ?(.*)\n([^]*?)^```$/gm)].map(
        ([, language = '', tag = '', text = '']): Block => ({ language, tag, text }),
      ),
    ]),
);

let mock: LLMock;
let home = '';
let folder = '';
let env: NodeJS.ProcessEnv = {};
const running: ChildProcess[] = [];
const run = promisify(execFile);

/** A reply to the customer who said this, after so many results of tools. */
interface Line {
  readonly said: RegExp;
  readonly results: number;
  readonly calls?: readonly { readonly name: string; readonly arguments: string }[];
  readonly content?: string;
  /** Milliseconds before each piece of it. */
  readonly latency?: number;
}

const stock = (tea: string): NonNullable<Line['calls']> => [
  { name: 'stock', arguments: JSON.stringify({ tea }) },
];

const LINES: readonly Line[] = [
  { said: /wakes me up/, results: 0, content: 'Assam does.' },
  { said: /have assam\?/, results: 0, calls: stock('assam') },
  { said: /have assam\?/, results: 1, content: 'Yes, 12 packets.' },
  { said: /order A1/, results: 0, calls: [{ name: 'refund', arguments: '{"order":"A1"}' }] },
  { said: /order A1/, results: 1, content: 'Order A1 is paid back.' },
  {
    said: /sencha taste/,
    results: 0,
    calls: [{ name: 'taster', arguments: '{"task":"Describe it: sencha"}' }],
  },
  { said: /Describe it: sencha/, results: 0, content: 'Fresh, green, grassy, soft, sweet.' },
  { said: /sencha taste/, results: 1, content: 'Fresh and soft.' },
  { said: /sencha and mint/, results: 0, calls: stock('assam'), latency: 700 },
  { said: /sencha and mint/, results: 1, calls: stock('sencha'), latency: 700 },
  { said: /sencha and mint/, results: 2, calls: stock('mint'), latency: 700 },
  { said: /sencha and mint/, results: 3, content: 'Assam and sencha, but no mint.' },
];

beforeAll(async () => {
  mock = await startAimock();
  mock.addFixtures(
    LINES.map(({ said, results, calls = [], content = '', latency }) => ({
      match: {
        predicate: ({ messages }) => {
          const user = messages.findLast(({ role }) => role === 'user');
          const read = messages.filter(({ role }) => role === 'tool').length;
          return said.test(JSON.stringify(user?.content)) && read === results;
        },
      },
      response: calls.length === 0 ? { content } : { toolCalls: [...calls] },
      ...(latency === undefined ? {} : { latency }),
    })),
  );
  home = await mkdtemp(join(tmpdir(), 'everloop-tutorial-'));
  folder = join(home, 'tea');
  // What the first block of the page does, from this checkout: a package of modules.
  linkPackages(folder, ['@ai-sdk', 'tsx', 'zod']);
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
  const { address, namespace } = inject('temporal');
  env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: namespace,
    EVERLOOP_TASK_QUEUE: `tutorial-${randomUUID()}`,
    EVERLOOP_DEPLOYMENT: `tutorial-${randomUUID()}`,
    OPENAI_API_KEY: 'sk-test-key-0123456789',
    OPENAI_BASE_URL: `${mock.url}/v1`,
  };
  mkdirSync(join(folder, '.everloop'));
  await shareBundle(join(folder, '.everloop'));
});
afterAll(async () => {
  await Promise.all(running.map((child) => stop(child, 'SIGKILL')));
  await mock?.stop();
  await rm(home, { recursive: true, force: true });
});

/** The commands of a step with this tag. */
function commands(step: number, tag = ''): readonly string[] {
  const blocks = STEPS.get(step) ?? [];
  const found = blocks.filter((block) => block.language === 'sh' && block.tag === tag);
  return found.flatMap(({ text }) => text.trim().split('\n'));
}

/** Writes the files as they are at the end of a step, also when those before it were left out. */
function write(step: number): void {
  for (let at = 1; at <= step; at += 1) {
    for (const { language, tag, text } of STEPS.get(at) ?? []) {
      if (language === 'ts') writeFileSync(join(folder, tag), text);
    }
  }
}

interface Ended {
  readonly code: number;
  readonly out: string;
}

/** Runs a command of the page; `serve`: where the user has no server that an environment names. */
async function sh(command: string, more: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const options = { cwd: folder, env: { ...env, ...more }, timeout: 120_000 };
  return run('bash', ['-c', `${NPX}\n${command}`], options).then(
    ({ stdout, stderr }) => ({ code: 0, out: stdout + stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
      code,
      out: stdout + stderr,
    }),
  );
}

const serve = { SERVE: 'yes' };

/** Starts what goes on; `ready` is in its output once it serves. */
async function start(command: string, ready?: RegExp): Promise<ChildProcess> {
  const child = spawn('bash', ['-c', `${NPX}\n${command}`], {
    cwd: folder,
    env: { ...env, EVERLOOP_LOG_LEVEL: 'INFO' },
    detached: true,
  });
  running.push(child);
  let out = '';
  child.stdout.on('data', (piece: Buffer) => (out += piece.toString()));
  child.stderr.on('data', (piece: Buffer) => (out += piece.toString()));
  if (ready !== undefined)
    await eventually(`${command} to serve`, () => ready.test(out) || undefined);
  return child;
}

/** Sends a signal to a command and to what it has started; settles when it has ended. */
async function stop(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = once(child, 'exit');
  process.kill(-child.pid, signal);
  await ended;
}

const SERVES = /state: 'RUNNING'/;

describe('the tutorial', () => {
  it('has eight steps', () => {
    expect([...STEPS.keys()]).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('1: an agent answers', { timeout: 180_000 }, async () => {
    write(1);
    const [ask = ''] = commands(1);
    expect(await sh(ask, serve)).toMatchObject({
      code: 0,
      out: expect.stringContaining('Assam does.') as string,
    });
  });

  it('2: it calls a tool, and its events say so', { timeout: 180_000 }, async () => {
    write(2);
    const [ask = '', logs = ''] = commands(2);
    expect((await sh(ask, serve)).out).toContain('Yes, 12 packets.');
    expect((await sh(logs)).out).toContain('stock');
  });

  it.runIf(RUNS_ALL)('3: a limit ends it', { timeout: 180_000 }, async () => {
    write(3);
    const [ask = ''] = commands(3);
    const ended = await sh(ask, serve);
    expect(ended).toMatchObject({ code: 1, out: expect.stringContaining('limit') as string });
  });

  it.runIf(RUNS_ALL)(
    '4: a person approves, and an answer follows',
    { timeout: 240_000 },
    async () => {
      write(4);
      const [dev = ''] = commands(4, 'background');
      const server = await start(dev, SERVES);
      const [ask = '', inbox = '', approve = '', attach = ''] = commands(4);
      expect((await sh(ask)).out).toContain('refund-a1');
      await eventually(
        'the approval',
        async () => (await sh(inbox)).out.includes('refund-a1') || undefined,
      );
      expect(await sh(approve)).toMatchObject({ code: 0 });
      expect((await sh(attach)).out).toContain('Order A1 is paid back.');
      await stop(server, 'SIGINT');
    },
  );

  it.runIf(RUNS_ALL)('5: an agent asks another', { timeout: 240_000 }, async () => {
    write(5);
    const server = await start(commands(4, 'background')[0] ?? '', SERVES);
    const [ask = '', tree = ''] = commands(5);
    expect((await sh(ask)).out).toContain('Fresh and soft.');
    expect((await sh(tree)).out).toContain('taster');
    await stop(server, 'SIGINT');
  });

  it('6: a test of it passes', { timeout: 180_000 }, async () => {
    write(6);
    const [test = ''] = commands(6);
    const ended = await sh(test);
    expect(ended).toMatchObject({ code: 0 });
    expect(ended.out).toContain('pass 1');
  });

  it.runIf(RUNS_ALL)(
    '7: two workers are restarted in turn while it runs',
    { timeout: 300_000 },
    async () => {
      write(7);
      expect(commands(7, 'environment')).toEqual([
        'export TEMPORAL_ADDRESS=127.0.0.1:7233',
        'export EVERLOOP_TASK_QUEUE=tea',
      ]);
      const [worker = ''] = commands(7, 'worker');
      const [client = ''] = commands(7, 'client');
      let workers = [await start(worker, SERVES), await start(worker, SERVES)];
      const ended = sh(client);
      const asked = (): number =>
        mock.getRequests().filter(({ body }) => JSON.stringify(body).includes('sencha and mint'))
          .length;
      const before = asked();
      await eventually('a first call of the model', () => asked() > before || undefined);
      for (const old of workers) {
        await stop(old, 'SIGTERM');
        workers = [...workers, await start(worker, SERVES)];
      }

      expect(await ended).toMatchObject({
        code: 0,
        out: expect.stringContaining('Assam and sencha, but no mint.') as string,
      });
      await Promise.all(workers.map((one) => stop(one, 'SIGTERM')));
    },
  );

  it.runIf(RUNS_ALL)(
    '8: a project is written, and a version is promoted',
    { timeout: 300_000 },
    async () => {
      const [init = '', promote = '', status = '', doctor = ''] = commands(8);
      expect(await sh(init)).toMatchObject({ code: 0 });
      expect(readdirSync(join(folder, 'shop'))).toContain('Dockerfile');

      const [versioned = ''] = commands(8, 'versioned');
      const worker = await start(versioned, SERVES);
      expect(await sh(promote)).toMatchObject({ code: 0 });
      expect((await sh(status)).out).toContain('v1');
      expect((await sh(doctor)).out).toContain('namespace');
      await stop(worker, 'SIGTERM');
    },
  );
});
