/** How a run reaches the ledger of its tenant. */
import { getExternalWorkflowHandle, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { TenantActivities } from '../../activities/activity-types.ts';
import { ledgerIdOf, TENANT_MESSAGES } from '../../core/tenant/tenant-messages.ts';
import type { LeaseRequest } from '../../core/contract/tree-messages.ts';

/** The service repeats the request for as long as it takes. */
const ASK_OPTIONS = {
  startToCloseTimeout: '30s',
  retry: { initialInterval: '500ms', maximumInterval: '1m' },
} as const;

/** Signals the ledger of a tenant, and starts it if it is not there. */
export function askLedger(tenant: string, signal: string, message: object): Promise<void> {
  const { askTenant } = proxyActivities<TenantActivities>(ASK_OPTIONS);
  const { taskQueue } = workflowInfo();
  return askTenant({ tenant, taskQueue, signal, message });
}

/** Asks the ledger for more of a budget; begins it anew if it is lost. */
export async function requestOfTenant(tenant: string, request: LeaseRequest): Promise<void> {
  try {
    await getExternalWorkflowHandle(ledgerIdOf(tenant)).signal(TENANT_MESSAGES.request, request);
  } catch {
    await askLedger(tenant, TENANT_MESSAGES.request, request).catch(() => undefined);
  }
}
