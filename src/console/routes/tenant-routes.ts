/** Tenants: what is set for them, how they stand, and what sets them. */
import { defined } from '../../core/base/defined.ts';
import { dayNameOf, dayValueOf, type DayLimits } from '../../core/tenant/settings.ts';
import { inTurns } from '../../client/connection/in-turns.ts';
import type { TenantOptions, TenantSummary } from '../../client/tenants/tenants.ts';
import type { MissingPart } from '../api.ts';
import type { TenantsAnswer } from '../api-tenants.ts';
import { within } from '../bounded-reads.ts';
import { apiErrorOf } from '../refusal.ts';
import { numberIn, readBody } from '../request-body.ts';
import type { TenantRow, TenantStanding } from '../view/tenants.ts';
import type { AddRoutes } from './route-parts.ts';

/** Tenants of an answer: each is asked how it stands. */
const MAX_TENANTS = 50;

/** How long all tenants of an answer may take, in ms. */
const STANDING_MS = 6_000;

const FROM = { least: 0, most: 1_000, fallback: 0 };

const FIELDS = ['requestId', 'concurrency', 'perDay', 'weight', 'timeZone'];

/** Adds `GET /tenants` and `POST /tenants/:name`. */
export const addTenantRoutes: AddRoutes = (app, { everloop, reads, act }) => {
  const { tenants } = everloop;
  app.get('/tenants', async (c) => {
    const { q = '', from } = c.req.query();
    const first = numberIn(from, 'from', FROM);
    const all = await reads.once('tenants', () => tenants.list());
    const fitting = all.filter(({ tenant }) => tenant.toLowerCase().includes(q.toLowerCase()));
    const partial: MissingPart[] = [];
    const until = performance.now() + STANDING_MS;
    const standingOf = async (tenant: string): Promise<TenantStanding | null> => {
      const left = Math.max(0, until - performance.now());
      try {
        const read = reads.once(`tenant ${tenant}`, () => tenants.show(tenant));
        const view = await within(left, read);
        if (view === null) return null;
        const { tenant: _name, settings: _settings, ...standing } = view;
        return standing;
      } catch (error) {
        const { code, message } = apiErrorOf(error);
        partial.push({ part: tenant, code, message });
        return null;
      }
    };
    const rows = await inTurns(fitting.slice(first, first + MAX_TENANTS), async (summary) =>
      rowOf(summary, await standingOf(summary.tenant)),
    );
    const answer: TenantsAnswer = {
      tenants: rows,
      total: fitting.length,
      ...defined({ partial: partial.length === 0 ? undefined : partial }),
    };
    return c.json(answer);
  });
  app.post('/tenants/:name', async (c) => {
    const tenant = c.req.param('name');
    const { requestId, ...options } = await readBody(c.req.raw, FIELDS);
    const order = { name: 'set_tenant', asker: c.get('asker'), run: tenant };
    const answer = await act({ ...order, body: { requestId, ...options } }, async () => {
      // The client checks each setting.
      await tenants.set(tenant, options as TenantOptions);
      return { run: tenant };
    });
    return c.json(answer);
  });
};

function rowOf({ tenant, settings }: TenantSummary, standing: TenantStanding | null): TenantRow {
  const { perDay = {}, ...rest } = settings;
  const limits = Object.entries(perDay).map(([key, max]) => [dayNameOf(key), dayValueOf(key, max)]);
  return { tenant, ...rest, perDay: Object.fromEntries(limits) as DayLimits, standing };
}
