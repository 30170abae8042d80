import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/core/base/json.ts';
import type { EvalRow } from '../../../src/core/evaluation/eval-plan.ts';
import { evalRows, evalTables, partialTextOf } from '../../../src/console/view/forks/evals.ts';

const ROW: EvalRow = {
  part: 'r at 2',
  variant: 'today',
  time: 1,
  run: 'eval-1/1.1',
  status: 'success',
  reason: 'answered',
  passed: true,
  turns: 2,
  tokens: 1_000,
  costMicroUsd: 2_000,
  durationMs: 5,
  answer: 'yes',
};

/** Four pairs: the second variant passes less often, and takes fewer tokens. */
const ROWS: readonly EvalRow[] = [1, 2, 3, 4].flatMap((time) => [
  { ...ROW, time },
  { ...ROW, time, variant: 'large', passed: time === 1, tokens: 400 + time, costMicroUsd: 9_000 },
]);

it('an eval that ended early says how much was tried', () => {
  expect(partialTextOf({ v: 1, rows: ROWS, tries: 12 } as unknown as Json)).toBe(
    'Partial: 8 of 12 tries ended.',
  );
  expect(partialTextOf({ v: 1, rows: ROWS, tries: 8 } as unknown as Json)).toBeUndefined();
  expect(partialTextOf(null)).toBeUndefined();
});

describe('the rows of an eval', () => {
  it('are those of its value', () => {
    expect(evalRows({ v: 1, rows: ROWS } as unknown as Json)).toEqual(ROWS);
    expect(
      evalRows({ v: 1, rows: [{ ...ROW, run: null, score: 0.5 }] } as unknown as Json),
    ).toHaveLength(1);
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'v'],
    ['a list', [1]],
    ['another version', { v: 2, rows: [ROW] }],
    ['no rows', { v: 1, rows: [] }],
    ['rows that are none', { v: 1, rows: [null] }],
    ['a number that is a text', { v: 1, rows: [{ ...ROW, tokens: '7' }] }],
    ['a score that is a text', { v: 1, rows: [{ ...ROW, score: 'high' }] }],
    ['a name that is an object', { v: 1, rows: [{ ...ROW, part: { toString: 'x' } }] }],
    ['a run that is a number', { v: 1, rows: [{ ...ROW, run: 7 }] }],
  ])('are not %s', (_what, value) => {
    expect(evalRows(value as unknown as Json)).toBeNull();
  });
});

describe('the tables of an eval', () => {
  it('have outcomes and means with intervals, and differences from the first variant', () => {
    expect(evalTables(ROWS)).toEqual({
      heads: ['Passed', 'Rate', 'Tokens', 'Cost', 'Turns'],
      variants: [
        ['today', '4 of 4', '100 % [51 % to 100 %]', '1\u2009000', '$0.0020', '2.0'],
        ['large', '1 of 4', '25 % [5 % to 70 %]', '403', '$0.0090', '2.0'],
      ],
      base: 'today',
      differences: [
        [
          'large',
          '−75 % [−155 % to +5 %]',
          '−598 [−600 to −595]',
          '+$0.0070 [+$0.0070 to +$0.0070]',
          '0.0 [0.0 to 0.0]',
        ],
      ],
    });
  });

  it('have no differences of one variant, and a score if a judge gave one', () => {
    const tables = evalTables([{ ...ROW, score: 0.25 }]);

    expect(tables.heads.at(-1)).toBe('Score');
    expect(tables.variants[0]?.at(-1)).toBe('0.25');
    expect(tables.differences).toEqual([]);
  });
});
