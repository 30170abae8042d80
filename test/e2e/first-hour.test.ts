/** What a user does first: installs the package in an empty folder, and runs the README's program. */
import { execFile, type ExecFileOptions } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { startAimock } from '../support/aimock.ts';
import { RUNS_ALL } from '../support/extent.ts';

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

/** Everything that the package exports, and types that say more than `any`. */
const TYPED = `
import * as everloop from 'everloop';
import * as workflow from 'everloop/workflow';
import * as worker from 'everloop/worker';
import * as core from 'everloop/core';
import * as lisp from 'everloop/lisp';
import * as ui from 'everloop/ui';
import * as testing from 'everloop/testing';
export const entries = [everloop, workflow, worker, core, lisp, ui, testing];

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

/** Errors that the SDK of Temporal has by itself are not ours to mend. */
const OF_TEMPORAL = /^node_modules\/@temporalio\//;

let home = '';
/** A folder in which Everloop is installed, and later all that the README installs. */
let folder = '';

async function install(...names: readonly string[]): Promise<void> {
  await run('npm', ['install', '--no-audit', '--no-fund', ...names], { cwd: folder });
}

beforeAll(async () => {
  if (!RUNS_ALL) return;
  home = await mkdtemp(join(tmpdir(), 'everloop-first-hour-'));
  folder = join(home, 'first');
  await mkdir(folder);
  await run('npm', ['run', 'build'], { cwd: ROOT });
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', home], { cwd: ROOT });
  const [tarball = ''] = (await readdir(home)).filter((name) => name.endsWith('.tgz'));
  await install(join(home, tarball));
}, 600_000);

afterAll(async () => {
  if (!RUNS_ALL) return;
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
    cwd: folder,
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

describe.runIf(RUNS_ALL)('the packed package alone, in an empty folder', () => {
  test.runIf(process.platform === 'linux' && process.arch === 'x64')(
    'Everloop and all that it brings take at most 200 MB on Linux x64',
    async () => {
      const { stdout } = await run('du', ['-sm', 'node_modules'], { cwd: folder });

      expect(Number.parseInt(stdout, 10)).toBeLessThanOrEqual(200);
    },
  );

  test.each(['nodenext', 'bundler'])(
    'the published types need no other package: %s',
    async (resolution) => {
      await writeFile(join(folder, 'typed.mts'), TYPED);
      const module = resolution === 'bundler' ? 'esnext' : 'nodenext';
      const compiled = run(
        process.execPath,
        [TSC, ...CHECKED, '--module', module, '--moduleResolution', resolution, 'typed.mts'],
        { cwd: folder },
      );

      const { stdout } = await compiled.catch((error: unknown) => error as { stdout: string });

      const errors = stdout.split('\n').filter((line) => line.includes('error TS'));
      expect(errors.filter((line) => !OF_TEMPORAL.test(line))).toEqual([]);
    },
    120_000,
  );
});

describe.runIf(RUNS_ALL)('the first hour, with what the README installs', () => {
  let mock: LLMock;
  beforeAll(async () => {
    mock = await startAimock();
    await install(...packages);
    await writeFile(join(folder, 'clerk.mts'), program);
    await writeFile(join(folder, 'by-name.mts'), byName);
  }, 600_000);
  afterAll(() => mock?.stop());

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

  // With the provider itself: test/examples/examples.server.test.ts.
  test('without a key a model by its name ends within a minute, and names the variable in a short message', async () => {
    const ended = (await start('by-name.mts', {}).catch((error: unknown) => error)) as Ended;

    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toMatch(
      /got error, model_auth: Expected a key for model `openai\S+gpt-5-mini` in OPENAI_API_KEY, got none\. Set it/,
    );
    // The line that threw, the message, a few lines of the stack and Node's version; no Step.
    expect(ended.stderr.trim().split('\n').length).toBeLessThanOrEqual(20);
  }, 180_000);

  test('a project of `everloop init` passes its own tests, and its types are sound', async () => {
    // Within the folder, so that it finds the packages there.
    await run(process.execPath, [join('node_modules', '.bin', 'everloop'), 'init', 'shop'], {
      cwd: folder,
    });
    const project = join(folder, 'shop');
    const env = { ...process.env, OPENAI_API_KEY: '' };

    const tests = await run('npm', ['test'], { cwd: project, env });
    const types = await run(process.execPath, [TSC, '-p', 'tsconfig.json'], { cwd: project });

    expect(tests.stdout).toMatch(/ pass 2\n/);
    expect(types.stdout).toBe('');
  }, 120_000);
});
