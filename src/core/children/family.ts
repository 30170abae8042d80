/**
 * What a run says to its parent and its children, and what it does when they say something. Messages act
 * at once, between two steps of the loop, as an adjustment does.
 *
 * I1  Nothing here counts on a message: one that is lost, late or doubled changes no sum and no budget.
 * I2  A child that is not open is not heard: its end has said all.
 * I3  A request is answered once; when it comes again, the answer is repeated.
 * I4  A recall is repeated at each report of a child that has not said what it keeps.
 * I5  What the parent says while nothing can be recorded is kept, and heard when the run begins or goes on.
 */
import { addedByReport, type OpenChild } from '../tree/child-totals.ts';
import { emptyLeases, grantMore } from '../tree/ledger.ts';
import type { LeaseAnswer } from '../contract/lease.ts';
import type {
  ChildCancel,
  ChildMessage,
  DeadlineChange,
  LeaseRequest,
  ParentMessage,
  ProgressMessage,
} from '../contract/tree-messages.ts';
import { isRoomAwaited, recallsOf, returnsOf } from '../tree/recall.ts';
import type { Host } from '../run/host.ts';
import { EMPTY_INBOX, type KeptMessage, type Mailbox } from '../run/inbox.ts';
import { reportOf, requestMore } from '../run/make-room.ts';
import { pendingItems } from '../run/pending-items.ts';
import { isInterrupted, isStopped, ledgerOf, tellDeadlines, type Run } from '../run/run.ts';
import type { RunState } from '../run/run-state.ts';

/** The ears of a run for the runs above and below it. */
export interface Family {
  /** A child says something. */
  hearChild(message: ParentMessage): void;
  /** The parent says something. */
  hearParent(message: ChildMessage): void;
  /** Takes back from children what lowered limits have no room for. Harmless when there is nothing. */
  recall(): void;
}

/** When a child says how it stands though nothing waits in it; the gap doubles each time. */
const FIRST_REPORT_MS = 10_000;

/**
 * Joins a run to its tree: it hears, and as a child it tells. `onBug` is told what broke beside the
 * loop, where nobody waits for it.
 */
export function joinFamily(run: Run, host: Host, onBug: (error: unknown) => void): Family {
  const asking = new Map<string, LeaseRequest>();
  if (run.state.parent !== undefined) keepReporting(run, host).catch(onBug);
  return {
    hearChild: (message) => {
      const child = openChild(run, message.childId);
      if (child === undefined) return;
      const heard = addedByReport(child, message.number, message.totals);
      if (heard !== null) {
        const { childId, number } = message;
        const isReport = message.kind === 'progress';
        const carried = isReport ? { pending: message.pending } : {};
        const last = isReport && message.final === true ? { final: true as const } : {};
        const { returned } = message;
        const kept = returned === undefined ? {} : { returned };
        const told = { childId, number, ...heard, ...kept, ...last };
        run.record({ type: 'agent:child:report', ...told }, carried);
      }
      tellRecalls(run, host, message.childId);
      if (message.kind === 'lease-request') answer(run, host, asking, message).catch(onBug);
    },
    hearParent: (message) => {
      if (message.kind === 'cancel') return hearCancel(host.mailbox, message);
      const { isClosed, state } = run;
      if (isClosed || state.seq === 0) host.mailbox.keep(message);
      else hear(run, host, message);
    },
    recall: () => recall(run, host),
  };
}

/** Hears what the parent has said before the run could record it. */
export function hearKept(run: Run, host: Host): void {
  for (const message of host.mailbox.takeKept()) hear(run, host, message);
}

function hear(run: Run, host: Host, message: KeptMessage): void {
  if (message.kind === 'deadlines') return hearDeadlines(run, host, message);
  const { number, leases } = message;
  run.record({ type: 'agent:lease:answered', number, leases });
  if (leases.some((answer) => 'recalls' in answer)) recall(run, host);
}

/** Takes back from children what the bounds of the run have no room for. */
function recall(run: Run, host: Host): void {
  for (const { childId, leases } of recallsOf(ledgerOf(run.state))) {
    const number = openChild(run, childId)?.answered ?? 0;
    run.record({ type: 'agent:child:granted', childId, number, leases });
    tellRecalls(run, host, childId);
  }
}

/** Tells a child of all its recalls that it has not answered. */
function tellRecalls(run: Run, host: Host, childId: string): void {
  const child = openChild(run, childId);
  if (child?.awaited === undefined || child.final === true) return;
  tellGrant(host, child, child.answered, lastAnswers(child, Object.keys(child.awaited)));
}

/** The parent has said until when the runs above may run; those below hear it too. */
function hearDeadlines(run: Run, host: Host, { number, deadlines }: DeadlineChange): void {
  const { parent, deadlinesHeard = 0 } = run.state;
  if (parent === undefined || number <= deadlinesHeard) return;
  run.record({ type: 'agent:deadlines:changed', number, deadlines });
  tellDeadlines(run.state, host);
}

/** The parent has said that the run is to end. */
export function hearCancel(mailbox: Mailbox, { message, breach }: ChildCancel): void {
  const limit = breach === undefined ? {} : { breach };
  mailbox.cancel({ reason: 'parent_canceled', message, ...limit });
}

/** Why the children of a run are told to end: what stops the run itself, else `otherwise`. */
export function cancelOf(run: Run, host: Host, otherwise = 'not needed any more'): ChildCancel {
  const { cancel } = host.mailbox.peek();
  const { breach, runId, head } = run.state;
  const base = { v: 1, kind: 'cancel' } as const;
  if (cancel !== null) {
    const { message, breach: above } = cancel;
    return { ...base, message, ...(above === undefined ? {} : { breach: above }) };
  }
  if (breach === null) {
    return { ...base, message: isInterrupted(host) ? 'interrupted by an input' : otherwise };
  }
  // For those below, a limit of this run is one of an ancestor.
  const origin = breach.origin === 'self' ? { runId, agent: head.spec.name } : breach.origin;
  return { ...base, message: '', breach: { ...breach, origin } };
}

function openChild(run: Run, childId: string): OpenChild | undefined {
  return (run.state.children ?? []).find((child) => child.childId === childId);
}

/** Answers a request, with more from above when nothing is left here. `asking`: those under way. */
async function answer(
  run: Run,
  host: Host,
  asking: Map<string, LeaseRequest>,
  request: LeaseRequest,
): Promise<void> {
  const { childId } = request;
  const isUnderWay = asking.has(childId);
  const known = openChild(run, childId);
  if (known !== undefined && known.answered >= request.number) {
    return tellGrant(host, known, known.answered, lastAnswers(known, request.wants));
  }
  asking.set(childId, request);
  // The one under way answers the newest.
  if (isUnderWay) return;
  let hasWaited = false;
  for (;;) {
    const { wants } = asking.get(childId) ?? request;
    const isAwaited = (): boolean =>
      isRoomAwaited(ledgerOf(run.state), wants) && !isStopped(run, host);
    if (isAwaited()) {
      hasWaited = true;
      await host.waits.until(() => !isAwaited());
      continue;
    }
    const empty = emptyLeases(ledgerOf(run.state), wants);
    const isFinal = (run.state.leases ?? []).some(
      ({ id, refused }) => empty.includes(id) && refused !== undefined,
    );
    if (empty.length === 0 || isStopped(run, host) || isInterrupted(host)) break;
    await requestMore(run, host, empty);
    const after = run.state.leases ?? [];
    if (isFinal || after.some(({ id, refused }) => empty.includes(id) && refused !== undefined)) {
      break;
    }
  }
  const { number, wants } = asking.get(childId) ?? request;
  // Those that have waited for the same returns get equal parts.
  const together = hasWaited ? asking.size : 1;
  asking.delete(childId);
  const child = openChild(run, childId);
  if (child === undefined) return;
  // Who is to stop grants nothing more. A breach by a check lets children go on with what they have; one
  // that needs more is told to end, or it would wait for ever. An input that interrupts ends all of them.
  const isOff = isInterrupted(host) && emptyLeases(ledgerOf(run.state), wants).length > 0;
  if (isStopped(run, host) || isOff)
    return host.send({ to: 'child', childId, message: cancelOf(run, host) });
  const answers = grantMore(ledgerOf(run.state), child, wants, together);
  run.record({ type: 'agent:child:granted', childId, number, leases: answers });
  tellGrant(host, child, number, answers);
}

function tellGrant(
  host: Host,
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
    return {
      id,
      granted,
      ...(recalls === undefined ? {} : { recalls }),
      ...(refused === undefined ? {} : { refused }),
    };
  });
}

/**
 * Tells the parent how things stand: at once when what waits for people changes or what was recalled is
 * kept or free, else ever more rarely.
 */
async function keepReporting(run: Run, host: Host): Promise<void> {
  let told = newsIn(run.state);
  let gapMs = FIRST_REPORT_MS;
  let nextAt = host.now() + gapMs;
  // What waited before a hand-over was told by the link before; telling it again does no harm.
  if (told !== NO_NEWS) tellProgress(run, host);
  for (;;) {
    await host.waits.until(() => isOver(run) || newsIn(run.state) !== told, nextAt);
    if (isOver(run)) return;
    told = newsIn(run.state);
    tellProgress(run, host);
    if (host.now() >= nextAt) gapMs *= 2;
    nextAt = host.now() + gapMs;
  }
}

function tellProgress(run: Run, host: Host): void {
  host.send({ to: 'parent', message: progressOf(run.state, host.address) });
}

/** How things stand with a run and all below it. */
export function progressOf(state: RunState, address: string): ProgressMessage {
  return {
    v: 1,
    kind: 'progress',
    childId: address,
    number: state.seq,
    pending: pendingItems(state, EMPTY_INBOX),
    ...reportOf(state),
  };
}

/** Whether the run has ended: its Step says all that a report could. */
function isOver(run: Run): boolean {
  return run.hasEnded;
}

const NO_NEWS = '';

/** What the parent is told at once, as a text to compare. */
function newsIn(state: RunState): string {
  const { leases = [] } = state;
  if (leases.every(({ recalls }) => recalls === undefined)) return waitsIn(state);
  const returned = returnsOf(ledgerOf(state)).map(({ id, recalls }) => `${id} ${recalls}`);
  return [waitsIn(state), ...returned].join('\n');
}

/** What waits for people in a run and below it. */
function waitsIn({ pending = [], pausedAt, children = [] }: RunState): string {
  if (pending.length === 0 && pausedAt === null && children.length === 0) return NO_NEWS;
  const own = pending.map(({ id }) => id);
  const below = children.flatMap((child) => child.pending.map(({ path, id }) => `${path} ${id}`));
  return [...own, ...(pausedAt === null ? [] : ['pause']), ...below].join('\n');
}
