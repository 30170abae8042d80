/** What a user does first: installs the package in an empty folder, and runs the README's program. */
import { execFile, type ExecFileOptions } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { startAimock } from '../support/aimock.ts';
import { RUNS_ALL } from '../support/extent.ts';
import { packedPackage } from '../support/packed-package.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TSC = fileURLToPath(new URL('bin/tsc', import.meta.resolve('typescript/package.json')));
const run = promisify(execFile);

/** The program of the README, and what it tells a user to install. */
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
const program = /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
const packages = /npm install everloop (.*)/.exec(readme)?.[1]?.split(' ') ?? [];

/** Its model as an id, whose package is loaded when it is needed. */
const byName = program
  .replace("import { openai } from '@ai-sdk/openai';\n", '')
  .replace("openai('gpt-5-mini')", "'openai/gpt-5-mini'");

const NO_KEY =
  /got error, model_auth: Expected a key for model `openai\S+gpt-5-mini` in OPENAI_API_KEY, got none\. Set it/;

/** Everything that the package exports, and types that say more than `any`. */
const TYPED = `
import * as everloop from 'everloop';
import * as clients from 'everloop/client';
import * as workflow from 'everloop/workflow';
import * as worker from 'everloop/worker';
import * as core from 'everloop/core';
import * as lisp from 'everloop/lisp';
import * as ui from 'everloop/ui';
import * as testing from 'everloop/testing';
export const entries = [everloop, clients, workflow, worker, core, lisp, ui, testing];

const stock = everloop.defineTool({ name: 'stock', description: 'Our stock', execute: () => 12 });
const agent = everloop.defineAgent({ name: 'clerk', model: 'openai/gpt-5-mini', tools: [stock] });
const client = await worker.local({ agents: [agent] });
const run = await client.start('clerk', { task: 'Do we have tea?' });
const { status } = await run.result();
status satisfies string;
// @ts-expect-error A status is one of some words.
status satisfies 7;
// @ts-expect-error A model is none of these.
everloop.defineAgent({ name: 'clerk', model: { provider: 'openai' } });
`;

/** The strictest check: also of the declarations that the program reaches. */
const CHECKED = '--noEmit --strict --skipLibCheck false --target es2022 --types node'.split(' ');

const OF_COMMONJS = '--strict --target es2022 --types node --skipLibCheck'.split(' ');

/** Errors that the SDK of Temporal has by itself are not ours to mend. */
const OF_TEMPORAL = /^node_modules\/@temporalio\//;

/** What people get wrong in the first hour, and what they read then. */
const MISTAKES: readonly {
  readonly name: string;
  readonly file: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly says: RegExp;
}[] = [
  { name: 'no key', file: 'clerk.mts', says: NO_KEY },
  { name: 'no key of a model by name', file: 'by-name.mts', says: NO_KEY },
  {
    name: 'no server',
    file: 'connect.mts',
    env: { TEMPORAL_ADDRESS: '127.0.0.1:1' },
    says: /Expected a Temporal server at 127\.0\.0\.1:1, got: /,
  },
  {
    name: 'an agent that nobody serves',
    file: 'wrong-name.mts',
    env: { OPENAI_API_KEY: 'sk-test-key-0123456789' },
    says: /Expected .*clark/,
  },
  {
    name: 'a package of a provider that is not there',
    file: 'no-provider.mts',
    says: /Expected the package `@ai-sdk\/anthropic` for model `anthropic\/claude-sonnet-4-5` in .*, got none\. Run `npm i @ai-sdk\/anthropic`/,
  },
  {
    name: 'a server without the client of the protocol',
    file: 'no-mcp.mts',
    env: { OPENAI_API_KEY: 'sk-test-key-0123456789' },
    says: /Expected package `@modelcontextprotocol\/client` for tools of MCP servers, got none\. Run npm install @modelcontextprotocol\/client@2\.4\.0/,
  },
  {
    name: 'a module that is not there',
    file: 'no-module.mts',
    says: /Cannot find package '@ai-sdk\/anthropic' imported from/,
  },
];

let home = '';
/** A folder with Everloop alone, and one with all that the README installs. */
const folderOf = (name: 'bare' | 'first' | 'pruned'): string => join(home, name);
let mock: LLMock;

async function install(name: 'bare' | 'first', ...names: readonly string[]): Promise<void> {
  const folder = folderOf(name);
  await mkdir(folder);
  await run('npm', ['install', '--no-audit', '--no-fund', ...names], { cwd: folder });
}

beforeAll(async () => {
  if (!RUNS_ALL) return;
  home = await mkdtemp(join(tmpdir(), 'everloop-first-hour-'));
  mock = await startAimock();
  const tarball = await packedPackage();
  await install('bare', tarball);
  await install('first', tarball, ...packages);
  await writeFile(join(folderOf('first'), 'clerk.mts'), program);
  await writeFile(join(folderOf('first'), 'by-name.mts'), byName);
  await writeFile(join(folderOf('bare'), 'typed.mts'), TYPED);
  const wrong = {
    'connect.mts': "import { connect } from 'everloop/client';\nawait connect();\n",
    'wrong-name.mts': program.replace("start('clerk'", "start('clark'"),
    'no-provider.mts': byName.replace('openai/gpt-5-mini', 'anthropic/claude-sonnet-4-5'),
    'no-mcp.mts': program
      .replace('defineTool, unwrap', 'defineTool, mcpServer, unwrap')
      .replace('[stock]', "[mcpServer({ name: 'files', command: 'files' })]"),
    'no-module.mts': program.replace('@ai-sdk/openai', '@ai-sdk/anthropic'),
  };
  for (const [name, text] of Object.entries(wrong)) {
    await writeFile(join(folderOf('first'), name), text);
  }
}, 600_000);

afterAll(async () => {
  if (!RUNS_ALL) return;
  await mock.stop();
  await rm(home, { recursive: true, force: true });
});

/** How a program ended that failed. */
interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program of the folder on the server of the tests, on a queue of its own. */
function start(file: string, env: ExecFileOptions['env']): ReturnType<typeof run> {
  const { address, namespace } = inject('temporal');
  return run(process.execPath, ['--import', 'tsx', file], {
    cwd: folderOf('first'),
    timeout: 60_000,
    env: {
      PATH: process.env['PATH'],
      TEMPORAL_ADDRESS: address,
      TEMPORAL_NAMESPACE: namespace,
      EVERLOOP_TASK_QUEUE: `first-hour-${randomUUID()}`,
      ...env,
    },
  });
}

/** The line that threw, the message, a few lines of the stack and Node's version: no code, no Step. */
function expectShort({ code, stdout, stderr }: Ended): void {
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  const lines = stderr.trim().split('\n');
  expect(lines.length, stderr).toBeLessThanOrEqual(25);
  expect(Math.max(...lines.map(({ length }) => length)), stderr).toBeLessThanOrEqual(500);
}

describe.runIf(RUNS_ALL)('the first hour, with the packed package in an empty folder', () => {
  test.each(['clerk.mts', 'by-name.mts'])(
    'the program of the README answers: %s',
    async (file) => {
      const results = (count: number) => (messages: readonly { readonly role: string }[]) =>
        messages.filter(({ role }) => role === 'tool').length === count;
      mock.addFixtures([
        {
          match: { predicate: ({ messages }) => results(0)(messages) },
          response: { toolCalls: [{ name: 'stock', arguments: '{}' }] },
        },
        {
          match: { predicate: ({ messages }) => results(1)(messages) },
          response: { content: 'Yes, 12 packets of tea.' },
        },
      ]);

      const { stdout } = await start(file, {
        OPENAI_API_KEY: 'sk-test-key-0123456789',
        OPENAI_BASE_URL: `${mock.url}/v1`,
      });

      expect(stdout).toBe('Yes, 12 packets of tea.\n');
    },
    180_000,
  );

  test.each(MISTAKES)(
    'tells of $name in a short message',
    async ({ file, env, says }) => {
      const ended = (await start(file, env ?? {}).catch((error: unknown) => error)) as Ended;

      expectShort(ended);
      expect(ended.stderr).toMatch(says);
    },
    180_000,
  );

  test('tells of an old Node in a short message', async () => {
    const old = join(home, 'old-node');
    await mkdir(old);
    await run('npm', ['install', '--no-audit', '--no-fund', 'node@18'], { cwd: old });
    const node = join(old, 'node_modules/node/bin/node');
    for (const entry of ['everloop', 'everloop/client', 'everloop/worker']) {
      const args = ['--input-type=module', '--eval', `await import('${entry}');`];
      const failed = run(node, args, { cwd: folderOf('bare') });

      const ended = (await failed.catch((error: unknown) => error)) as Ended;

      expectShort(ended);
      expect(ended.stderr).toMatch(
        /Expected Node 20\.19 or newer, got Node 18\.\d+\.\d+\. Run this/,
      );
    }
  }, 180_000);

  test.runIf(process.platform === 'linux' && process.arch === 'x64')(
    "beside Temporal's core, an install takes at most 150 MB, and `prune` leaves one build of it",
    async () => {
      const cwd = folderOf('pruned');
      const core = 'node_modules/@temporalio/core-bridge';
      const sizeOf = async (folder: string): Promise<number> =>
        Number.parseInt((await run('du', ['-sm', folder])).stdout, 10);
      // The copy has more: what is one file under two names is two files there.
      const all = await sizeOf(join(folderOf('bare'), 'node_modules'));
      const others = all - (await sizeOf(join(folderOf('bare'), core)));
      await cp(folderOf('bare'), cwd, { recursive: true });

      const program = join(cwd, 'node_modules/everloop/dist/cli/main.js');
      const { stdout } = await run(process.execPath, [program, 'prune'], { cwd });

      expect(others).toBeLessThanOrEqual(150);
      expect(stdout).toMatch(/^Deleted (?:[\w-]+, ){4}\d+ MB\. Kept x86_64-unknown-linux-gnu\.\n$/);
      expect(await sizeOf(join(cwd, core))).toBeLessThanOrEqual(45);
    },
  );

  test('a project of `everloop init` passes its own tests, and its types are sound', async () => {
    const cwd = folderOf('first');
    // Within the folder, so that it finds the packages there.
    await run(process.execPath, [join('node_modules', '.bin', 'everloop'), 'init', 'shop'], {
      cwd,
    });
    const project = join(cwd, 'shop');
    const env = { ...process.env, OPENAI_API_KEY: '' };

    const tests = await run('npm', ['test'], { cwd: project, env });
    const types = await run(process.execPath, [TSC, '-p', 'tsconfig.json'], { cwd: project });

    expect(tests.stdout).toMatch(/ pass 2\n/);
    expect(types.stdout).toBe('');
  }, 120_000);

  test('CommonJS requires the entries, and has their types with nodenext', async () => {
    const cwd = folderOf('bare');
    const source = "import { connect } from 'everloop/client';\nexport const entry = connect;\n";
    await writeFile(join(cwd, 'typed.cts'), source);
    const compile = (module: string) =>
      run(process.execPath, [TSC, ...OF_COMMONJS, '--module', module, 'typed.cts'], { cwd });

    await compile('nodenext');
    const print = "console.log(typeof require('./typed.cjs').entry)";
    const { stdout } = await run(process.execPath, ['--eval', print], { cwd });
    const refused = await compile('node16').catch((error: unknown) => error as Ended);

    expect(stdout).toBe('function\n');
    // As docs/frameworks.md says.
    expect(refused.stdout).toContain('TS1479');
  }, 120_000);

  test.each(['nodenext', 'bundler'])(
    'the published types need no other package: %s',
    async (resolution) => {
      const module = resolution === 'bundler' ? 'esnext' : 'nodenext';
      const compiled = run(
        process.execPath,
        [TSC, ...CHECKED, '--module', module, '--moduleResolution', resolution, 'typed.mts'],
        { cwd: folderOf('bare') },
      );

      const { stdout } = await compiled.catch((error: unknown) => error as { stdout: string });

      const errors = stdout.split('\n').filter((line) => line.includes('error TS'));
      expect(errors.filter((line) => !OF_TEMPORAL.test(line))).toEqual([]);
    },
    120_000,
  );
});
