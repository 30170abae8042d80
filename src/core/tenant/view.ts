/** How a tenant stands, as people see it. */
import type { TenantView } from './tenant-messages.ts';
import { budgetsOf, type TenantLedger } from './ledger.ts';

/** Runs that a view names. */
const MAX_NAMED = 100;

/** The view of a ledger. */
export function viewOf(ledger: TenantLedger): TenantView {
  const { tenant, settings, day, holders, queue } = ledger;
  return {
    tenant,
    settings,
    day: day?.date ?? null,
    dayEndsAt: day?.endsAt ?? null,
    budgets: budgetsOf(ledger).map(({ limit, used, reserved }) => {
      return { key: limit.key, max: limit.max, used, reserved };
    }),
    running: holders.slice(0, MAX_NAMED).map(({ run }) => run),
    waiting: queue.slice(0, MAX_NAMED),
    runs: holders.length,
    waits: queue.length,
    short: holders.filter(({ asked }) => asked !== undefined).length,
  };
}
