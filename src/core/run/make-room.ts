/**
 * Room for work under the limits of ancestors: a run that lives on leases asks its parent for more
 * before it stops. Asynchronous, like `work.ts`, of which it is a part.
 *
 * I1  A request is sent again until it is answered: messages may be lost, and an answer says totals.
 * I2  What waits for an answer ends at once when the run is to stop, or an input interrupts.
 * I3  While children are yet to say what they keep of a lowered limit, nothing is refused for want of it.
 */
import type { Numbers } from '../contract/stats.ts';
import { totalsOf } from '../tree/child-totals.ts';
import { lowLeases, overdrawn, shortLeases } from '../tree/ledger.ts';
import { areNeedsAwaited, returnsOf } from '../tree/recall.ts';
import type { LeaseRequest } from '../contract/tree-messages.ts';
import type { Host } from './host.ts';
import { isInterrupted, isStopped, ledgerOf, type Run } from './run.ts';
import type { RunState } from './run-state.ts';

/** How long an answer may take before the request is sent again; doubles up to the second number. */
const RESEND = { firstMs: 2_000, maxMs: 300_000 } as const;

/**
 * Sees to room for `needs`, work that is to start, by base key. Undefined when there is no need to wait.
 * What does not fit after all is a breach, or is found by `run.wouldCross`.
 */
export function makeRoom(run: Run, host: Host, needs: Numbers): Promise<void> | undefined {
  const { leases = [], children = [] } = run.state;
  if (leases.length === 0 && children.length === 0) return undefined;
  if (areNeedsAwaited(ledgerOf(run.state), needs)) return roomBelow(run, host, needs);
  if (shortLeases(ledgerOf(run.state), needs).length > 0) return askForRoom(run, host, needs);
  askEarly(run, host);
  stopOverdrawn(run);
  return undefined;
}

/** Sees to room for calls of `tools`; undefined when there is no need to wait. */
export function roomForCalls(
  run: Run,
  host: Host,
  tools: readonly string[],
): Promise<void> | undefined {
  const { leases = [], children = [] } = run.state;
  const isAwaited = children.some(({ awaited }) => awaited !== undefined);
  if (leases.length === 0 && !isAwaited) return undefined;
  const needs: Record<string, number> = {};
  for (const tool of tools) {
    for (const key of ['agent:tool_calls', `agent:tool_calls:${tool}`]) {
      needs[key] = (needs[key] ?? 0) + 1;
    }
  }
  return makeRoom(run, host, needs);
}

/** Asks the parent for more of `wants`, and waits for its answer or for a reason not to. */
export async function requestMore(run: Run, host: Host, wants: readonly string[]): Promise<void> {
  const number = ask(run, wants);
  const isOver = (): boolean =>
    (run.state.leaseAnswered ?? 0) >= number || isStopped(run, host) || isInterrupted(host);
  for (
    let waitMs: number = RESEND.firstMs;
    !isOver();
    waitMs = Math.min(waitMs * 2, RESEND.maxMs)
  ) {
    host.send({ to: 'parent', message: requestOf(run, host, number, wants) });
    await host.waits.until(isOver, host.now() + waitMs);
  }
}

/** Waits for room that children are to return, then sees to what is missing. */
async function roomBelow(run: Run, host: Host, needs: Numbers): Promise<void> {
  const isOver = (): boolean => isStopped(run, host) || isInterrupted(host);
  await host.waits.until(() => isOver() || !areNeedsAwaited(ledgerOf(run.state), needs));
  if (!isOver()) await makeRoom(run, host, needs);
}

async function askForRoom(run: Run, host: Host, needs: Numbers): Promise<void> {
  for (;;) {
    const short = shortLeases(ledgerOf(run.state), needs);
    if (short.length === 0 || isStopped(run, host) || isInterrupted(host)) return;
    await requestMore(
      run,
      host,
      short.map(({ id }) => id),
    );
    const left = shortLeases(ledgerOf(run.state), needs);
    if (left.some(({ refused }) => refused !== undefined)) break;
  }
  stopOverdrawn(run);
}

/** More is asked for while there is still enough to go on with; nobody waits for it. */
function askEarly(run: Run, host: Host): void {
  const { leaseAsked = 0, leaseAnswered = 0 } = run.state;
  if (leaseAsked > leaseAnswered) return;
  const wants = lowLeases(ledgerOf(run.state)).map(({ id }) => id);
  if (wants.length === 0) return;
  const number = ask(run, wants);
  host.send({ to: 'parent', message: requestOf(run, host, number, wants) });
}

/** More is spent and reserved than may be: no further work. */
function stopOverdrawn(run: Run): void {
  const breach = overdrawn(ledgerOf(run.state));
  if (breach !== null) run.breach(breach);
}

/** Records a request; gives its number. */
function ask(run: Run, wants: readonly string[]): number {
  run.record({ type: 'agent:lease:asked', wants });
  return run.state.leaseAsked ?? 0;
}

function requestOf(run: Run, host: Host, number: number, wants: readonly string[]): LeaseRequest {
  const report = reportOf(run.state);
  return { v: 1, kind: 'lease-request', childId: host.address, number, wants, ...report };
}

/** What each message to the parent says: what is spent, and what is kept of leases that were recalled. */
export function reportOf(state: RunState): Pick<LeaseRequest, 'totals' | 'returned'> {
  const totals = totalsOf(state.stats);
  const returned = returnsOf(ledgerOf(state));
  return returned.length === 0 ? { totals } : { totals, returned };
}
