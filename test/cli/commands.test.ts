import type { CallAttempt } from '../../src/client/reading/attempts.ts';
import type { EventOptions, RunHandle } from '../../src/client/run-handle.ts';
import type { ListOptions, RunSummary } from '../../src/client/run-list.ts';
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Everloop, StartOptions } from '../../src/client/everloop-client.ts';
import type { AgentEvent } from '../../src/core/contract/events.ts';
import type { RunStatus } from '../../src/core/contract/messages.ts';
import type { Step } from '../../src/core/contract/step.ts';
import { UsageError } from '../../src/core/base/usage-error.ts';
import { chunk, marker } from '../support/chunks.ts';
import { gate } from '../support/runs.ts';
import { cli, fakeRun, starting, STEP } from './cli-fixture.ts';
import { withoutWaits } from '../support/no-waits.ts';

const STATUS: RunStatus = {
  version: 5,
  state: 'running',
  runId: 'execution-1',
  agent: 'clerk',
  iteration: 2,
  waitsFor: ['model mine'],
  usage: STEP.usage,
  unreadInputs: 1,
  link: 1,
  events: 3,
  entries: 1,
};

const EVENTS: readonly AgentEvent[] = (
  [
    { type: 'agent:execution:before', mode: 'react', limits: [] },
    { type: 'agent:iteration:before' },
    { type: 'agent:execution:after', status: 'success', reason: 'answered' },
  ] as const
).map((body, index) => ({
  ...body,
  seq: index + 1,
  runId: 'execution-1',
  agent: 'clerk',
  agentPath: 'clerk',
  at: Date.UTC(2026, 2, 10, 9),
  iteration: index === 0 ? 0 : 1,
  depth: 0,
}));

describe('[R2] retry', () => {
  it('has a call tried again', async () => {
    const asked: string[] = [];
    const run = fakeRun('r1', {
      retry: async (callId) => {
        asked.push(callId);
        return { callId };
      },
    });
    const { exitCode, stdout } = await cli(['retry', 'r1', '2.1'], {
      everloop: { attach: () => run },
    });

    expect({ exitCode, stdout, asked }).toEqual({
      exitCode: 0,
      stdout: 'Call 2.1 of run r1 is tried again.\n',
      asked: ['2.1'],
    });
  });
});

describe('trace', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('says the id, and the address where EVERLOOP_TRACE_URL has one', async () => {
    const setup = { everloop: { attach: (id: string) => fakeRun(id) } };
    vi.stubEnv('EVERLOOP_TRACE_URL', '');
    const { stdout: id } = await cli(['trace', 'r1'], setup);
    expect(id).toBe('trace  4bf92f3577b34da6a3ce929d0e0e4736\n');
    vi.stubEnv('EVERLOOP_TRACE_URL', 'https://jaeger.example.com/trace/{traceId}');
    const { stdout } = await cli(['trace', 'r1', '--json'], setup);
    expect(JSON.parse(stdout)).toEqual({
      id: 'r1',
      traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
      url: 'https://jaeger.example.com/trace/4bf92f3577b34da6a3ce929d0e0e4736',
    });
  });
});

describe('run', () => {
  it('starts an agent and writes its answer', async () => {
    const starts: (readonly [string, StartOptions])[] = [];

    const { exitCode, stdout, stderr } = await cli(
      [
        'run',
        'clerk',
        'Compare.',
        '--limit',
        'totalTokens=9',
        '--context',
        '{"a":1}',
        '--id',
        'r1',
        '--settings',
        '{"temperature": 0}',
        '--model',
        'mine',
        '--on-event',
        'http://localhost:8080',
      ],
      {
        everloop: {
          start: starting(async (agent, options) => {
            starts.push([agent, options]);
            return fakeRun('r1', { result: async () => STEP, status: async () => STATUS });
          }),
        },
      },
    );

    expect(starts).toEqual([
      [
        'clerk',
        {
          task: 'Compare.',
          ifExists: 'fail',
          context: { a: 1 },
          limits: { totalTokens: 9 },
          model: 'mine',
          settings: { temperature: 0 },
          onEvent: [{ url: 'http://localhost:8080' }],
          id: 'r1',
        },
      ],
    ]);
    expect(exitCode).toBe(0);
    expect(stdout).toBe('Vienna.\n');
    expect(stderr).toMatch(/^run r1\n/);
    expect(stderr).toMatch(/success · 2 iterations · 220 tokens · \$0\.0015 · 3\.2 s\n$/);
  });

  it('takes files and pictures, by what they hold', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'files-'));
    const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAE=', 'base64');
    await writeFile(join(folder, 'photo'), png);
    await writeFile(join(folder, 'list.csv'), 'a,b\n');
    await writeFile(join(folder, 'Makefile'), 'all:\n');
    await writeFile(join(folder, 'odd'), Buffer.from([0, 1, 2]));
    const starts: StartOptions[] = [];
    const run = (...args: readonly string[]) =>
      cli(['run', 'clerk', ...args], {
        everloop: {
          start: starting(async (_agent, options) => {
            starts.push(options);
            return fakeRun('r1', { result: async () => STEP, status: async () => STATUS });
          }),
        },
      });
    const at = (name: string) => join(folder, name);

    await run('Look.', '--file', at('list.csv'), '--file', at('Makefile'), '--image', at('photo'));
    await run('--image', at('photo'));

    const picture = { type: 'media', mediaType: 'image/png', data: png.toString('base64') };
    expect(starts.map(({ task }) => task)).toEqual([
      {
        text: 'Look.',
        media: [
          picture,
          { type: 'media', mediaType: 'text/csv', data: 'YSxiCg==' },
          { type: 'media', mediaType: 'text/plain', data: 'YWxsOgo=' },
        ],
      },
      { text: '', media: [picture] },
    ]);
    const refused = [
      [['--image', at('list.csv')], 'to be a picture, got'],
      [['--file', at('odd')], 'whose type neither its bytes nor its name tell'],
      [['--file', folder], 'which is no file'],
      [['--file', at('none')], 'which cannot be read'],
    ] as const;
    for (const [args, words] of refused) {
      const { exitCode, stderr } = await run('Look.', ...args);
      expect([exitCode, stderr.includes(words)], stderr).toEqual([2, true]);
    }
    await truncate(at('photo'), 12_000_001);
    expect((await run('--image', at('photo'))).stderr).toContain('at most 12000000 bytes together');
    await rm(folder, { recursive: true });
  });

  it('writes the Step, and nothing else on stdout, with --json', async () => {
    const { stdout } = await cli(['run', 'clerk', 'Compare.', '--json'], {
      everloop: {
        start: starting(async () =>
          fakeRun('r1', { result: async () => STEP, status: async () => STATUS }),
        ),
      },
    });

    expect(JSON.parse(stdout)).toEqual(STEP);
  });

  it('shows progress while it waits', async () => {
    const { stderr } = await cli(['run', 'clerk', 'Compare.'], {
      everloop: {
        start: starting(async () => {
          let tell: (step: Step) => void = () => undefined;
          const result = new Promise<Step>((resolve) => (tell = resolve));
          return fakeRun('r1', {
            result: () => result,
            status: async () => {
              setTimeout(() => tell(STEP), 5);
              return STATUS;
            },
          });
        }),
      },
    });

    expect(stderr).toBe(
      'run r1\niteration 2 · 220 tokens · $0.0015 · model mine\n' +
        'success · 2 iterations · 220 tokens · $0.0015 · 3.2 s\n',
    );
  });

  it('shows a question when it comes, once, with the command that answers it', async () => {
    const { stderr } = await cli(['run', 'clerk', 'Compare.'], {
      everloop: {
        start: starting(async () => {
          let tell: (step: Step) => void = () => undefined;
          const result = new Promise<Step>((resolve) => (tell = resolve));
          let looks = 0;
          return fakeRun('r1', {
            result: () => result,
            status: async () => {
              looks += 1;
              if (looks === 2) setTimeout(() => tell(STEP), 5);
              return { ...STATUS, iteration: looks, state: 'waiting', waitsFor: ['question q1'] };
            },
            pending: async () => [
              {
                id: 'q1',
                kind: 'question',
                agent: 'clerk',
                path: 'clerk',
                since: 0,
                question: 'Which John?',
                options: ['Smith', 'Doe'],
                free: false,
              },
            ],
          });
        }),
      },
    });

    expect(stderr).toContain(
      "run r1\n? Which John? (1 Smith, 2 Doe)\n  everloop answer r1 q1 '…'\niteration 1 · ",
    );
    expect(stderr.split('Which John?')).toHaveLength(2);
  });

  it.each([
    { status: 'error', reason: 'model_auth', message: 'iteration 1: refused' },
    { status: 'limit_exceeded', reason: 'agent:total_tokens', message: 'too many' },
    { status: 'canceled', reason: 'canceled', message: 'enough' },
  ] as const)('ends with 1 when the run ends as $status', async ({ status, reason, message }) => {
    const step: Step = { ...STEP, status, reason, message, value: null };

    const { exitCode, stdout, stderr } = await cli(['run', 'clerk', 'Compare.'], {
      everloop: {
        start: starting(async () =>
          fakeRun('r1', { result: async () => step, status: async () => STATUS }),
        ),
      },
    });

    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toContain(`${status} (${reason}) · 2 iterations`);
    expect(stderr).toMatch(new RegExp(`${message}\n$`));
  });

  it('prints the id and does not wait with --detach', async () => {
    const everloop = { start: starting(async () => fakeRun('r1')) };

    expect(await cli(['run', 'clerk', 'x', '--detach'], { everloop })).toMatchObject({
      exitCode: 0,
      stdout: 'r1\n',
      stderr: '',
    });
    const { stdout } = await cli(['run', 'clerk', 'x', '--detach', '--json'], { everloop });
    expect(JSON.parse(stdout)).toEqual({ id: 'r1', agent: 'clerk' });
  });

  it.each([
    {
      name: 'an empty task',
      argv: ['run', 'clerk', '  '],
      message: 'Expected a task with text, got an empty one. Say what to do.',
    },
    {
      name: '--attach without --id',
      argv: ['run', 'clerk', 'x', '--attach'],
      message: 'Expected `--attach` with the `--id` to attach to, got no id. Name the run.',
    },
  ])('refuses $name', async ({ argv, message }) => {
    expect(await cli(argv)).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: `${message}\n`,
      connects: [],
    });
  });

  it('leaves what the client says of a run that cannot be attached to', async () => {
    const { exitCode, stderr } = await cli(['run', 'clerk', 'x', '--id', 'r1', '--attach'], {
      everloop: {
        start: () => Promise.reject(new UsageError('id_in_use', 'got one of `writer`')),
      },
    });

    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: 'got one of `writer`\n' });
  });

  it('tells of an id in use', async () => {
    const { exitCode, stderr } = await cli(['run', 'clerk', 'x', '--id', 'r1'], {
      everloop: {
        start: () => Promise.reject(new UsageError('id_in_use', 'of the client')),
      },
    });

    expect(exitCode).toBe(2);
    expect(stderr).toBe(
      'Expected a free run id, got `r1`, which another run has. Choose another id, or follow that run with `--attach`.\n',
    );
  });
});

describe('commands that look', () => {
  it('lists runs', async () => {
    const startedAt = new Date();
    const run = {
      id: 'r1',
      agent: 'clerk',
      task: 'Compare.',
      status: 'RUNNING',
      state: 'waiting' as const,
      parent: null,
      root: 'r1',
      startedAt,
      closedAt: null,
    };
    const list = async () => [run];

    const text = await cli(['ps'], { everloop: { list } });
    const json = await cli(['ps', '--json'], { everloop: { list } });
    const none = await cli(['ps', '--running', '--limit', '5'], {
      everloop: {
        list: async (options) => (expect(options).toEqual({ running: true, limit: 5 }), []),
      },
    });

    expect(text.stdout).toMatch(
      /^ID {2}AGENT {2}STATE {4}AGE +TASK\nr1 {2}clerk {2}waiting {2}\d+ ms {2}Compare\.\n$/,
    );
    expect(JSON.parse(json.stdout)).toEqual([{ ...run, startedAt: startedAt.toISOString() }]);
    expect(none.stdout).toBe('No runs.\n');

    const scheduled = await cli(['ps', '--schedule', 'nightly'], {
      everloop: {
        list: async (options) => {
          expect(options).toEqual({ schedule: 'nightly', limit: 100 });
          return [{ ...run, schedule: 'nightly' }, run];
        },
      },
    });
    expect(scheduled.stdout).toMatch(
      /^ID {2}AGENT {2}SCHEDULE {2}STATE {4}AGE +TASK\nr1 {2}clerk {2}nightly {3}waiting {2}\d+ ms {2}Compare\.\nr1 {2}clerk {2}- {9}waiting/,
    );
  });

  it('lists runs by agent, state and whether they are roots', async () => {
    const asked: unknown[] = [];
    const list: Everloop['list'] = async (options) => (asked.push(options), []);
    const argv = ['ps', '--roots', '--agent', 'clerk', '--state', 'waiting'];

    await cli(argv, { everloop: { list } });
    const wrong = await cli(['ps', '--state', 'lost'], { everloop: { list } });

    expect(asked).toEqual([{ roots: true, agent: 'clerk', state: 'waiting', limit: 100 }]);
    expect(wrong.exitCode).toBe(2);
    expect(wrong.stderr).toContain(
      'Allowed choices are running, waiting, completed, failed, canceled, terminated, timed_out.',
    );
  });

  it('shows where a live run stands', async () => {
    const attach = () =>
      fakeRun('r1', {
        step: async () => null,
        status: async () => ({ ...STATUS, state: 'paused' as const }),
        pending: async () => [
          { id: 'pause', kind: 'pause' as const, agent: 'clerk', path: 'clerk', since: 0 },
        ],
      });

    const { stdout } = await cli(['show', 'r1'], { everloop: { attach } });

    expect(stdout).toBe(
      [
        'id         r1',
        'agent      clerk',
        'state      paused',
        'used       2 iterations · 220 tokens · $0.0015',
        'waits for  model mine',
        'inputs     1 unread',
        'link       1',
        'pending    pause since 1970-01-01T00:00:00.000Z',
        '',
      ].join('\n'),
    );
  });

  it('shows how a run ended without asking a worker', async () => {
    const attach = () => fakeRun('r1', { step: async () => STEP });

    const { stdout } = await cli(['show', 'r1'], { everloop: { attach } });

    expect(stdout).toBe(
      [
        'id      r1',
        'agent   clerk',
        'status  success',
        'reason  answered',
        'used    2 iterations · 220 tokens · $0.0015',
        'took    3.2 s',
        'value   Vienna.',
        '',
      ].join('\n'),
    );
  });

  it('shows statistics, twins on request', async () => {
    const stats = {
      counters: { 'agent:tokens': 1_200, '$self:agent:tokens': 1_200 },
      gauges: { 'agent:depth': 0 },
    };
    const attach = () => fakeRun('r1', { step: async () => null, stats: async () => stats });

    const short = await cli(['stats', 'r1'], { everloop: { attach } });
    const long = await cli(['stats', 'r1', '--self'], { everloop: { attach } });

    expect(short.stdout).toBe(
      'KIND     KEY           VALUE\ncounter  agent:tokens  1,200\ngauge    agent:depth   0\n',
    );
    expect(long.stdout).toContain('$self:agent:tokens');
  });

  it('shows the attempts of calls, all or those that were lost', async () => {
    const at = Date.UTC(2026, 2, 10, 9);
    const call = { kind: 'tool', name: 'pay', callId: '2.1', iteration: 2 } as const;
    const tried = { ...call, executionId: 'e', scheduledAt: at, worker: '7@host/node-22' };
    const attempts = async (): Promise<readonly CallAttempt[]> => [
      { ...tried, startedAt: at, endedAt: at + 5_000, outcome: 'lost', reason: 'Heartbeat' },
      { ...tried, startedAt: at + 6_000, endedAt: at + 7_000, outcome: 'ok' },
    ];
    const attach = (): RunHandle => fakeRun('r1', { attempts });

    const lost = await cli(['attempts', 'r1', '--lost'], { everloop: { attach } });
    const all = await cli(['attempts', 'r1', '--json'], { everloop: { attach } });

    expect(lost.stdout.split('\n').map((line) => line.trimEnd().split(/ {2,}/))).toEqual([
      ['AT', 'ITERATION', 'CALL', 'OUTCOME', 'TOOK', 'WORKER', 'REASON'],
      ['2026-03-10T09:00:00.000Z', '2', 'tool pay 2.1', 'lost', '5.0 s', '7@host', 'Heartbeat'],
      [''],
    ]);
    expect(JSON.parse(all.stdout)).toHaveLength(2);
  });

  it('lists runs that began within a time', async () => {
    const asked: unknown[] = [];
    const list = async (options?: ListOptions): Promise<readonly RunSummary[]> => {
      asked.push(options?.since);
      return [];
    };

    await cli(['ps', '--since', '1h'], { everloop: { list } });

    expect(Number(asked[0])).toBeGreaterThan(Date.now() - 3_700_000);
    expect(Number(asked[0])).toBeLessThan(Date.now() - 3_500_000);
  });

  it('shows events, all or from one on', async () => {
    const attach = () =>
      fakeRun('r1', { events: async (options) => EVENTS.slice(options?.from ?? 0) });

    const asked = { events: async (options?: EventOptions) => [EVENTS[options?.limit ?? 0]] };
    const part = await cli(['logs', 'r1', '--limit', '1'], {
      everloop: { attach: () => fakeRun('r1', asked as Partial<RunHandle>) },
    });
    expect(part.stdout).toMatch(/^ +2 /);

    const { stdout } = await cli(['logs', 'r1', '--from', '2'], { everloop: { attach } });

    expect(stdout).toBe(
      '   2 09:00:00.000 #1 iteration:before\n' +
        '   3 09:00:00.000 #1 execution:after success (answered)\n',
    );
  });

  it('follows events until the run ends, each once', async () => {
    const versions = [1, 1, 3];
    const attach = () =>
      fakeRun('r1', {
        status: async () => {
          const version = versions.shift() ?? 3;
          return { ...STATUS, version, state: version === 3 ? 'ended' : 'running' };
        },
        events: async (options) => EVENTS.slice(options?.from ?? 0, options?.from === 0 ? 1 : 3),
      });

    const { stdout, exitCode } = await withoutWaits(() =>
      cli(['logs', 'r1', '-f', '--json'], { everloop: { attach } }),
    );

    expect(exitCode).toBe(0);
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual(EVENTS);
  });

  it.each([
    { name: 'on a terminal', argv: [], isTty: true, shows: true },
    { name: 'where it is asked for', argv: ['--stream'], isTty: false, shows: true },
    { name: 'nowhere else', argv: [], isTty: false, shows: false },
    { name: 'not where it is not wanted', argv: ['--no-stream'], isTty: true, shows: false },
  ])('shows provisional text beside the log: $name', async ({ argv, isTty, shows }) => {
    const read = gate();
    const attach = () =>
      fakeRun('r1', {
        status: async () => ({ ...STATUS, state: 'ended' }),
        events: async () => {
          if (shows) await read.opened;
          return EVENTS;
        },
        stream: async function* () {
          yield chunk(1, 'Vien');
          yield chunk(2, 'Zag', { attempt: 3 });
          yield chunk(3, '{}', { attempt: 3, kind: 'tool_args' });
          yield marker(4, 'gap', { attempt: 3 });
          yield chunk(9, 'reb', { attempt: 3 });
          read.open();
        },
      });

    const { stdout, stderr } = await cli(['logs', 'r1', '-f', ...argv], {
      everloop: { attach },
      isTty,
      env: { TEMPORAL_ADDRESS: '127.0.0.1:1', NO_COLOR: '1' },
    });

    expect(stdout.split('\n')).toHaveLength(EVENTS.length + 1);
    expect(stderr).toBe(shows ? 'Vien\n[starts again]\nZag[…]reb\n' : '');
  });
});

describe('commands that tell', () => {
  it('sends input', async () => {
    const sent: unknown[] = [];
    const attach = () =>
      fakeRun('r1', {
        send: async (...args) => {
          sent.push(args);
          return 3;
        },
      });

    const { stdout } = await cli(
      ['send', 'r1', 'Also Zagreb.', '--kind', 'steer', '--input-id', 'i1', '--json'],
      { everloop: { attach } },
    );

    expect(sent).toEqual([['Also Zagreb.', { kind: 'steer', id: 'i1' }]]);
    expect(JSON.parse(stdout)).toEqual({ id: 'r1', position: 3 });
  });

  it('cancels, pauses, resumes and adjusts', async () => {
    const asked: unknown[] = [];
    const receipt = {
      limits: [{ kind: 'exact' as const, key: 'agent:total_tokens', max: 9 }],
      paused: false,
    };
    const note = (name: string) => async (value?: unknown) => {
      asked.push([name, value]);
      return receipt;
    };
    const attach = () =>
      fakeRun('r1', {
        cancel: async (message) => void asked.push(['cancel', message]),
        pause: note('pause'),
        resume: note('resume'),
        adjust: note('adjust'),
      });
    const setup = { everloop: { attach } };

    const outputs = [
      await cli(['cancel', 'r1', '--message', 'enough'], setup),
      await cli(['pause', 'r1'], setup),
      await cli(['resume', 'r1'], setup),
      await cli(['adjust', 'r1', '--limit', 'totalTokens=9'], setup),
    ].map(({ stdout }) => stdout);

    expect(asked).toEqual([
      ['cancel', 'enough'],
      ['pause', {}],
      ['resume', {}],
      ['adjust', { totalTokens: 9 }],
    ]);
    expect(outputs).toEqual([
      'Run r1 is asked to end.\n',
      'Run r1 is paused.\n',
      'Run r1 goes on.\n',
      'LIMIT               MAX\nagent:total_tokens  9\n',
    ]);
  });

  it('asks for a limit to adjust', async () => {
    expect(
      await cli(['adjust', 'r1'], { everloop: { attach: () => fakeRun('r1') } }),
    ).toMatchObject({
      exitCode: 2,
      stderr:
        'Expected at least one `--limit key=value`, got none. Write it as `--limit totalTokens=200000`.\n',
    });
  });
});
