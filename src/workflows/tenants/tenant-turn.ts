/**
 * The turn of a run among the runs of its tenant: it waits for it before it begins, and gives it back
 * at its end.
 *
 * I1  Only a run whose worker has seen that the tenant has a ledger waits, and only a root: children
 *     are part of their root's turn.
 * I2  A ledger that is lost is begun anew by the next request, with its settings: `askTenant` starts
 *     it if it is not there. So a run asks again, ever more rarely, until it has an answer.
 * I3  A wait ends with a cancel. Inputs wait in the inbox, as before a run is loaded.
 */
import {
  CancellationScope,
  condition,
  getExternalWorkflowHandle,
  isCancellation,
  workflowInfo,
} from '@temporalio/workflow';
import type { Numbers } from '../../core/contract/stats.ts';
import { ledgerIdOf, TENANT_MESSAGES, type TenantTurn } from '../../core/tenant/tenant-messages.ts';
import { askLedger } from './ask-ledger.ts';

/** When a run that waits asks again, in milliseconds: doubling from the first. */
const ASK_AGAIN_MS = { first: 60_000, most: 600_000 } as const;

/** What a run knows while it waits. */
export interface Waiting {
  /** The turn, once the ledger has given it. */
  readonly turn: () => TenantTurn | null;
  readonly isCanceled: () => boolean;
}

/** Waits for the turn; null: a user canceled the run. Rejects with a native cancellation. */
export async function awaitTurn(tenant: string, waiting: Waiting): Promise<TenantTurn | null> {
  const isOver = (): boolean => waiting.turn() !== null || waiting.isCanceled();
  let waitMs: number = ASK_AGAIN_MS.first;
  for (;;) {
    await join(tenant, isOver);
    if (!isOver()) await condition(isOver, waitMs);
    if (waiting.isCanceled()) return null;
    const turn = waiting.turn();
    if (turn !== null) return turn;
    waitMs = Math.min(waitMs * 2, ASK_AGAIN_MS.most);
  }
}

async function join(tenant: string, isOver: () => boolean): Promise<void> {
  const scope = new CancellationScope({ cancellable: true });
  // A native cancel rejects this too, and reaches the scope by itself.
  void condition(isOver).then(
    () => scope.cancel(),
    () => undefined,
  );
  try {
    const { workflowId: run } = workflowInfo();
    await scope.run(() => askLedger(tenant, TENANT_MESSAGES.join, { v: 1, run }));
  } catch (error) {
    const isNative = CancellationScope.current().consideredCancelled;
    if (!isCancellation(error) || isNative) throw error;
  }
}

/** Gives the turn back; settles when the ledger has heard it, or is gone. */
export async function leaveTenant(tenant: string, totals: Numbers): Promise<void> {
  const { workflowId: run } = workflowInfo();
  await CancellationScope.nonCancellable(() =>
    getExternalWorkflowHandle(ledgerIdOf(tenant))
      .signal(TENANT_MESSAGES.leave, { v: 1, run, totals })
      .catch(() => undefined),
  );
}
