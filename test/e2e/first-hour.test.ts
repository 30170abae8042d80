import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { startAimock } from '../support/aimock.ts';
import { RUNS_ALL } from '../support/extent.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

/** The program of the README, and what it tells a user to install. */
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
const program = /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
const packages = /npm install everloop (.*)/.exec(readme)?.[1]?.split(' ') ?? [];

let folder = '';
let mock: LLMock;

beforeAll(async () => {
  if (!RUNS_ALL) return;
  folder = await mkdtemp(join(tmpdir(), 'everloop-first-hour-'));
  mock = await startAimock();
  await run('npm', ['run', 'build'], { cwd: ROOT });
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: ROOT });
  const [tarball = ''] = (await readdir(folder)).filter((name) => name.endsWith('.tgz'));
  await run('npm', ['install', join(folder, tarball), ...packages], { cwd: folder });
  await writeFile(join(folder, 'clerk.mts'), program);
}, 600_000);

afterAll(async () => {
  if (!RUNS_ALL) return;
  await mock.stop();
  await rm(folder, { recursive: true, force: true });
});

describe.runIf(RUNS_ALL)('the first hour, with the packed package in an empty folder', () => {
  test('the program of the README answers', async () => {
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
    const { address, namespace } = inject('temporal');

    const { stdout } = await run(process.execPath, ['--import', 'tsx', 'clerk.mts'], {
      cwd: folder,
      env: {
        PATH: process.env['PATH'],
        TEMPORAL_ADDRESS: address,
        TEMPORAL_NAMESPACE: namespace,
        OPENAI_API_KEY: 'sk-test-key-0123456789',
        OPENAI_BASE_URL: `${mock.url}/v1`,
      },
    });

    expect(stdout).toBe('Yes, 12 packets of tea.\n');
  }, 180_000);
});
