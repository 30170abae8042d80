/** Tenants: what the server of the console says of them, and what sets them. */
import type { TenantOptions } from '../client/tenants/tenants.ts';
import type { ActionRequest } from './api-actions.ts';
import type { PartialAnswer } from './api.ts';
import type { TenantRow } from './view/tenants.ts';

/** GET `/tenants?q&from`: at most 50 by name, of those whose names contain `q`. */
export interface TenantsAnswer extends PartialAnswer {
  readonly tenants: readonly TenantRow[];
  /** How many fit in all. */
  readonly total: number;
}

/** POST `/tenants/:name`: null removes a setting, what is absent stays. */
export interface SetTenantRequest
  extends ActionRequest, Pick<TenantOptions, 'concurrency' | 'perDay' | 'weight' | 'timeZone'> {}
