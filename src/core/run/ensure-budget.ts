/**
 * Budget for work under the limits of ancestors: a run whose lease is too small asks its parent for
 * more before it stops.
 *
 * I1  A request is sent again until it is answered: messages may be lost, and each answer gives
 *     totals.
 * I2  A wait for an answer ends at once when the run is stopped or an input interrupts.
 * I3  While children have yet to return what a lowered limit takes back, no work is refused for
 *     lack of budget.
 */
import { defined } from '../base/defined.ts';
import type { Numbers } from '../contract/stats.ts';
import { chargedOf } from '../tenant/fork-share.ts';
import { totalsOf } from '../tree/child-totals.ts';
import { isHeldByCalls, missingOf } from '../tree/cover.ts';
import { lowLeases, overdrawn, shortLeases } from '../tree/ledger.ts';
import { areNeedsAwaited, returnsOf } from '../tree/recall.ts';
import type { LeaseRequest } from '../contract/tree-messages.ts';
import { ledgerOf, type Run } from './run.ts';
import type { RunState } from './run-state.ts';

/** How long an answer may take before the request is sent again; doubles up to `maxMs`. */
const RESEND = { firstMs: 2_000, maxMs: 300_000 } as const;

/**
 * Gets the budget that new work needs, by base key; undefined when there is no need to wait. If the
 * budget is refused, a breach is recorded here, or `run.wouldCross` finds it.
 */
export function ensureBudget(run: Run, needs: Numbers): Promise<void> | undefined {
  const { leases = [], children = [] } = run.state;
  if (isHeldByCalls(run.ledger, needs)) return awaitReturns(run, needs);
  if (leases.length === 0 && children.length === 0) return undefined;
  if (areNeedsAwaited(run.ledger, needs)) return awaitReturns(run, needs);
  if (shortLeases(run.ledger, needs).length > 0) return awaitLeases(run, needs);
  requestEarly(run);
  stopOverdrawn(run);
  return undefined;
}

/** Gets the budget for calls of `tools`; undefined when there is no need to wait. */
export function ensureCallBudget(run: Run, tools: readonly string[]): Promise<void> | undefined {
  const { leases = [], children = [] } = run.state;
  const isAwaited = children.some(({ awaited }) => awaited !== undefined);
  if (leases.length === 0 && !isAwaited) return undefined;
  const needs: Record<string, number> = {};
  for (const tool of tools) {
    for (const key of ['agent:tool_calls', `agent:tool_calls:${tool}`]) {
      needs[key] = (needs[key] ?? 0) + 1;
    }
  }
  return ensureBudget(run, needs);
}

/**
 * Asks the parent for more of `wants`, and waits for its answer or until the run must leave.
 * `missing`: by lease, how much more than is granted is needed.
 */
export async function requestMore(
  run: Run,
  wants: readonly string[],
  missing?: Numbers,
): Promise<void> {
  const number = recordRequest(run, wants);
  const isOver = (): boolean => (run.state.leaseAnswered ?? 0) >= number || run.mustLeave();
  for (
    let waitMs: number = RESEND.firstMs;
    !isOver();
    waitMs = Math.min(waitMs * 2, RESEND.maxMs)
  ) {
    sendRequest(run, number, { wants, missing });
    await run.host.waits.until(isOver, run.host.now() + waitMs);
  }
}

/**
 * Waits until children and model calls in flight have returned what is needed, then gets what is
 * still missing.
 */
async function awaitReturns(run: Run, needs: Numbers): Promise<void> {
  const isAwaited = (): boolean =>
    isHeldByCalls(run.ledger, needs) || areNeedsAwaited(run.ledger, needs);
  await run.host.waits.until(() => run.mustLeave() || !isAwaited());
  if (!run.mustLeave()) await ensureBudget(run, needs);
}

async function awaitLeases(run: Run, needs: Numbers): Promise<void> {
  for (;;) {
    const wants = shortLeases(run.ledger, needs).map(({ id }) => id);
    if (wants.length === 0 || run.mustLeave()) return;
    await requestMore(run, wants, missingOf(run.ledger, needs));
    const left = shortLeases(run.ledger, needs);
    if (left.some(({ refused }) => refused !== undefined)) break;
  }
  stopOverdrawn(run);
}

/** Asks for more, without waiting, while there is still enough to continue. */
function requestEarly(run: Run): void {
  const { leaseAsked = 0, leaseAnswered = 0 } = run.state;
  if (leaseAsked > leaseAnswered) return;
  const wants = lowLeases(run.ledger).map(({ id }) => id);
  if (wants.length > 0) sendRequest(run, recordRequest(run, wants), { wants });
}

/** Ends the run when more is spent and reserved than it may use. */
function stopOverdrawn(run: Run): void {
  const breach = overdrawn(run.ledger);
  if (breach !== null) run.breach(breach);
}

/** Records a request; returns its number. */
function recordRequest(run: Run, wants: readonly string[]): number {
  run.record({ type: 'agent:lease:asked', wants });
  return run.state.leaseAsked ?? 0;
}

function sendRequest(
  { host, state }: Run,
  number: number,
  asked: { readonly wants: readonly string[]; readonly missing?: Numbers | undefined },
): void {
  const kind = 'lease-request';
  const message = {
    v: 1,
    kind,
    childId: host.link.address,
    number,
    ...defined(asked),
    ...spendingOf(state),
  } as const;
  host.send({ to: 'parent', message });
}

/** What each message to the parent, or the ledger of a tenant, reports: what is spent, and what is kept of recalled leases. */
export function spendingOf(state: RunState): Pick<LeaseRequest, 'totals' | 'returned'> {
  const returned = returnsOf(ledgerOf(state));
  return defined({
    totals: chargedOf(totalsOf(state.stats), state.fork?.kept),
    returned: returned.length === 0 ? undefined : returned,
  });
}
