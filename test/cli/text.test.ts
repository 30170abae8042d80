import { withCommas } from '../../src/lisp/base/with-commas.ts';
import { describe, expect, it } from 'vitest';
import {
  costText,
  durationText,
  fieldsText,
  oneLine,
  pluralText,
  tableText,
  usageText,
} from '../../src/cli/terminal/text.ts';
import { quietText } from '../../src/cli/views/follow.ts';
import { progressText } from '../../src/cli/views/run-text.ts';
import type { RunStatus } from '../../src/core/contract/messages.ts';
import { STEP } from './cli-fixture.ts';

describe('text for people', () => {
  it.each([
    [0, '0'],
    [999, '999'],
    [1_000, '1,000'],
    [1_234_567, '1,234,567'],
  ])('writes the count %d as %s', (count, text) => {
    expect(withCommas(count)).toBe(text);
  });

  it.each([
    [0, '$0.0000'],
    [49, '$0.0000'],
    [50, '$0.0001'],
    [1_500, '$0.0015'],
    [1_234_567_890, '$1,234.5679'],
  ])('writes %d micro-dollars as %s', (cost, text) => {
    expect(costText(cost)).toBe(text);
  });

  it.each([
    [0, '0 ms'],
    [999.4, '999 ms'],
    [1_000, '1.0 s'],
    [59_999, '59.9 s'],
    [60_000, '1 min 0 s'],
    [3_599_999, '59 min 59 s'],
    [3_600_000, '1 h 0 min'],
    [90_000_000, '1 d 1 h'],
  ])('writes %d ms as %s', (durationMs, text) => {
    expect(durationText(durationMs)).toBe(text);
  });

  it('cuts a line by characters and joins what stood on several', () => {
    expect(oneLine('  a\n\tb  c ', 10)).toBe('a b c');
    expect(oneLine('abcdef', 4)).toBe('abc…');
    expect(oneLine('😀😀😀', 3)).toBe('😀😀😀');
  });

  it('writes one and many', () => {
    expect([pluralText(1, 'token'), pluralText(2, 'token')]).toEqual(['1 token', '2 tokens']);
    expect(usageText(2, STEP.usage)).toBe('2 iterations · 220 tokens · $0.0015');
    expect(usageText(2, { ...STEP.usage, costMicroUsd: 0 })).toBe(
      '2 iterations · 220 tokens · cost unknown',
    );
  });

  it('says that a cost is at least so much where fees are not known', () => {
    const unpriced = { ...STEP.usage, unpricedCalls: 2 };
    expect(usageText(2, unpriced)).toBe('2 iterations · 220 tokens · ≥ $0.0015');
    expect(usageText(2, { ...unpriced, costMicroUsd: 0 })).toContain('cost unknown');
  });

  it('aligns tables and fields', () => {
    expect(
      tableText(
        ['ID', 'TASK'],
        [
          ['long-id', 'x'],
          ['a', 'y z'],
        ],
      ),
    ).toBe('ID       TASK\nlong-id  x\na        y z');
    expect(
      fieldsText([
        ['id', '1'],
        ['status', 'ended'],
      ]),
    ).toBe('id      1\nstatus  ended');
  });
});

describe('the progress of a run', () => {
  it('[R4] says that no worker has what the run needs', () => {
    const status = {
      iteration: 0,
      state: 'running',
      waitsFor: ['worker with agent clrek (did you mean clerk?)'],
      usage: { totalTokens: 0, costMicroUsd: 0 },
    } as unknown as RunStatus;

    expect(progressText(status)).toMatch(
      / · waiting for a worker with agent clrek \(did you mean clerk\?\)$/,
    );
  });

  it('says which limit on cost nobody has set', () => {
    const limit = { kind: 'exact', key: 'agent:cost_microusd', max: 1_000_000, byDefault: true };
    const status = {
      iteration: 1,
      state: 'running',
      waitsFor: [],
      usage: { totalTokens: 0, costMicroUsd: 1_200 },
      defaultLimits: [limit],
    } as unknown as RunStatus;

    expect(progressText(status)).toBe('iteration 1 · 0 tokens · $0.0012 of $1.0000 by default');
  });
});

describe('the line of a run that hears nothing of its model', () => {
  const line = 'iteration 1 · 0 tokens · $0.0000 · model openai/gpt-5';
  it.each([
    [line, 2_999, ''],
    [line, 3_000, ' · no reply for 3 s'],
    [line, 9_900, ' · no reply for 3 s'],
    [line, 31_000, ' · no reply for 30 s'],
    [line, 150_000, ' · no reply for 2 min'],
    ['iteration 1 · 2 × model m (attempt 2 of 8: no)', 3_000, ' · no reply for 3 s'],
    ['iteration 1 · 0 tokens · tool search', 60_000, ''],
    ['waits for a worker', 60_000, ''],
  ])('says so after 3 s: %s, %i ms', (progress, quietMs, text) => {
    expect(quietText(progress, quietMs)).toBe(text);
  });
});
