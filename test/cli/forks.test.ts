/** The commands at, fork, diff and eval: what they ask the client, and what they show. */
import type { Json } from '../../src/core/base/json.ts';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ForkSourceOptions, ForkStartOptions } from '../../src/client/forks.ts';
import { UsageError } from '../../src/core/base/usage-error.ts';
import type { RunMoment } from '../../src/core/base/fork.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { act, answer, searchTool } from '../support/runs.ts';
import { cli, fakeRun, STEP } from './cli-fixture.ts';

async function played() {
  const script = scriptedModel([act('a'), act('b'), answer('first'), answer('second')]);
  const agent = defineAgent({
    name: 'tester',
    mode: 'react',
    tools: [searchTool()],
    model: { id: 'm', model: script.model },
  });
  const run = startInMemory({ agent, task: 'Go' });
  const step = await run.result;
  const fork = run.fork({ iteration: 2 }, { effects: 'run' });
  const forked = await fork.result;
  return { run, step, fork, forked };
}

describe('at', () => {
  it('shows a moment with its entries by number', async () => {
    const { run } = await played();
    const asked: RunMoment[] = [];
    const at = async (moment: RunMoment) => {
      asked.push(moment);
      return run.at(moment);
    };
    const { exitCode, stdout } = await cli(['at', 'r', '--iteration', '2', '--transcript'], {
      everloop: { attach: (id) => fakeRun(id, { at }) },
    });

    expect(exitCode).toBe(0);
    expect(asked).toEqual([{ iteration: 2 }]);
    expect(stdout).toContain('moment       before iteration 2, after event');
    expect(stdout).toContain('calls after  search (idempotent) ×1');
    expect(stdout).toContain('--- 0 · iteration 1 · original');
  });

  it('takes an iteration or an event, not both', async () => {
    const { exitCode, stderr } = await cli(['at', 'r', '--iteration', '2', '--event', '3'], {
      everloop: { attach: (id) => fakeRun(id) },
    });
    expect([exitCode, stderr]).toEqual([
      2,
      'Expected an iteration or an event, got both. Leave one out.\n',
    ]);
  });
});

describe('fork', () => {
  async function forked(argv: readonly string[], error?: UsageError) {
    const calls: [ForkSourceOptions, ForkStartOptions | undefined][] = [];
    const result = await cli(['fork', 'clerk-7', ...argv], {
      everloop: {
        fork: async (source, options) => {
          calls.push([source, options]);
          if (error !== undefined) throw error;
          return fakeRun('clerk-7-fork-1', { result: () => Promise.resolve(STEP) });
        },
      },
    });
    return { ...result, calls };
  }

  it('hands on the moment, edits, limits and effects', async () => {
    const { calls, stdout } = await forked([
      '--at',
      '7',
      '--edit',
      '12=Refund 10, not 100',
      '--drop',
      '13',
      '--append',
      'Think again',
      '--limit',
      'costUsd=1',
      '--model',
      'x/y',
      '--effects',
      'approve',
      '--detach',
    ]);
    expect(stdout).toBe('clerk-7-fork-1\n');
    expect(calls).toEqual([
      [
        { run: 'clerk-7', at: { iteration: 7 } },
        {
          edits: [
            { entry: 12, text: 'Refund 10, not 100' },
            { drop: 13 },
            { append: 'Think again' },
          ],
          limits: { costUsd: 1 },
          model: 'x/y',
          effects: 'approve',
        },
      ],
    ]);
  });

  it('names the flag when effects are missing, and refuses an edit without an entry', async () => {
    const error = new UsageError('fork_effects', 'Expected `effects` to be one of run, got none.');
    expect((await forked([], error)).stderr).toContain('Expected `--effects` to be one of run');
    expect((await forked(['--edit', 'text'])).stderr).toContain(
      'Expected `--edit` to be ENTRY=TEXT or ENTRY=@FILE, got `text`.',
    );
  });
});

it('diff shows what two runs do not share', async () => {
  const { run, step, fork, forked } = await played();
  const before = run.events.filter(({ seq }) => seq <= run.at({ iteration: 2 }).event);
  const all = { left: run.entries, right: [...run.entries.slice(0, 1), ...fork.entries] };
  const { stdout } = await cli(['diff', 'left', 'right'], {
    everloop: {
      attach: (id) =>
        id === 'left'
          ? fakeRun(id, {
              step: async () => step,
              transcript: async () => all.left,
              events: async () => run.events,
            })
          : fakeRun(id, {
              step: async () => forked,
              transcript: async () => all.right,
              events: async () => [...before, ...fork.events],
            }),
    },
  });

  expect(stdout).toContain('Equal before iteration 2: 1 entries.');
  expect(stdout).toMatch(/iterations +2 +1/);
  expect(stdout).toMatch(/value +first +second/);
  expect(stdout).toContain('* 2.1 search {"query":"b"} ok');
});

it('diff says why the end of a run cannot be read, and fails for what no one expects', async () => {
  const { run, step } = await played();
  const diffed = (error: Error, flags: readonly string[] = []) => {
    const read = { transcript: async () => run.entries, events: async () => run.events };
    return cli(['diff', 'left', 'right', ...flags], {
      everloop: {
        attach: (id) =>
          fakeRun(id, {
            ...read,
            step: async () => {
              if (id === 'left') return step;
              throw error;
            },
          }),
      },
    });
  };
  const message = 'Expected the key `k1`, which encrypted it, got none.';
  const missing = new UsageError('keys_missing', message);

  const { stdout } = await diffed(missing);
  expect(stdout).toMatch(/ending +success, answered +unknown, keys_missing/);
  expect(stdout).toContain(`=== right\nHow it ended is not known: ${message}`);
  expect(stdout).not.toContain('live');
  const json = JSON.parse((await diffed(missing, ['--json'])).stdout) as object;
  expect(json).toMatchObject({
    right: { status: 'unknown', reason: 'keys_missing', problem: message, value: null },
  });
  const broken = await diffed(new TypeError('a defect'));
  expect(broken.exitCode).not.toBe(0);
  expect(broken.stdout).toBe('');
});

it('eval reads a file, adds flags, and prints the table', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'everloop-eval-'));
  try {
    const file = join(folder, 'cases.json');
    await writeFile(
      file,
      JSON.stringify({ moments: [{ run: 'a' }], variants: [{ name: 'today' }] }),
    );
    const rows = ['today', 'large'].map((variant) => ({
      part: 'a',
      variant,
      time: 1,
      run: 'x',
      status: 'success',
      reason: 'answered',
      passed: variant === 'large',
      turns: 2,
      tokens: 100,
      costMicroUsd: 10,
      durationMs: 1,
      answer: '',
    }));
    const asked: unknown[] = [];
    const { stdout } = await cli(
      ['eval', file, '--run', 'b@4', '--variant', 'large=x/y', '--times', '3', '--tenant', 'acme'],
      {
        everloop: {
          evaluate: async (input, options) => {
            asked.push(input, options);
            return fakeRun('eval-1', {
              result: () => Promise.resolve({ ...STEP, value: { v: 1, rows, tries: 2 } }),
            });
          },
        },
      },
    );
    expect(asked).toEqual([
      {
        moments: [{ run: 'a' }, { run: 'b', at: { iteration: 4 } }],
        variants: [{ name: 'today' }, { name: 'large', model: 'x/y' }],
        times: 3,
      },
      { tenant: 'acme' },
    ]);
    expect(stdout).toMatch(/today +0 of 1/);
    expect(stdout).toContain('MINUS today');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

it('eval prints the table of what was tried, and why it ended early', async () => {
  const row = {
    part: 'a',
    variant: 'today',
    time: 1,
    run: 'x',
    status: 'success',
    reason: 'answered',
    passed: true,
    turns: 2,
    tokens: 100,
    costMicroUsd: 10,
    durationMs: 1,
    answer: '',
  };
  const message = 'The limit of $1 was reached.';
  const step = {
    ...STEP,
    status: 'limit_exceeded',
    reason: 'agent:cost_microusd',
    message,
  } as const;
  const evaluated = (details: Json | undefined, flags: readonly string[] = []) =>
    cli(['eval', '--run', 'a', '--variant', 'large=x/y', ...flags], {
      everloop: {
        evaluate: async () =>
          fakeRun('eval-1', {
            result: async () => ({
              ...step,
              value: null,
              ...(details === undefined ? {} : { details }),
            }),
          }),
      },
    });
  const found = { v: 1, rows: [row], tries: 12 };

  const text = await evaluated(found);
  expect(text.stdout).toMatch(/today +1 of 1/);
  expect(text.stdout).toContain('Partial: 1 of 12 tries ended.');
  expect(text.stderr).toContain(message);
  expect(text.exitCode).toBe(1);
  const json = await evaluated(found, ['--json']);
  expect(JSON.parse(json.stdout)).toMatchObject({
    id: 'eval-1',
    status: 'limit_exceeded',
    reason: 'agent:cost_microusd',
    tries: 12,
    isPartial: true,
    table: [{ variant: 'today', tries: 1, passed: 1 }],
    rows: [row],
  });
  const unjudged = { ...found, rows: [row, { ...row, time: 2, isJudged: false }] };
  expect((await evaluated(unjudged)).stdout).toMatch(
    /today +1 of 1[^]*Partial: 2 of 12 tries ended, 1 of them without a verdict/,
  );
  expect((await evaluated({ ...found, rows: [] })).stdout).toBe('Partial: 0 of 12 tries ended.\n');
  expect((await evaluated(undefined)).stdout).toBe('');
});
