/** The settings of a ledger, as its memo has them: they are known while no worker answers. */
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import {
  ledgerIdOf,
  TENANT_MEMO,
  TENANT_WORKFLOW,
  type TenantSettings,
} from '../../core/tenant/tenant-messages.ts';
import { readSettings } from '../../core/tenant/settings.ts';

/** The settings of the newest ledger of a tenant, also of one that is lost; null: it never had one. */
export async function settingsOfLedger(
  client: Client,
  tenant: string,
): Promise<TenantSettings | null> {
  try {
    const { type, memo = {} } = await client.workflow.getHandle(ledgerIdOf(tenant)).describe();
    return type === TENANT_WORKFLOW ? readSettings(memo[TENANT_MEMO]) : null;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}
