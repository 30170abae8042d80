/** The activities around ledgers of tenants. */
import { Context } from '@temporalio/activity';
import type { Rate } from '../core/base/rate.ts';
import type { Day } from '../core/tenant/ledger.ts';
import type { TenantActivities, TenantOrder } from './activity-types.ts';

/** What the activities need of the service. */
export interface TenantPort {
  /** Whether a tenant has a ledger, or had one that is lost. */
  readonly hasLedger: (tenant: string) => Promise<boolean>;
  /** What the runs of a tenant may ask of providers; undefined: anything. */
  readonly rateOf: (tenant: string) => Promise<Rate | undefined>;
  /** Signals a ledger, and starts it if it is not there. */
  readonly tell: (order: TenantOrder) => Promise<void>;
  /** The day of a moment in a time zone; of UTC if this worker does not know the zone. */
  readonly dayIn: (timeZone: string, at: number) => Day;
  /** Those of `runs` that have ended, or that the service does not know. */
  readonly endedOf: (runs: readonly string[], beat: () => void) => Promise<readonly string[]>;
}

/** The activities of a worker that reaches the service by `port`. */
export function createTenantActivities(port: TenantPort): TenantActivities {
  return {
    askTenant: port.tell,
    tenantDay: async ({ timeZone, at }) => port.dayIn(timeZone, at),
    endedRuns: ({ runs }) => {
      const context = Context.current();
      return port.endedOf(runs, () => context.heartbeat());
    },
  };
}

const DAY_MS = 86_400_000;

/** The port of a worker without a service: tenants have no ledgers. */
export const NO_TENANTS: TenantPort = {
  hasLedger: () => Promise.resolve(false),
  rateOf: () => Promise.resolve(undefined),
  tell: () => Promise.resolve(),
  dayIn: (_timeZone, at) => ({
    date: new Date(at).toISOString().slice(0, 10),
    endsAt: at + DAY_MS,
  }),
  endedOf: () => Promise.resolve([]),
};
