import { describe, expect, it } from 'vitest';
import {
  barsOfDay,
  changeOf,
  dayText,
  fieldsOf,
  runsText,
  spentText,
  waitsText,
  type TenantRow,
} from '../../../src/console/view/tenants.ts';

const ACME: TenantRow = {
  tenant: 'acme',
  concurrency: 20,
  timeZone: 'Europe/Vienna',
  perDay: { costUsd: 50, totalTokens: 900 },
  standing: {
    day: '2026-03-10',
    dayEndsAt: 3_600_000,
    budgets: [
      { key: 'agent:total_tokens', max: 900, used: 90, reserved: 0 },
      { key: 'agent:cost_microusd', max: 100, used: 95, reserved: 5 },
    ],
    running: [],
    waiting: [],
    runs: 3,
    waits: 1,
    short: 2,
  },
};

describe('a tenant in words', () => {
  it('says what it does now and what waits', () => {
    expect(runsText(ACME)).toBe('3 of 20');
    expect(runsText({ tenant: 'a', timeZone: 'UTC', perDay: {}, standing: null })).toBe(
      'at most any number',
    );
    expect(waitsText({ waits: 1, short: 2 })).toBe('1 for its turn, 2 for the budget of the day');
    expect(waitsText({ waits: 0, short: 0 })).toBe('none');
  });

  it('says when its day ends', () => {
    expect(dayText(ACME, 0)).toBe('2026-03-10 in Europe/Vienna, ends in 1 h');
    expect(dayText(ACME, 4_000_000)).toBe('2026-03-10 in Europe/Vienna, has ended');
    expect(dayText({ ...ACME, standing: null }, 0)).toBe('begins at midnight in Europe/Vienna');
  });

  it('has a bar for each budget, tightest first', () => {
    const bars = ACME.standing === null ? [] : barsOfDay(ACME.standing);

    expect(bars.map(({ label, tone, reserved }) => [label, tone, reserved])).toEqual([
      ['Cost', 'hot', 5],
      ['Tokens', 'calm', 0],
    ]);
    expect(bars.map(spentText)).toEqual([
      '$0.000095 of $0.0001, $0.000005 reserved for live runs',
      '90 of 900',
    ]);
  });
});

describe('the form of a tenant', () => {
  const before = fieldsOf(ACME);

  it('changes nothing while its fields are as they were', () => {
    expect(before).toMatchObject({ concurrency: '20', weight: '', costUsd: '50', toolCalls: '' });
    expect(changeOf(before, { ...before, weight: ' ' })).toEqual({ change: {}, problem: '' });
  });

  it('sends all budgets if one changes, and null for what is emptied', () => {
    expect(changeOf(before, { ...before, concurrency: '', costUsd: '2.5' }).change).toEqual({
      concurrency: null,
      perDay: { costUsd: 2.5, totalTokens: 900 },
    });
    expect(
      changeOf(before, { ...before, costUsd: '', totalTokens: '', timeZone: '' }).change,
    ).toEqual({ perDay: null, timeZone: 'UTC' });
  });

  it.each(['x', '-1', '1e9', 'Infinity', '0x10', '1.'])('refuses the number %s', (text) => {
    expect(changeOf(before, { ...before, weight: text })).toEqual({
      change: {},
      problem: `Expected a number, got “${text}”.`,
    });
  });
});
