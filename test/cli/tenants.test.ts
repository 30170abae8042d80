import { describe, expect, it } from 'vitest';
import type { Everloop } from '../../src/client/everloop-client.ts';
import type { TenantView } from '../../src/core/tenant/tenant-messages.ts';
import { cli } from './cli-fixture.ts';

const VIEW: TenantView = {
  tenant: 'acme',
  settings: {
    concurrency: 20,
    weight: 2,
    perDay: { 'agent:cost_microusd': 50_000_000 },
    rate: { requestsPerMinute: 60, tokensPerMinute: 9_000 },
    timeZone: 'Europe/Vienna',
  },
  day: '2026-11-25',
  dayEndsAt: 1_764_111_600_000,
  budgets: [{ key: 'agent:cost_microusd', max: 50_000_000, used: 1_500_000, reserved: 250_000 }],
  running: ['acme:1'],
  waiting: [],
  runs: 20,
  waits: 180,
  short: 3,
};

/** A client with these tenants, and what was set. */
function withTenants(): { readonly everloop: Partial<Everloop>; readonly set: unknown[] } {
  const set: unknown[] = [];
  const tenants: Everloop['tenants'] = {
    list: async () => [{ tenant: 'acme', settings: VIEW.settings }],
    show: async (tenant) => (tenant === 'acme' ? VIEW : null),
    set: async (...given) => (set.push(given), VIEW),
  };
  return { everloop: { tenants }, set };
}

describe('everloop tenants', () => {
  it('lists what is set', async () => {
    const { everloop } = withTenants();
    for (const argv of [['tenants'], ['tenants', 'ls']]) {
      expect((await cli(argv, { everloop })).stdout).toBe(
        [
          'TENANT  AT ONCE  WEIGHT  PER DAY     DAY OF',
          'acme    20       2       costUsd=50  Europe/Vienna',
          '',
        ].join('\n'),
      );
    }
  });

  it('shows how one stands', async () => {
    const { everloop } = withTenants();
    expect((await cli(['tenants', 'show', 'acme'], { everloop })).stdout).toBe(
      [
        'tenant    acme',
        'at once   20: 20 with a turn, 180 waiting for one',
        'weight    2',
        'rate      60 requests, 9000 tokens a minute',
        'day       2026-11-25 (Europe/Vienna)',
        'budget    costUsd: 1.5 of 50 used, 0.25 granted to live runs',
        'short     3 runs wait for a budget',
        '',
      ].join('\n'),
    );
    expect((await cli(['tenants', 'show', 'other'], { everloop })).stdout).toBe(
      'Nothing is set for tenant other: its runs wait for nothing.\n',
    );
  });

  it('shows no control characters of settings that somebody else has made', async () => {
    const settings = { ...VIEW.settings, timeZone: '\u001B[2J\u061C' };
    const tenants: Everloop['tenants'] = {
      list: async () => [{ tenant: 'acme\u001B[2J', settings }],
      show: async () => ({ ...VIEW, settings }),
      set: async () => ({ ...VIEW, settings }),
    };
    for (const argv of [['ls'], ['show', 'acme'], ['set', 'acme', '--weight', '1']]) {
      const setup = { everloop: { tenants }, isTty: true };
      const { stdout } = await cli(['tenants', ...argv], setup);
      expect(stdout).toContain('\\u001B[2J\\u061C');
      expect(stdout).not.toContain('\u001B');
      expect(stdout).not.toContain('\u061C');
    }
  });

  it('sets what is given, and removes what is none', async () => {
    const { everloop, set } = withTenants();
    const given = ['--concurrency', '20', '--per-day', 'costUsd=50', '--per-day', 'modelCalls=9'];
    await cli(['tenants', 'set', 'acme', ...given, '--tz', 'UTC'], { everloop });
    const rate = ['--rate', 'requestsPerMinute=60', '--rate', 'tokensPerMinute=9000'];
    await cli(['tenants', 'set', 'acme', ...rate], { everloop });
    const none = [
      '--concurrency',
      'none',
      '--per-day',
      'none',
      '--rate',
      'none',
      '--weight',
      '0.5',
    ];
    await cli(['tenants', 'set', 'acme', ...none, '--task-queues', 'q'], { everloop });

    expect(set).toEqual([
      ['acme', { concurrency: 20, perDay: { costUsd: 50, modelCalls: 9 }, timeZone: 'UTC' }],
      ['acme', { rate: { requestsPerMinute: 60, tokensPerMinute: 9_000 } }],
      ['acme', { concurrency: null, perDay: null, rate: null, weight: 0.5, taskQueues: ['q'] }],
    ]);
  });

  it.each([
    [['--concurrency', 'many'], 'Expected `--concurrency` to be a number or none, got `many`.'],
    [['--per-day', 'costUsd'], 'Expected `--per-day` to be such as costUsd=20, got `costUsd`.'],
    [['--rate', 'x'], 'Expected `--rate` to be such as requestsPerMinute=60, got `x`.'],
    [['--per-day', 'costUsd=x'], 'Expected `--per-day` to be such as costUsd=20, got `costUsd=x`.'],
  ])('refuses %j', async (options, text) => {
    const { everloop, set } = withTenants();
    const { exitCode, stderr } = await cli(['tenants', 'set', 'acme', ...options], { everloop });

    expect(exitCode).toBe(2);
    expect(stderr).toContain(text);
    expect(set).toEqual([]);
  });
});
