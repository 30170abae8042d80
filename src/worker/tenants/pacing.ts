/** What paces the requests of a worker: settings of tenants, and counters of all workers. */
import type { Client } from '@temporalio/client';
import { createPermits, type Permits } from '../../activities/permits/permits.ts';
import { createRates, type Rates } from '../../activities/rates.ts';
import type { TenantPort } from '../../activities/tenant-activities.ts';
import { createAskCounter } from './ask-counter.ts';
import { createTenantPort } from './tenant-port.ts';

/** The parts of activities that pace requests. */
export interface Pacing {
  readonly tenants: TenantPort;
  readonly rates: Rates;
  readonly permits: Permits;
}

/** Paces requests over `client`; counters are started on `taskQueue`. */
export function createPacing(client: Client, taskQueue: string): Pacing {
  const ask = createAskCounter(client, taskQueue);
  return {
    tenants: createTenantPort(client),
    rates: createRates(ask),
    permits: createPermits(ask),
  };
}
