/** How a worker reaches ledgers of tenants. */
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { LRUCache } from 'lru-cache';
import type { TenantPort } from '../../activities/tenant-activities.ts';
import { dayIn, isTimeZone } from '../../client/tenants/day.ts';
import { settingsOfLedger } from '../../client/tenants/ledger-settings.ts';
import {
  ledgerIdOf,
  TENANT_MEMO,
  TENANT_WORKFLOW,
  type TenantSettings,
} from '../../core/tenant/tenant-messages.ts';

/** How long a worker believes that a tenant has a ledger, or none. */
const KNOWN_MS = 5_000;

/** Runs that are looked at beside each other. */
const LOOKS = 10;

/** Tenants that a worker knows. */
const MAX_KNOWN = 10_000;

/** The port over `client`. */
export function createTenantPort(client: Client): TenantPort {
  const known = new LRUCache<string, { readonly settings: TenantSettings | null }>({
    max: MAX_KNOWN,
    ttl: KNOWN_MS,
  });
  const settingsOf = async (tenant: string): Promise<TenantSettings | null> => {
    const found = known.get(tenant);
    if (found !== undefined) return found.settings;
    const settings = await settingsOfLedger(client, tenant);
    known.set(tenant, { settings });
    return settings;
  };
  return {
    hasLedger: async (tenant) => {
      try {
        return (await settingsOf(tenant)) !== null;
      } catch {
        // The run asks the ledger itself, for as long as it takes.
        return true;
      }
    },
    rateOf: async (tenant) => {
      try {
        return (await settingsOf(tenant))?.rate;
      } catch {
        // The next request asks again.
        return undefined;
      }
    },
    tell: async ({ tenant, taskQueue, signal, message }) => {
      const workflowId = ledgerIdOf(tenant);
      const settings = await settingsOfLedger(client, tenant);
      const memo = settings === null ? undefined : { [TENANT_MEMO]: settings };
      await client.workflow.signalWithStart(TENANT_WORKFLOW, {
        workflowId,
        taskQueue,
        args: [{ v: 1, tenant, settings }],
        signal,
        signalArgs: [message],
        ...(memo === undefined ? undefined : { memo }),
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        priority: { fairnessKey: tenant },
      });
    },
    dayIn: (timeZone, at) => dayIn(isTimeZone(timeZone) ? timeZone : 'UTC', at),
    endedOf: async (runs, beat) => {
      const ended: string[] = [];
      for (let first = 0; first < runs.length; first += LOOKS) {
        beat();
        const some = runs.slice(first, first + LOOKS);
        const found = await Promise.all(some.map((run) => hasEnded(client, run)));
        ended.push(...some.filter((_run, place) => found[place]));
      }
      return ended;
    },
  };
}

async function hasEnded(client: Client, run: string): Promise<boolean> {
  try {
    const { status } = await client.workflow.getHandle(run).describe();
    return status.name !== 'RUNNING' && status.name !== 'PAUSED';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return true;
    throw error;
  }
}
