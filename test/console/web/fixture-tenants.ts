/** Fixed tenants. */
import type { TenantsAnswer } from '../../../src/console/api-tenants.ts';
import type { TenantRow } from '../../../src/console/view/tenants.ts';
import { FIXTURE_NOW } from './fixture-data.ts';

const TENANTS: readonly TenantRow[] = [
  {
    tenant: 'acme',
    concurrency: 20,
    weight: 2,
    timeZone: 'Europe/Vienna',
    perDay: { costUsd: 50, totalTokens: 10_000_000 },
    standing: {
      day: '2026-03-10',
      dayEndsAt: FIXTURE_NOW + 3 * 3_600_000,
      budgets: [
        { key: 'agent:cost_microusd', max: 50_000_000, used: 46_000_000, reserved: 2_000_000 },
        { key: 'agent:total_tokens', max: 10_000_000, used: 1_200_000, reserved: 0 },
      ],
      running: ['acme:order-7'],
      waiting: ['acme:order-8', 'acme:order-9'],
      runs: 20,
      waits: 2,
      short: 1,
    },
  },
  { tenant: 'globex', timeZone: 'UTC', perDay: {}, concurrency: 5, standing: null },
  {
    tenant: '<b>hostile</b>\u202E',
    timeZone: '<script>document.title=6</script>',
    perDay: {},
    standing: {
      day: null,
      dayEndsAt: null,
      budgets: [],
      running: [],
      waiting: [],
      runs: 0,
      waits: 0,
      short: 0,
    },
  },
];

/** The answer to GET `/tenants`. */
export function tenantsAnswer(query: URLSearchParams): TenantsAnswer {
  const q = query.get('q') ?? '';
  const tenants = TENANTS.filter(({ tenant }) => tenant.includes(q));
  const message = 'No worker serves tenant `globex`. Start one.';
  const partial = [{ part: 'globex', code: 'no_worker' as const, message }];
  return { tenants, total: tenants.length, ...(q === '' ? { partial } : {}) };
}
