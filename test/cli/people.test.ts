import { describe, expect, it } from 'vitest';
import type { InboxView } from '../../src/client/inbox.ts';
import type { Json } from '../../src/core/base/json.ts';
import type { PendingItem, RunStatus } from '../../src/core/contract/messages.ts';
import type { Decision } from '../../src/core/contract/pending.ts';
import { inboxText } from '../../src/cli/commands/people.ts';
import { UsageError } from '../../src/core/base/usage-error.ts';
import { cli, fakeRun, STEP } from './cli-fixture.ts';

const NOW = Date.UTC(2026, 2, 10, 9);
const BASE = { agent: 'clerk', path: 'clerk', since: NOW - 90_000 };
const VIEW: InboxView = {
  items: [
    {
      run: 'r1',
      agent: 'clerk',
      task: 'Pay',
      item: {
        ...BASE,
        id: 'q1',
        kind: 'question',
        question: 'Which John?',
        options: ['John Smith', 'John Doe'],
        free: false,
      },
    },
    {
      run: 'r2',
      agent: 'clerk',
      task: 'Pay',
      item: { ...BASE, id: '2.1', kind: 'approval', tool: 'pay', args: { amount: 5 } },
    },
    {
      run: 'r2',
      agent: 'clerk',
      task: 'Pay',
      item: {
        ...BASE,
        id: '2.2',
        kind: 'external',
        tool: 'build',
        args: {},
        details: { url: 'https://ci/7' },
        deadline: NOW,
      },
    },
  ],
  silent: ['r3'],
  more: 0,
};

describe('inbox', () => {
  it('lists what waits, and names the runs that nobody answers for', async () => {
    expect(inboxText(VIEW, NOW)).toBe(
      [
        'RUN  PATH   ID   KIND      AGE         WHAT',
        'r1   clerk  q1   question  1 min 30 s  Which John? (1 John Smith, 2 John Doe)',
        'r2   clerk  2.1  approval  1 min 30 s  pay {"amount":5}',
        'r2   clerk  2.2  external  1 min 30 s  build {"url":"https://ci/7"}',
      ].join('\n'),
    );

    const { exitCode, stdout, stderr } = await cli(['inbox', '--json'], {
      everloop: { inbox: async () => VIEW },
    });

    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual(VIEW);
    expect(stderr).toBe('Run r3 waits for a person, but no worker can say for what.\n');
  });

  it('says so when nothing waits', async () => {
    const { stdout } = await cli(['inbox'], {
      everloop: { inbox: async () => ({ items: [], silent: [], more: 0 }) },
    });

    expect(stdout).toBe('Nothing waits.\n');
  });
});

/** Runs a command on a run that notes what it is told. */
async function tell(...argv: readonly string[]): Promise<{
  readonly told: readonly unknown[];
  readonly result: Awaited<ReturnType<typeof cli>>;
}> {
  const told: unknown[] = [];
  const note = async (
    id: string,
    value: Json | Decision,
    options?: object,
  ): Promise<{ id: string }> => {
    told.push([id, value, options]);
    return { id };
  };
  const revoke = async (id: string, options?: object): Promise<void> => {
    told.push([id, 'revoke', options]);
  };
  const result = await cli(argv, {
    everloop: { attach: (id) => fakeRun(id, { answer: note, decide: note, revoke }) },
  });
  return { told, result };
}

describe('answer, approve and deny', () => {
  it.each<{ argv: readonly string[]; told: readonly unknown[]; says: string }>([
    {
      argv: ['answer', 'r1', 'q1', 'John Doe'],
      told: ['q1', 'John Doe', {}],
      says: 'Answered q1 of run r1.',
    },
    {
      argv: ['answer', 'r1', '2.2', '{"passed": 7}', '--as-json', '--update-id', 'u'],
      told: ['2.2', { passed: 7 }, { updateId: 'u' }],
      says: 'Answered 2.2 of run r1.',
    },
    {
      argv: ['approve', 'r1', '2.1'],
      told: ['2.1', { approve: true }, {}],
      says: 'Approved 2.1 of run r1.',
    },
    {
      argv: ['approve', 'r1', '2.1', '--args', '{"amount": 4}'],
      told: ['2.1', { args: { amount: 4 } }, {}],
      says: 'Approved 2.1 of run r1 with other arguments.',
    },
    {
      argv: ['approve', 'r1', '2.1', '--remember', 'tool'],
      told: ['2.1', { approve: true, remember: 'tool' }, {}],
      says: 'Approved 2.1 of run r1, and all later calls of its tool.',
    },
    {
      argv: ['approve', 'r1', '2.1', '--remember', 'arguments'],
      told: ['2.1', { approve: true, remember: 'arguments' }, {}],
      says: 'Approved 2.1 of run r1, and later calls with the same arguments.',
    },
    {
      argv: ['revoke', 'r1', '2.1', '--by', 'ada'],
      told: ['2.1', 'revoke', { by: 'ada' }],
      says: 'Revoked the approval 2.1 of run r1.',
    },
    {
      argv: ['deny', 'r1', '2.1', '--reason', 'too much'],
      told: ['2.1', { deny: 'too much' }, {}],
      says: 'Denied 2.1 of run r1.',
    },
    { argv: ['deny', 'r1', '2.1'], told: ['2.1', { deny: '' }, {}], says: 'Denied 2.1 of run r1.' },
  ])('does what it says: $argv', async ({ argv, told, says }) => {
    const { told: seen, result } = await tell(...argv);

    expect(seen).toEqual([told]);
    expect(result).toMatchObject({ exitCode: 0, stdout: `${says}\n` });
  });

  it.each([
    {
      argv: ['answer', 'r1', '2.2', '{passed', '--as-json'],
      says: 'Expected `<value>` to be JSON, got `{passed`. Correct it.\n',
    },
    {
      argv: ['approve', 'r1', '2.1', '--args', '[1]'],
      says: 'Expected `--args` to be a JSON object, got `[1]`. Correct it.\n',
    },
  ])('refuses what is no JSON: $argv', async ({ argv, says }) => {
    const { told, result } = await tell(...argv);

    expect(told).toEqual([]);
    expect(result).toMatchObject({ exitCode: 2, stderr: says });
  });

  it('says why a run refused the answer', async () => {
    const refuse = (): never => {
      throw new UsageError('invalid_input', 'question q1 is already answered');
    };

    const result = await cli(['answer', 'r1', 'q1', 'x'], {
      everloop: { attach: (id) => fakeRun(id, { answer: async () => refuse() }) },
    });

    expect(result).toMatchObject({ exitCode: 2, stderr: 'question q1 is already answered\n' });
  });
});

describe('show', () => {
  it('names what waits, with its deadline', async () => {
    const status: RunStatus = {
      version: 5,
      state: 'waiting',
      runId: 'execution-1',
      agent: 'clerk',
      iteration: 2,
      waitsFor: ['question q1'],
      usage: STEP.usage,
      unreadInputs: 0,
      link: 1,
      events: 3,
      entries: 1,
      approvals: [
        { id: '1.1', tool: 'pay', since: Date.parse('2026-03-10T08:50:00Z') },
        {
          id: '1.2',
          tool: 'pay',
          args: { amount: 7 },
          since: Date.parse('2026-03-10T08:51:00Z'),
          by: 'ada',
        },
      ],
    };
    const form = { type: 'object', properties: { from: { type: 'string' } } };
    const asked: PendingItem = {
      kind: 'question',
      id: 'q2',
      agent: 'clerk',
      path: 'clerk',
      since: Date.parse('2026-03-10T08:59:00Z'),
      question: 'From where?',
      free: false,
      details: { tool: 'pay', form },
    };
    const run = fakeRun('r2', {
      step: async () => null,
      status: async () => status,
      pending: async () => [...VIEW.items.map(({ item }) => item), asked],
    });

    const { stdout } = await cli(['show', 'r2'], { everloop: { attach: () => run } });

    expect(stdout.trimEnd().split('\n').slice(-6)).toEqual([
      'pending    question q1 since 2026-03-10T08:58:30.000Z: Which John? (1 John Smith, 2 John Doe)',
      'pending    approval 2.1 since 2026-03-10T08:58:30.000Z: pay {"amount":5}',
      'pending    external 2.2 since 2026-03-10T08:58:30.000Z until 2026-03-10T09:00:00.000Z: build {"url":"https://ci/7"}',
      'pending    question q2 since 2026-03-10T08:59:00.000Z: From where? (pay asks for JSON with from)',
      'approved   1.1 since 2026-03-10T08:50:00.000Z: all calls of pay',
      'approved   1.2 since 2026-03-10T08:51:00.000Z by ada: pay {"amount":7}',
    ]);
  });
});
