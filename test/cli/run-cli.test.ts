import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { VERSION } from '../../src/core/base/version.ts';
import { UsageError } from '../../src/core/base/usage-error.ts';
import { cli, fakeRun } from './cli-fixture.ts';

describe('the command line', () => {
  it('explains itself', async () => {
    const { exitCode, stdout } = await cli(['--help']);

    expect(exitCode).toBe(0);
    for (const name of [
      'dev',
      'worker',
      'run',
      'ps',
      'show',
      'stats',
      'logs',
      'attempts',
      'inbox',
      'answer',
      'approve',
      'deny',
      'send',
      'cancel',
      'pause',
      'resume',
      'adjust',
      'lisp',
      'demo',
    ]) {
      expect(stdout).toMatch(new RegExp(`\n {2}${name} `));
    }
    expect(stdout).toContain('Exit codes: 0 success');
  });

  it.each([
    { argv: [], message: /^Usage: everloop/ },
    { argv: ['runn'], message: /^error: unknown command 'runn'/ },
    {
      argv: ['--json', 'list'],
      message: /^error: unknown command 'list'\nDid you mean `everloop ps`\?/,
    },
    { argv: ['run'], message: /^error: missing required argument 'agent'/ },
    { argv: ['ps', '--frob'], message: /^error: unknown option '--frob'/ },
    {
      argv: ['send', 'r1', 'x', '--kind', 'shout'],
      message: /Allowed choices are queue, steer, interrupt/,
    },
  ])('ends with 2 for $argv', async ({ argv, message }) => {
    const { exitCode, stdout, stderr } = await cli(argv);

    expect(exitCode).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toMatch(message);
  });

  it('prints its version', async () => {
    expect(await cli(['--version'])).toMatchObject({ exitCode: 0, stdout: `${VERSION}\n` });
  });

  it('takes the global options before and after the command', async () => {
    const everloop = { list: async () => [] };

    expect((await cli(['--json', 'ps'], { everloop })).stdout).toBe('[]\n');
    expect((await cli(['ps', '--json'], { everloop })).stdout).toBe('[]\n');
  });

  it('prints usage errors as their lines and keeps stacks for --debug', async () => {
    const attach = () =>
      fakeRun('r1', { step: () => Promise.reject(new UsageError('run_not_found', 'one\ntwo')) });

    const plain = await cli(['show', 'r1'], { everloop: { attach } });
    const debug = await cli(['show', 'r1', '--debug'], { everloop: { attach } });

    expect(plain).toMatchObject({ exitCode: 2, stdout: '', stderr: 'one\ntwo\n' });
    expect(debug.stderr).toMatch(/^UsageError: one\ntwo\n +at /);
  });

  it('says that something is unexpected, without a stack', async () => {
    const attach = () => fakeRun('r1', { step: () => Promise.reject(new Error('socket hang up')) });

    expect(await cli(['show', 'r1'], { everloop: { attach } })).toMatchObject({
      exitCode: 4,
      stderr: 'Unexpected: socket hang up\nRun the command again with --debug to see where.\n',
    });
  });

  it('ends with 3 when no worker answers', async () => {
    const attach = () =>
      fakeRun('r1', { step: () => Promise.reject(new UsageError('no_worker', 'nobody')) });

    expect(await cli(['show', 'r1'], { everloop: { attach } })).toMatchObject({ exitCode: 3 });
  });

  it('refuses an environment that does not fit, all problems at once', async () => {
    const env = { TEMPORAL_ADDRESS: 'nowhere', EVERLOOP_CACHE_BYTES: 'many' };

    expect(await cli(['ps'], { env })).toEqual({
      exitCode: 2,
      stdout: '',
      stderr:
        'Expected `TEMPORAL_ADDRESS` to be host and port like `localhost:7233`, got `nowhere`. Correct it, or unset it to use a server of this machine.\n' +
        'Expected `EVERLOOP_CACHE_BYTES` to be a whole number of bytes from 0 up, got `many`. Correct or unset it.\n',
      connects: [],
    });
  });

  it('connects to the server that the environment names', async () => {
    const { connects } = await cli(['ps'], {
      env: {
        TEMPORAL_ADDRESS: 'temporal:7233',
        TEMPORAL_NAMESPACE: 'team',
        EVERLOOP_TASK_QUEUE: 'q',
      },
      everloop: { list: async () => [] },
    });

    expect(connects).toMatchObject([
      { address: 'temporal:7233', namespace: 'team', taskQueue: 'q' },
    ]);
  });

  it('serves the agent file only where an agent of it is asked for', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'everloop-cli-'));
    try {
      const argv = ['worker', '--agents', 'missing.ts'];
      expect(await cli(argv, { cwd: folder })).toMatchObject({
        exitCode: 2,
        stderr:
          'Expected an agent file at `missing.ts`, got none. Create it, or name one with `--agents FILE`.\n',
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
