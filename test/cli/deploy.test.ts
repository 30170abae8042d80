import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { ConnectDeploymentOptions, Deployment } from '../../src/index.ts';
import type { RunWorkerOptions } from '../../src/worker.ts';
import { cli, type CliResult } from './cli-fixture.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

interface Deployed extends CliResult {
  readonly opened: readonly ConnectDeploymentOptions[];
  readonly closed: number;
}

/** Runs `everloop deploy …` on a deployment that knows what the test gives it. */
async function deploy(argv: readonly string[], known: Partial<Deployment>): Promise<Deployed> {
  const opened: ConnectDeploymentOptions[] = [];
  let closed = 0;
  const unexpected = (): never => {
    throw new Error('Expected another call.');
  };
  const result = await cli(['deploy', ...argv], {
    io: {
      connectDeployment: async (options) => {
        opened.push(options);
        return {
          name: 'everloop',
          address: '127.0.0.1:1',
          namespace: 'default',
          status: unexpected,
          promote: unexpected,
          drain: unexpected,
          rescue: unexpected,
          close: async () => {
            closed += 1;
          },
          ...known,
        };
      },
    },
  });
  return { ...result, opened, closed };
}

describe('deploy promote', () => {
  it('gives all new runs to a version, and says how to empty the one before', async () => {
    const result = await deploy(['promote', 'v2', '--deployment', 'shop'], {
      promote: async (build, options) => {
        expect([build, options]).toEqual(['v2', {}]);
        return { name: 'shop', build, previous: 'v1' };
      },
    });

    expect(result).toMatchObject({ exitCode: 0, closed: 1, stderr: '' });
    expect(result.opened).toMatchObject([{ name: 'shop', address: '127.0.0.1:1' }]);
    expect(result.stdout).toBe(
      'Version v2 of deployment shop gets all new runs. Runs of v1 stay there until they hand over: everloop deploy drain v1\n',
    );
  });

  it('gives it a part, by force', async () => {
    const known: Partial<Deployment> = {
      promote: async (build, options) => {
        expect(options).toEqual({ ramp: 10, force: true });
        return { name: 'everloop', build, ramp: 10, previous: null };
      },
    };
    const argv = ['promote', 'v2', '--ramp', '10', '--force'];

    expect((await deploy(argv, known)).stdout).toBe(
      'Version v2 of deployment everloop gets 10 % of new runs; workers without a version the others.\n',
    );
    expect(JSON.parse((await deploy([...argv, '--json'], known)).stdout)).toEqual({
      name: 'everloop',
      build: 'v2',
      ramp: 10,
      previous: null,
    });
  });

  it('refuses a part that is none', async () => {
    const { exitCode, stderr } = await deploy(['promote', 'v2', '--ramp', 'half'], {});

    expect(exitCode).toBe(2);
    expect(stderr).toContain('Expected `--ramp` to be a number from 0 to 100, got `half`.');
  });
});

describe('deploy status', () => {
  it('shows versions, and what is beside them', async () => {
    const { stdout, exitCode } = await deploy(['status'], {
      status: async () => ({
        name: 'everloop',
        current: 'v1',
        versions: [
          {
            build: 'v2',
            state: 'ramping',
            percent: 10,
            createdAt: Date.now() - 3_600_000,
            workers: 2,
            queues: ['everloop', 'tools'],
            openRuns: 3,
          },
          {
            build: 'v1',
            state: 'current',
            createdAt: Date.now() - 90_000_000,
            workers: 4,
            queues: ['everloop'],
            openRuns: 120,
          },
        ],
        unversioned: { workers: ['7@host'], openRuns: 2 },
      }),
    });

    expect(exitCode).toBe(0);
    expect(stdout).toBe(
      [
        'BUILD  STATE         WORKERS  OPEN RUNS  AGE      QUEUES',
        'v2     ramping 10 %  2        3          1 h 0 min  everloop, tools',
        'v1     current       4        120        1 d 1 h    everloop',
        'Without a version: 1 worker, 2 open runs.',
        '',
      ]
        .join('\n')
        .replace('AGE      QUEUES', 'AGE        QUEUES'),
    );
  });

  it('says when there is none', async () => {
    const { stdout } = await deploy(['status'], {
      status: async () => ({
        name: 'everloop',
        current: null,
        versions: [],
        unversioned: { workers: [], openRuns: 0 },
      }),
    });

    expect(stdout).toBe(
      'No versions of deployment everloop. Start a worker with EVERLOOP_BUILD_ID.\n',
    );
  });
});

describe('deploy drain', () => {
  const left = {
    name: 'everloop',
    build: 'v1',
    left: 3,
    nudges: 12,
    staying: [
      { reason: 'children', runs: 2, ids: ['a', 'b'] },
      { reason: 'worker', runs: 1, ids: ['c'] },
    ],
  } as const;

  it('reports each round, and ends with 0 when none is left', async () => {
    const result = await deploy(['drain', 'v1', '--wait', '30m'], {
      drain: async (build, { waitMs, onRound } = {}) => {
        expect([build, waitMs]).toEqual(['v1', 1_800_000]);
        onRound?.(left);
        return { ...left, left: 0, nudges: 13, staying: [] };
      },
    });

    expect(result.exitCode).toBe(0);
    expect(result.stdout).toBe(
      'Version v1 of deployment everloop has no open run; 13 nudges sent.\n',
    );
    expect(result.stderr).toBe(
      [
        '3 open runs left on version v1.',
        '  2 runs with children that are alive: a, b',
        '  1 run without a worker that takes the task (start one of this version, or rescue): c',
        '',
      ].join('\n'),
    );
  });

  it('ends with 1 when some are left', async () => {
    const result = await deploy(['--json', 'drain', 'v1'], { drain: async () => left });

    expect(result.exitCode).toBe(1);
    expect(JSON.parse(result.stdout)).toEqual(left);
  });

  it('refuses a time that is none', async () => {
    const { exitCode, stderr } = await deploy(['drain', 'v1', '--wait', 'soon'], {});

    expect(exitCode).toBe(2);
    expect(stderr).toContain(
      'Expected `--wait` to be a time such as 90s, 30m, 2h or 1d, got `soon`.',
    );
  });
});

describe('deploy rescue', () => {
  it.each([
    {
      to: 'v2',
      exitCode: 0,
      text: 'Run r-1 moved from version v1 to version v2.\n',
    },
    {
      to: null,
      exitCode: 1,
      text: 'Run r-1 stays on version v1: no worker of the current version took it within 30 s. Start one, then run this command again.\n',
    },
  ])('says where the run is: $to', async ({ to, exitCode, text }) => {
    const result = await deploy(['rescue', 'r-1'], {
      rescue: async (id) => ({ id, from: 'v1', to }),
    });

    expect(result).toMatchObject({ exitCode, stdout: text });
  });
});

describe('the commands that serve', () => {
  it.each([
    { command: 'dev', deployment: null },
    { command: 'worker', deployment: undefined },
  ])('$command asks for the version $deployment', async ({ command, deployment }) => {
    const served: RunWorkerOptions[] = [];
    const { exitCode } = await cli([command, '--agents', 'examples/docs/modes.ts'], {
      cwd: ROOT,
      env: { EVERLOOP_BUILD_ID: 'v1' },
      io: { runWorker: async (options) => void served.push(options) },
    });

    expect(exitCode).toBe(0);
    expect(served.map((options) => options.deployment)).toEqual([deployment]);
  });
});
