import { describe, expect, it } from 'vitest';
import { UsageError } from '../../src/core/base/usage-error.ts';
import type { TenantView } from '../../src/core/tenant/tenant-messages.ts';
import type { TenantSummary } from '../../src/client/tenants/tenants.ts';
import { consoleStage, READ_TOKEN, type ConsoleStage } from './console-stage.ts';

const VIEW: TenantView = {
  tenant: 'acme',
  settings: { timeZone: 'UTC' },
  day: '2026-03-10',
  dayEndsAt: 5,
  budgets: [{ key: 'agent:cost_microusd', max: 9, used: 3, reserved: 1 }],
  running: ['acme:1'],
  waiting: ['acme:2'],
  runs: 1,
  waits: 1,
  short: 0,
};

const ACME: TenantSummary = {
  tenant: 'acme',
  settings: { timeZone: 'UTC', concurrency: 1, perDay: { 'agent:cost_microusd': 2_500_000 } },
};

/** A console with these tenants, and what was set. */
function stageOf(
  summaries: readonly TenantSummary[],
): ConsoleStage & { readonly sets: unknown[][] } {
  const sets: unknown[][] = [];
  const stage = consoleStage([], {}, (everloop) => ({
    ...everloop,
    tenants: {
      list: async () => summaries,
      show: async (tenant) => {
        if (tenant === 'silent') throw new UsageError('no_worker', 'No worker answers.');
        return tenant === 'lost' ? null : VIEW;
      },
      set: async (tenant, options) => {
        if (tenant.includes(' ')) throw new UsageError('invalid_input', 'Expected a tenant.');
        sets.push([tenant, options]);
        return VIEW;
      },
    },
  }));
  return { ...stage, sets };
}

describe('the tenants of a console', () => {
  it('are listed with what is set and how they stand, whoever is silent', async () => {
    const names = ['silent', 'lost'].map((tenant) => ({ tenant, settings: { timeZone: 'UTC' } }));
    const { ask } = stageOf([ACME, ...names]);
    const { tenant: _tenant, settings: _settings, ...standing } = VIEW;

    expect((await ask('/api/v1/tenants')).body).toEqual({
      tenants: [
        { tenant: 'acme', timeZone: 'UTC', concurrency: 1, perDay: { costUsd: 2.5 }, standing },
        { tenant: 'silent', timeZone: 'UTC', perDay: {}, standing: null },
        { tenant: 'lost', timeZone: 'UTC', perDay: {}, standing: null },
      ],
      total: 3,
      partial: [{ part: 'silent', code: 'no_worker', message: 'No worker answers.' }],
    });
  });

  it('are found by a part of their name, fifty at a time', async () => {
    const many = Array.from({ length: 120 }, (_, index) => ({ ...ACME, tenant: `t${index}` }));
    const { ask } = stageOf([...many, ACME]);
    const found = async (query: string): Promise<readonly [number, number]> => {
      const { body } = await ask(`/api/v1/tenants?${query}`);
      const { tenants, total } = body as { readonly tenants: object[]; readonly total: number };
      return [tenants.length, total];
    };

    expect(await found('q=ACM')).toEqual([1, 1]);
    expect(await found('q=t')).toEqual([50, 120]);
    expect(await found('q=t&from=100')).toEqual([20, 120]);
    expect(await ask('/api/v1/tenants?from=-1')).toMatchObject({
      status: 400,
      body: { code: 'invalid_input' },
    });
  });

  it('are set once for a requestId, with a line of the log', async () => {
    const stage = stageOf([]);
    const body = { requestId: 'request-1', concurrency: null, perDay: { costUsd: 3 } };

    const first = await stage.post('/api/v1/tenants/acme', body);
    await stage.post('/api/v1/tenants/acme', body);

    expect(first).toMatchObject({ status: 200, body: { run: 'acme', requestId: 'request-1' } });
    expect(stage.sets).toEqual([['acme', { concurrency: null, perDay: { costUsd: 3 } }]]);
    expect(stage.lines).toMatchObject([{ action: 'set_tenant', run: 'acme', outcome: 'done' }]);
  });

  it('refuse who may only look, other fields, and what the client refuses', async () => {
    const stage = stageOf([]);
    const body = { requestId: 'request-1', weight: 2 };

    expect(await stage.post('/api/v1/tenants/acme', body, { token: READ_TOKEN })).toMatchObject({
      status: 403,
    });
    for (const wrong of ['[', [], { ...body, taskQueues: ['x'] }, { weight: 2 }]) {
      expect(await stage.post('/api/v1/tenants/acme', wrong)).toMatchObject({
        status: 400,
        body: { code: 'invalid_input' },
      });
    }
    expect(await stage.post('/api/v1/tenants/a%20b', body)).toMatchObject({
      status: 400,
      body: { code: 'invalid_input', message: 'Expected a tenant.' },
    });
    expect(stage.sets).toEqual([]);
  });
});
