/**
 * The tenants of a fleet: what is set for them, and how they stand. Settings are kept by a workflow
 * for each tenant, which gives its runs their turns and their parts of the budgets of a day.
 */
import {
  WithStartWorkflowOperation,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
  type Client,
} from '@temporalio/client';
import type { Workflow } from '@temporalio/common';
import type { Rate } from '../../core/base/rate.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import { defined } from '../../core/base/defined.ts';
import { ownName } from '../../core/base/ids.ts';
import {
  ledgerIdOf,
  TENANT_MEMO,
  TENANT_MESSAGES,
  TENANT_WORKFLOW,
  type TenantChange,
  type TenantSettings,
  type TenantView,
} from '../../core/tenant/tenant-messages.ts';
import { tenantProblem } from '../../core/tenant/tenant.ts';
import { isTimeZone } from './day.ts';
import {
  changeProblem,
  dayKeysOf,
  dayLimitsProblem,
  readSettings,
  type DayLimits,
} from '../../core/tenant/settings.ts';
import { shown } from '../../core/text/shown.ts';
import { readListPage } from '../connection/list-queries.ts';
import { querying } from '../connection/service-calls.ts';
import { coded, grpcCodeOf } from '../connection/service-errors.ts';
import { settingsOfLedger } from './ledger-settings.ts';
import { setWeight } from './fairness-weights.ts';

/** What to set for a tenant: null removes a setting, what is absent stays as it is. */
export interface TenantOptions {
  /** Runs at once, without their children, from 1 to 5000; others wait for their turn. */
  readonly concurrency?: number | null;
  /** What its runs may spend in a day, such as `{ costUsd: 20 }`; replaces all its budgets. */
  readonly perDay?: DayLimits | null;
  /** Its share of a busy task queue beside other tenants, from 0.001 to 1000; default 1. */
  readonly weight?: number | null;
  /**
   * What its runs may ask of all providers in a minute, such as `{ requestsPerMinute: 60 }`. Requests
   * beyond it wait.
   */
  readonly rate?: Rate | null;
  /** IANA name of the zone in which a day begins at midnight. Default `UTC`. */
  readonly timeZone?: string;
  /** The task queues that `weight` is for. Default: that of this client. */
  readonly taskQueues?: readonly string[];
}

/** A tenant in a list. */
export interface TenantSummary {
  readonly tenant: string;
  readonly settings: TenantSettings;
}

/** Tenants that something is set for. */
export interface Tenants {
  /** All of them, at most 1,000. Asks no worker. */
  list(): Promise<readonly TenantSummary[]>;
  /**
   * How a tenant stands; null: nothing is set for it, so its runs wait for nothing.
   * @throws UsageError `no_worker` when no worker answers.
   */
  show(tenant: string): Promise<TenantView | null>;
  /**
   * Sets what its runs may do at once, and in a day. Runs that began before anything was set, and
   * budgets of runs that began before the first budget, are not bounded.
   * @throws UsageError `invalid_input` for a name or a setting that cannot be; `no_worker`.
   */
  set(tenant: string, options: TenantOptions): Promise<TenantView>;
}

/** How long a ledger has to take a change. */
const SET_WITHIN_MS = 15_000;

/** Tenants of a list. */
const MAX_LISTED = 1_000;

/** The tenants of `client`, whose runs are on `taskQueue`. */
export function createTenants(client: Client, taskQueue: string): Tenants {
  return coded<Tenants>({
    list: () => listTenants(client),
    show: async (name) => {
      const tenant = checkedName(name);
      if ((await settingsOfLedger(client, tenant)) === null) return null;
      const id = ledgerIdOf(tenant);
      const handle = client.workflow.getHandle(id);
      return querying(id, client, () => handle.query<TenantView>(TENANT_MESSAGES.view));
    },
    set: async (name, options) => {
      const tenant = checkedName(name);
      const change = changeOf(options);
      const { taskQueues = [taskQueue] } = options;
      if (change.weight !== undefined) await setWeight(client, tenant, change.weight, taskQueues);
      return applyChange(client, tenant, change, taskQueue);
    },
  });
}

function checkedName(tenant: string): string {
  const problem = tenantProblem(tenant);
  if (problem === undefined) return tenant;
  throw invalid(problem);
}

/** The change that `options` ask for. */
function changeOf({ concurrency, perDay, weight, rate, timeZone }: TenantOptions): TenantChange {
  const wrong = perDay === undefined || perDay === null ? undefined : dayLimitsProblem(perDay);
  if (wrong !== undefined) throw invalid(wrong);
  if (timeZone !== undefined && !isTimeZone(timeZone)) {
    throw invalid(
      `Expected \`timeZone\` to be an IANA name such as Europe/Vienna, got ${shown(timeZone)}. Change it.`,
    );
  }
  const keys = perDay === undefined || perDay === null ? perDay : dayKeysOf(perDay);
  const change = defined({ concurrency, weight, perDay: keys, rate, timeZone });
  const problem = changeProblem(change);
  if (problem !== undefined) throw invalid(problem);
  if (Object.keys(change).length > 0) return change;
  throw invalid(
    'Expected something to set of concurrency, perDay, rate, weight and timeZone, got nothing. Name one.',
  );
}

async function applyChange(
  client: Client,
  tenant: string,
  change: TenantChange,
  taskQueue: string,
): Promise<TenantView> {
  const settings = (await settingsOfLedger(client, tenant)) ?? undefined;
  const startWorkflowOperation = new WithStartWorkflowOperation(TENANT_WORKFLOW, {
    workflowId: ledgerIdOf(tenant),
    taskQueue,
    args: [{ v: 1, tenant, ...defined({ settings }) }],
    workflowIdConflictPolicy: 'USE_EXISTING',
    ...(settings === undefined ? undefined : { memo: { [TENANT_MEMO]: settings } }),
  });
  try {
    return await client.withDeadline(Date.now() + SET_WITHIN_MS, () =>
      client.workflow.executeUpdateWithStart<Workflow, TenantView, [TenantChange]>(
        TENANT_MESSAGES.set,
        {
          args: [change],
          startWorkflowOperation,
        },
      ),
    );
  } catch (error) {
    if (error instanceof WorkflowUpdateFailedError) throw invalid(error.cause?.message ?? '');
    const isLate =
      error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || grpcCodeOf(error) === 4;
    if (!isLate) throw error;
    throw new UsageError(
      'no_worker',
      `Expected a worker of task queue \`${taskQueue}\` to take the settings of tenant \`${tenant}\`, got silence. Start one; the change may still arrive.`,
    );
  }
}

async function listTenants(client: Client): Promise<readonly TenantSummary[]> {
  const query = `WorkflowType = '${TENANT_WORKFLOW}' AND ExecutionStatus = 'Running'`;
  const { infos } = await readListPage(client, { query, pageSize: MAX_LISTED, token: null });
  const summaries = infos.flatMap(({ workflowId, memo = {} }) => {
    const tenant = ownName('ledger', workflowId);
    return tenant === undefined ? [] : [{ tenant, settings: readSettings(memo[TENANT_MEMO]) }];
  });
  return summaries.toSorted((a, b) => (a.tenant < b.tenant ? -1 : 1));
}

function invalid(message: string): UsageError {
  return new UsageError('invalid_input', message);
}
