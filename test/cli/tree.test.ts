import { describe, expect, it } from 'vitest';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { TreeRun } from '../../src/client/tree-run.ts';
import { budgetText, treeText } from '../../src/cli/views/tree-text.ts';
import { UsageError } from '../../src/core/base/usage-error.ts';
import { treeRun } from '../support/tree-runs.ts';
import { cli, fakeRun, type CliResult, type CliSetup } from './cli-fixture.ts';
import { withoutWaits } from '../support/no-waits.ts';

const ROOT = treeRun('job-1', {
  agent: 'planner',
  path: 'planner',
  children: ['job-1/1.1', 'job-1/1.2', 'job-1/2.1'],
  waitsFor: ['agent writer'],
  iteration: 2,
  budgets: [
    {
      key: 'agent:cost_microusd',
      origin: 'self',
      max: 90_000,
      used: 1_500,
      reserved: 500,
      free: 88_000,
    },
    {
      key: 'agent:total_tokens',
      origin: 'self',
      max: 9_000,
      used: 220,
      reserved: 4_390,
      free: 4_390,
    },
  ],
});
const BELOW = { agent: 'writer', parent: 'job-1', depth: 1 };
const TREE: readonly TreeRun[] = [
  ROOT,
  treeRun('job-1/1.1', {
    ...BELOW,
    path: 'planner/1/writer',
    children: ['job-1/1.1/3.1'],
    budgets: [
      {
        key: 'agent:total_tokens',
        origin: { runId: 'x', agent: 'planner' },
        max: 4_390,
        used: 0,
        reserved: 0,
        free: 4_390,
      },
    ],
  }),
  treeRun('job-1/1.1/3.1', {
    agent: 'checker',
    path: 'planner/1/writer/3/checker',
    parent: 'job-1/1.1',
    depth: 2,
    state: 'silent',
    iteration: 0,
  }),
  treeRun('job-1/1.2', {
    ...BELOW,
    path: 'planner/1/writer',
    state: 'ended',
    status: 'success',
    reason: 'answered',
  }),
  treeRun('job-1/2.1', {
    ...BELOW,
    path: 'planner/2/writer',
    state: 'ended',
    status: 'error',
    reason: 'evil\u001b[2J\u202E',
    waitsFor: ['model m', ...Array<string>(30).fill('tool \u001b]0;x\u0007')],
  }),
];

const SHOWN = [
  'RUN            ADDRESS  STATE                        ITERATION  TOKENS  COST     WAITS FOR',
  'planner        job-1    running                      2          220     $0.0015  agent writer',
  '├─ writer      1.1      running                      1          220     $0.0015',
  '│  └─ checker  1.1/3.1  silent                       ?          220     $0.0015',
  '├─ writer      1.2      success                      1          220     $0.0015',
  '└─ writer      2.1      error (evil\\u001B[2J\\u202E)  1          220     $0.0015  model m, 30 × tool \\u001B]0;x\\u0007',
].join('\n');

function onTree(argv: readonly string[], run: RunHandle, setup: CliSetup = {}): Promise<CliResult> {
  return cli(argv, { everloop: { attach: () => run }, ...setup });
}

describe('everloop tree', () => {
  it('shows branches, states and what is waited for, and moves no cursor', async () => {
    expect(treeText(TREE)).toBe(SHOWN);

    const run = fakeRun('job-1', { tree: async () => TREE });
    expect(await onTree(['tree', 'job-1'], run)).toMatchObject({
      exitCode: 0,
      stdout: `${SHOWN}\n`,
      stderr: '',
    });
    const { stdout } = await onTree(['tree', 'job-1', '--json'], run);
    expect(JSON.parse(stdout)).toEqual(JSON.parse(JSON.stringify(TREE)));
  });

  it('follows a tree until its root ends, and shows only changes', async () => {
    const steps = [[ROOT], [ROOT], [{ ...ROOT, state: 'ended', status: 'success' } as TreeRun]];
    const run = fakeRun('job-1', { tree: async () => steps.shift() ?? [] });

    const plain = await withoutWaits(() => onTree(['tree', 'job-1', '-f'], run));

    expect(plain.exitCode).toBe(0);
    expect(plain.stdout.split('\n\n').map((text) => text.split('\n')[1]?.slice(0, 25))).toEqual([
      'planner  job-1    running',
      'planner  job-1    success',
    ]);
  });

  it('draws in place on a terminal, in lines that do not wrap', async () => {
    const steps = [[ROOT], [{ ...ROOT, state: 'ended', status: 'success' } as TreeRun]];
    const written: string[] = [];
    const run = fakeRun('job-1', { tree: async () => steps.shift() ?? [] });

    await withoutWaits(() =>
      onTree(['tree', 'job-1', '-f'], run, {
        io: { stdout: { isTTY: true, columns: 30, write: (text) => written.push(text) } },
      }),
    );

    expect(written.map((text) => text.split('\n')[0])).toEqual([
      'RUN      ADDRESS  STATE    IT…',
      '\u001b[2A\u001b[J',
      'RUN      ADDRESS  STATE    IT…',
    ]);
  });

  it('of a run that nobody knows is a mistake of usage', async () => {
    const run = fakeRun('none', {
      tree: () => Promise.reject(new UsageError('run_not_found', 'Expected a run, got none.')),
    });

    expect(await onTree(['tree', 'none'], run)).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: 'Expected a run, got none.\n',
    });
  });
});

describe('everloop budget', () => {
  it('shows what of each limit is used, reserved and free, per branch', async () => {
    const text = [
      'RUN        ADDRESS  LIMIT                OF       MAX      USED     RESERVED  FREE',
      'planner    job-1    agent:cost_microusd  own      $0.0900  $0.0015  $0.0005   $0.0880',
      '                    agent:total_tokens   own      9,000    220      4,390     4,390',
      '├─ writer  1.1      agent:total_tokens   planner  4,390    0        0         4,390',
    ].join('\n');
    expect(budgetText(TREE)).toBe(text);

    const run = fakeRun('job-1', { tree: async () => TREE });
    const { stdout } = await onTree(['budget', 'job-1', '--json'], run);
    expect(JSON.parse(stdout)).toEqual(
      TREE.slice(0, 2).map(({ id, agent, path, budgets }) => ({ id, agent, path, budgets })),
    );
  });

  it('says which limit nobody has set', () => {
    const [cost] = ROOT.budgets ?? [];
    const root = { ...ROOT, budgets: [{ ...cost!, byDefault: true as const }] };

    expect(budgetText([root]).split('\n')[1]).toMatch(
      /agent:cost_microusd +own, default +\$0\.0900/,
    );
  });

  it('says so when there is none', () => {
    expect(budgetText(TREE.slice(2))).toBe(
      'No budgets: no run of the tree is alive, or none has a limit over its tree.',
    );
  });
});

describe('a command with a path or for a tree', () => {
  it.each([
    {
      argv: ['send', 'job-1', 'Hi', '--path', '1.2', '--input-id', 'i'],
      told: ['child 1.2', 'send Hi {"kind":"queue","id":"i"}'],
      stdout: 'Accepted as input 1 of run job-1/1.2.\n',
    },
    {
      argv: ['send', 'job-1', 'Hi', '--tree'],
      told: ['send Hi {"kind":"queue","tree":true}'],
      stdout: 'Accepted as input 1 of the tree of run job-1.\n',
    },
    {
      argv: ['cancel', 'job-1', '--path', 'planner/2/writer', '--message', 'late'],
      told: ['child planner/2/writer', 'cancel late'],
      stdout: 'Run job-1/1.2 is asked to end.\n',
    },
    {
      argv: ['pause', 'job-1', '--tree'],
      told: ['pause {"tree":true}'],
      stdout: 'The tree of run job-1 is paused.\n',
    },
    {
      argv: ['resume', 'job-1', '--path', '1.2'],
      told: ['child 1.2', 'resume {}'],
      stdout: 'Run job-1/1.2 goes on.\n',
    },
    {
      argv: ['answer', 'job-1', '1.2/q1', 'blue'],
      told: ['answer 1.2/q1 "blue"'],
      stdout: 'Answered 1.2/q1 of run job-1.\n',
    },
    {
      argv: ['deny', 'job-1', '2.1', '--path', '1.2', '--reason', 'no'],
      told: ['child 1.2', 'decide 2.1 {"deny":"no"}'],
      stdout: 'Denied 2.1 of run job-1/1.2.\n',
    },
  ])('says $told for $argv', async ({ argv, told, stdout }) => {
    const said: string[] = [];
    const note = (...words: readonly unknown[]): void => {
      said.push(
        words.map((word) => (typeof word === 'string' ? word : JSON.stringify(word))).join(' '),
      );
    };
    const receipt = { limits: [], paused: true };
    const handle = (id: string): RunHandle =>
      fakeRun(id, {
        child: async (path) => (note('child', path), handle('job-1/1.2')),
        send: async (text, options) => (note('send', text, options), 1),
        cancel: async (message) => note('cancel', message),
        pause: async (options) => (note('pause', options), receipt),
        resume: async (options) => (note('resume', options), receipt),
        answer: async (item, value) => (note('answer', item, JSON.stringify(value)), { id: item }),
        decide: async (item, decision) => (note('decide', item, decision), { id: item }),
      });

    const result = await onTree(argv, handle('job-1'));

    expect(said).toEqual(told);
    expect(result).toMatchObject({ exitCode: 0, stdout, stderr: '' });
  });
});
