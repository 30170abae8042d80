/**
 * Chats in the frameworks that people use, as docs/frameworks.md and docs/nextjs.md tell: each app is
 * built with the packed package and runs; its chat calls a tool and streams.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { LLMock } from '@copilotkit/aimock';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { startAimock } from '../support/aimock.ts';
import { filesOf } from '../support/doc-pages.ts';
import { eventually } from '../support/eventually.ts';
import { RUNS_ALL } from '../support/extent.ts';
import { packedPackage } from '../support/packed-package.ts';

const run = promisify(execFile);

/** What the pages and the project of `everloop init --next` have a user install. */
const PACKAGES = [
  'hono @hono/node-server express vite@8 esbuild tsx zod',
  '@ai-sdk/openai@3 @ai-sdk/react@3 ai@6 next@16 react@19 react-dom@19',
  'typescript@5 @types/node@22 @types/react@19 @types/react-dom@19',
].flatMap((names) => names.split(' '));

/** How a project of Next begins, without the packages, which are there, and without a repository. */
const CREATE_NEXT_APP =
  'create-next-app@16 tea --yes --empty --no-tailwind --no-linter --use-npm --skip-install --disable-git';

const ANSWER = 'Yes, we have twelve packets of assam, and they are fresh.';

/** The folder with all packages; apps are in folders of it. */
let home = '';
let mock: LLMock;
let env: NodeJS.ProcessEnv;
let worker: ChildProcess | undefined;
let server: ChildProcess | undefined;

/** Starts a program in a folder. */
function begin(cwd: string, args: readonly string[], own: NodeJS.ProcessEnv = {}): ChildProcess {
  return spawn(process.execPath, args, {
    cwd,
    env: { ...env, ...own },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

async function end(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

async function freePort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  listener.close();
  return port;
}

/** Starts the server of a test, and returns its address once it answers. */
async function serve(cwd: string, args: readonly string[]): Promise<string> {
  const port = await freePort();
  const child = begin(cwd, args, { PORT: String(port) });
  server = child;
  const url = `http://127.0.0.1:${port}`;
  await eventually('a server that answers', async () => {
    if (child.exitCode !== null) throw new Error(`The server ended with ${child.exitCode}.`);
    return fetch(`${url}/api/chat/none/stream`).then(
      () => true,
      () => false,
    );
  });
  return url;
}

/** Writes the files that a page shows into a folder. */
async function writeFiles(folder: string, page: string): Promise<void> {
  for (const [name, text] of filesOf(page)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}

/** A chunk of the stream that `useChat` reads. */
interface Chunk {
  readonly type: string;
  readonly delta?: string;
  readonly output?: unknown;
}

/** Says something as `useChat` does, and expects the whole reply: a call, its result, text in parts. */
async function expectChat(url: string): Promise<void> {
  const id = `chat-${randomUUID()}`;
  const message = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Do you have assam?' }] };

  const response = await fetch(`${url}/api/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id, trigger: 'submit-message', messages: [message] }),
  });
  const text = await response.text();

  expect(response.status, text).toBe(200);
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  const chunks = text
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice('data: '.length)) as Chunk);
  const outputs = chunks.filter(({ type }) => type === 'tool-output-available');
  expect(outputs.map(({ output }) => output)).toEqual([{ tea: 'assam', packets: 12 }]);
  const deltas = chunks.filter(({ type }) => type === 'text-delta').map(({ delta }) => delta);
  expect(deltas.join('')).toBe(ANSWER);
  expect(deltas.length).toBeGreaterThan(1);
  expect(chunks.at(-1)?.type).toBe('finish');

  const again = await fetch(`${url}/api/chat/${id}/stream`);
  expect(again.status).toBe(204);
}

beforeAll(async () => {
  if (!RUNS_ALL) return;
  home = await mkdtemp(join(tmpdir(), 'everloop-frameworks-'));
  mock = await startAimock();
  mock.addFixtures([
    {
      match: { predicate: ({ messages }) => messages.at(-1)?.role === 'user' },
      response: { toolCalls: [{ name: 'stock', arguments: '{"tea":"assam"}' }] },
    },
    {
      match: { predicate: ({ messages }) => messages.at(-1)?.role === 'tool' },
      response: { content: ANSWER },
      // As fast as a quick model; a reply that is there at once comes in one piece.
      chunkSize: 6,
      latency: 80,
    },
  ]);
  const { address, namespace } = inject('temporal');
  env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: namespace,
    EVERLOOP_TASK_QUEUE: `frameworks-${randomUUID()}`,
    EVERLOOP_DATA_DIR: join(home, '.everloop'),
    OPENAI_API_KEY: 'sk-test-key-0123456789',
    OPENAI_BASE_URL: `${mock.url}/v1`,
    NEXT_TELEMETRY_DISABLED: '1',
  };
  await writeFile(join(home, 'package.json'), '{ "type": "module" }');
  await run('npm', ['install', '--no-audit', '--no-fund', await packedPackage(), ...PACKAGES], {
    cwd: home,
  });
  await writeFiles(home, 'frameworks');
  await bin(home, 'everloop', ['init', 'chat', '--next']);
  worker = begin(join(home, 'chat'), ['--import', 'tsx', 'worker.ts']);
}, 600_000);

/** Runs a program of a package. */
async function bin(cwd: string, name: string, args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await run(join(home, 'node_modules/.bin', name), args, { cwd, env });
  return stdout + stderr;
}

afterEach(() => end(server));

afterAll(async () => {
  if (!RUNS_ALL) return;
  await end(worker);
  await mock.stop();
  await rm(home, { recursive: true, force: true });
});

describe.runIf(RUNS_ALL)('a chat, with the packed package', () => {
  test.each(['server.ts', 'express.ts'])(
    'from its source: %s',
    async (file) => {
      await expectChat(await serve(home, ['--import', 'tsx', file]));
    },
    120_000,
  );

  test('in one file of esbuild, which runs without any package', async () => {
    const options = '--bundle --platform=node --outfile=out/server.cjs'.split(' ');
    await bin(home, 'esbuild', ['server.ts', ...options]);
    const alone = await mkdtemp(join(tmpdir(), 'everloop-alone-'));
    await copyFile(join(home, 'out/server.cjs'), join(alone, 'server.cjs'));

    await expectChat(await serve(alone, ['server.cjs']));

    await rm(alone, { recursive: true });
  }, 120_000);

  test.each([
    { name: 'beside its packages', config: '{}' },
    { name: 'with all packages in it', config: '{ ssr: { noExternal: true } }' },
  ])(
    'in a server bundle of Vite, $name',
    async ({ config }) => {
      await writeFile(join(home, 'vite.config.js'), `export default ${config};\n`);
      await bin(home, 'vite', ['build', '--ssr', 'server.ts', '--outDir', 'out/vite']);

      await expectChat(await serve(home, ['out/vite/server.js']));
    },
    120_000,
  );

  test('in the project of `everloop init --next`, built by Turbopack', async () => {
    const cwd = join(home, 'chat');
    const built = await bin(cwd, 'next', ['build']);

    expect(built).not.toMatch(/warn/i);
    const url = await serve(cwd, [join(home, 'node_modules/next/dist/bin/next'), 'start']);
    await expectChat(url);
    const page = await fetch(url);
    expect(page.url).toMatch(/\/[0-9a-f-]{36}$/);
    expect(await page.text()).toContain('<button disabled="">Send</button>');
  }, 300_000);

  test('in a project of create-next-app with the files of docs/nextjs.md, built by webpack', async () => {
    await run('npx', ['--yes', ...CREATE_NEXT_APP.split(' ')], { cwd: home, env });
    const cwd = join(home, 'tea');
    await writeFiles(cwd, 'nextjs');
    const built = await bin(cwd, 'next', ['build', '--webpack']);

    expect(built).not.toMatch(/warn/i);
    const url = await serve(cwd, [join(home, 'node_modules/next/dist/bin/next'), 'start']);
    await expectChat(url);
  }, 300_000);
});
