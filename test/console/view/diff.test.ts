import { describe, expect, it } from 'vitest';
import type { DiffSide, RunDiff } from '../../../src/client/forks/run-diff.ts';
import { changesOf, diffFigures, diffView } from '../../../src/console/view/forks/diff.ts';
import { STEP } from '../../cli/cli-fixture.ts';

const SIDE: DiffSide = {
  id: 'r-1',
  agent: 'clerk',
  models: ['m'],
  iterations: 2,
  entries: Array.from({ length: 120 }, (_, index) => ({
    index,
    iteration: index,
    origin: 'original',
    messages: [{ role: 'assistant', parts: [{ type: 'text', text: 'x'.repeat(9_000) }] }],
  })),
  calls: Array.from({ length: 300 }, (_, index) => ({
    callId: `${index}.1`,
    tool: 't',
    args: { words: 'y'.repeat(5_000) },
    outcome: 'ok',
    isShared: index === 0,
  })),
  usage: STEP.usage,
  status: 'success',
  reason: 'answered',
  value: { found: true },
};

const DIFF: RunDiff = {
  from: 3,
  sharedEntries: 4,
  left: SIDE,
  right: {
    ...SIDE,
    id: 'r-2',
    models: [],
    entries: [],
    calls: [],
    status: 'live',
    reason: null,
    value: null,
  },
};

describe('the difference of two runs', () => {
  it('is bounded, and says what it leaves out', () => {
    const { left, right } = diffView(DIFF, [undefined, undefined]);

    expect([left.entries.length, left.moreEntries, left.calls.length, left.moreCalls]).toEqual([
      100, 20, 200, 100,
    ]);
    expect(JSON.stringify(left).length).toBeLessThan(600_000);
    expect([right.moreEntries, right.moreCalls, right.value]).toEqual([0, 0, '']);
  });

  it('has its figures side by side', () => {
    expect(diffFigures(diffView(DIFF, []))).toEqual([
      ['Ended', 'success, answered', 'live'],
      ['Models', 'm', 'none'],
      ['Iterations', '2', '2'],
      ['Calls', '300', '0'],
      ['Tokens', '220', '220'],
      ['Cost', '$0.0015', '$0.0015'],
      ['Answer', '{"found":true}', ''],
    ]);
  });

  it('says what a fork was told', () => {
    const fork = {
      source: { workflowId: 'r-1' },
      at: { iteration: 3 },
      edits: [{ entry: 1, text: '<b>new</b>' }, { drop: 2 }, { append: 'Again.' }],
      instructions: 'Be brief.',
      definition: 'current' as const,
      effects: 'reuse' as const,
    };

    expect(changesOf({ fork, model: 'm2', limits: { costUsd: 1 } })).toEqual([
      { name: 'Entry 1', text: '<b>new</b>' },
      { name: 'Entry 2', text: 'dropped' },
      { name: 'Said first', text: 'Again.' },
      { name: 'Instructions', text: 'Be brief.' },
      { name: 'Model', text: 'm2' },
      { name: 'Limits', text: '{"costUsd":1}' },
      { name: 'Definition', text: 'that of today' },
      { name: 'Calls', text: 'reuse' },
    ]);
    expect(changesOf({ model: 'm2' })).toEqual([]);
    expect(changesOf(undefined)).toEqual([]);
  });
});
