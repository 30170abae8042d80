/**
 * The messages between a run and its parent and children: how it handles those that it gets, and
 * which it sends. Messages act at once, between two steps of the loop, as an adjustment does.
 *
 * I1  Nothing here relies on a message: a lost, late or repeated one changes no sum and no budget.
 * I2  Messages of a child that has ended are ignored: its end has reported everything.
 * I3  A request is answered once; when it comes again, the answer is repeated.
 * I4  A recall is repeated at each report of a child that has not said what it keeps.
 * I5  A message of the parent that comes while nothing can be recorded is kept until the run begins
 *     or goes on.
 */
import { defined } from '../base/defined.ts';
import { grantedTo } from '../tenant/fork-share.ts';
import { isGrantHeld } from '../tree/cover.ts';
import { addedByReport, type OpenChild } from '../tree/child-totals.ts';
import { committed, emptyLeases, grantMore } from '../tree/ledger.ts';
import type { LeaseAnswer } from '../contract/lease.ts';
import type { Numbers } from '../contract/stats.ts';
import type {
  ChildCancel,
  ChildMessage,
  DeadlineChange,
  LeaseRequest,
  ParentMessage,
  ProgressMessage,
} from '../contract/tree-messages.ts';
import { isRoomAwaited, recallsOf, returnsOf } from '../tree/recall.ts';
import { EMPTY_INBOX, type KeptMessage, type Mailbox } from '../run/inbox.ts';
import { reportedItems } from '../people/listed-waits.ts';
import { requestMore, spendingOf } from '../run/ensure-budget.ts';
import { pendingItems } from '../run/pending-items.ts';
import { ledgerOf, sendDeadlines, type Run } from '../run/run.ts';
import type { RunState } from '../run/run-state.ts';

/** Handlers of the messages that a run gets from its parent and its children. */
export interface TreeHandlers {
  onChildMessage(message: ParentMessage): void;
  onParentMessage(message: ChildMessage): void;
  /**
   * Takes back from children what lowered limits have no room for; does nothing if there is
   * nothing.
   */
  recallLeases(): void;
}

/** When a child first reports although nothing waits in it; the gap doubles each time. */
const FIRST_REPORT_MS = 10_000;

/**
 * The handlers of a run. A child also begins to report to its parent. `onBug` gets errors beside
 * the loop, which nothing awaits.
 */
export function createTreeHandlers(run: Run, onBug: (error: unknown) => void): TreeHandlers {
  const requests = new Map<string, LeaseRequest>();
  if (run.state.parent !== undefined) reportRepeatedly(run).catch(onBug);
  return {
    onChildMessage: (message) => {
      const child = openChild(run, message.childId);
      if (child === undefined) return;
      recordReport(run, child, message);
      sendRecalls(run, message.childId);
      if (message.kind === 'lease-request') answerRequest(run, requests, message).catch(onBug);
    },
    onParentMessage: (message) => {
      const { mailbox } = run.host;
      if (message.kind === 'cancel') return onCancel(mailbox, message);
      if (run.isClosed || run.state.seq === 0) mailbox.keep(message);
      else applyMessage(run, message);
    },
    recallLeases: () => recallLeases(run),
  };
}

/** Applies what the parent sent before the run could record it. */
export function applyKeptMessages(run: Run): void {
  for (const message of run.host.mailbox.takeKept()) applyMessage(run, message);
}

/** Requests the end of the run, as its parent demands. */
export function onCancel(mailbox: Mailbox, { message, breach }: ChildCancel): void {
  mailbox.cancel({ reason: 'parent_canceled', message, ...defined({ breach }) });
}

function applyMessage(run: Run, message: KeptMessage): void {
  if (message.kind === 'deadlines') return applyDeadlines(run, message);
  const { number } = message;
  const { leases: known = [], fork } = run.state;
  const leases = grantedTo(known, message.leases, fork?.kept);
  run.record({ type: 'agent:lease:answered', number, leases });
  if (leases.some((answer) => 'recalls' in answer)) recallLeases(run);
}

/** Records the deadlines of the ancestors, and passes them on to the children. */
function applyDeadlines(run: Run, { number, deadlines }: DeadlineChange): void {
  const { parent, deadlinesHeard = 0 } = run.state;
  if (parent === undefined || number <= deadlinesHeard) return;
  run.record({ type: 'agent:deadlines:changed', number, deadlines });
  sendDeadlines(run);
}

/** Records what a message of a child reports, unless a later one has come before. */
function recordReport(run: Run, child: OpenChild, message: ParentMessage): void {
  const { childId, number, returned } = message;
  const totals = addedByReport(child, number, message.totals);
  if (totals === null) return;
  const report = message.kind === 'progress' ? message : null;
  run.record(
    {
      type: 'agent:child:report',
      childId,
      number,
      ...totals,
      ...defined({ returned, final: report?.final }),
    },
    defined({ pending: report?.pending }),
  );
}

/** Takes back from children what the budgets of the run have no room for. */
function recallLeases(run: Run): void {
  for (const { childId, leases } of recallsOf(run.ledger)) {
    const number = openChild(run, childId)?.answered ?? 0;
    run.record({ type: 'agent:child:granted', childId, number, leases });
    sendRecalls(run, childId);
  }
}

/** Sends a child all its recalls that it has not answered. */
function sendRecalls(run: Run, childId: string): void {
  const child = openChild(run, childId);
  if (child?.awaited === undefined || child.final === true) return;
  sendGrant(run, child, child.answered, lastAnswers(child, Object.keys(child.awaited)));
}

/** Why the children of a run must end: what stops the run itself, else `otherwise`. */
export function cancelOf(run: Run, otherwise = 'not needed any more'): ChildCancel {
  const { cancel } = run.host.mailbox.peek();
  const { breach, runId, head } = run.state;
  const base = { v: 1, kind: 'cancel' } as const;
  if (cancel !== null) {
    return { ...base, message: cancel.message, ...defined({ breach: cancel.breach }) };
  }
  if (breach === null) {
    return { ...base, message: run.isInterrupted() ? 'interrupted by an input' : otherwise };
  }
  // For its children, a limit of this run is one of an ancestor.
  const origin = breach.origin === 'self' ? { runId, agent: head.spec.name } : breach.origin;
  return { ...base, message: '', breach: { ...breach, origin } };
}

function openChild(run: Run, childId: string): OpenChild | undefined {
  return (run.state.children ?? []).find((child) => child.childId === childId);
}

/**
 * Answers a request of a child, after it has waited for returns of other children and asked the
 * parent for more, if it must. `requests`: the newest of each child that is being answered.
 */
async function answerRequest(
  run: Run,
  requests: Map<string, LeaseRequest>,
  request: LeaseRequest,
): Promise<void> {
  const { childId } = request;
  const isUnderWay = requests.has(childId);
  const known = openChild(run, childId);
  if (known !== undefined && known.answered >= request.number) {
    return sendGrant(run, known, known.answered, lastAnswers(known, request.wants));
  }
  requests.set(childId, request);
  // The answer that is under way will answer the newest request.
  if (isUnderWay) return;
  const newest = (): LeaseRequest => requests.get(childId) ?? request;
  let hasWaited = false;
  for (;;) {
    const { wants, missing } = newest();
    const isAwaited = (): boolean =>
      (isRoomAwaited(run.ledger, wants) || isGrantHeld(run.ledger, wants, missing)) &&
      !run.isStopped();
    if (isAwaited()) {
      hasWaited = true;
      await run.host.waits.until(() => !isAwaited());
      continue;
    }
    const empty = emptyLeases(run.ledger, wants, missing);
    if (empty.length === 0 || run.mustLeave()) break;
    const wasRefused = isAnyRefused(run, empty);
    await requestMore(run, empty, missing && missingAbove(run, missing));
    if (wasRefused || isAnyRefused(run, empty)) break;
  }
  const { number, wants, missing } = newest();
  // Children that have waited for the same returns get equal parts.
  const together = hasWaited ? requests.size : 1;
  requests.delete(childId);
  const child = openChild(run, childId);
  if (child === undefined) return;
  // A stopping run grants nothing. After a breach that a check found, children go on with what they
  // have. One that needs more must end, or it would wait forever. An interrupting input ends them
  // all.
  const isStarved = run.isInterrupted() && emptyLeases(run.ledger, wants).length > 0;
  if (run.isStopped() || isStarved) {
    return run.host.send({ to: 'child', childId, message: cancelOf(run) });
  }
  const leases = grantMore(run.ledger, { ...child, ...defined({ missing }) }, wants, together);
  run.record({ type: 'agent:child:granted', childId, number, leases });
  sendGrant(run, child, number, leases);
}

/** By lease: how much of what a child is missing must come from the parent. */
function missingAbove({ ledger }: Run, missing: Numbers): Numbers {
  return Object.fromEntries(
    ledger.leases.flatMap((lease) => {
      const more = (missing[lease.id] ?? 0) - Math.max(0, lease.granted - committed(ledger, lease));
      return more > 0 ? [[lease.id, more]] : [];
    }),
  );
}

/** Whether the parent has refused more of one of these leases. */
function isAnyRefused({ state }: Run, ids: readonly string[]): boolean {
  const { leases = [] } = state;
  return leases.some(({ id, refused }) => ids.includes(id) && refused !== undefined);
}

function sendGrant(
  { host }: Run,
  { childId }: OpenChild,
  number: number,
  leases: readonly LeaseAnswer[],
): void {
  const message = { v: 1, kind: 'lease-grant', number, leases } as const;
  host.send({ to: 'child', childId, message });
}

/** What was answered before; a lease that is gone was lifted. */
function lastAnswers({ leases }: OpenChild, wants: readonly string[]): readonly LeaseAnswer[] {
  return wants.map((id): LeaseAnswer => {
    const lease = leases.find((one) => one.id === id);
    if (lease === undefined) return { id, lifted: true };
    const { granted, recalls, refused } = lease;
    return { id, granted, ...defined({ recalls, refused }) };
  });
}

/**
 * Reports to the parent: at once when what waits for people changes, or when the run knows what it
 * keeps of a recalled lease; otherwise at growing intervals.
 */
async function reportRepeatedly(run: Run): Promise<void> {
  const { host } = run;
  let reported = urgentPart(run.state);
  let gapMs = FIRST_REPORT_MS;
  let nextAt = host.now() + gapMs;
  // The link before has reported what waited then; a repeated report does no harm.
  if (reported !== NOTHING_URGENT) sendReport(run);
  for (;;) {
    await host.waits.until(() => run.hasEnded || urgentPart(run.state) !== reported, nextAt);
    // The Step says everything that a report could.
    if (run.hasEnded) return;
    reported = urgentPart(run.state);
    sendReport(run);
    if (host.now() >= nextAt) gapMs *= 2;
    nextAt = host.now() + gapMs;
  }
}

function sendReport({ state, host }: Run): void {
  host.send({ to: 'parent', message: progressOf(state, host.link.address) });
}

/** The progress of a run and its descendants. */
export function progressOf(state: RunState, address: string): ProgressMessage {
  return {
    v: 1,
    kind: 'progress',
    childId: address,
    number: state.seq,
    pending: reportedItems(pendingItems(state, EMPTY_INBOX)),
    ...spendingOf(state),
  };
}

const NOTHING_URGENT = '';

/** What the parent must learn at once, as a text to compare. */
function urgentPart(state: RunState): string {
  const { leases = [] } = state;
  if (leases.every(({ recalls }) => recalls === undefined)) return waitsIn(state);
  const returned = returnsOf(ledgerOf(state)).map(({ id, recalls }) => `${id} ${recalls}`);
  return [waitsIn(state), ...returned].join('\n');
}

/** What waits for people in a run and below it. */
function waitsIn({ pending = [], pausedAt, children = [] }: RunState): string {
  if (pending.length === 0 && pausedAt === null && children.length === 0) return NOTHING_URGENT;
  const own = pending.map(({ id }) => id);
  const below = children.flatMap((child) => child.pending.map(({ path, id }) => `${path} ${id}`));
  return [...own, ...(pausedAt === null ? [] : ['pause']), ...below].join('\n');
}
