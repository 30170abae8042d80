/**
 * Messages in, answers out. Inputs and a cancel go to the mailbox, where the loop finds them; limits
 * and pauses act at once, between two steps of the loop. Queries read what is there and change
 * nothing. Validators are synchronous: an asynchronous one never rejects.
 */
import {
  ApplicationFailure,
  condition,
  log,
  patched,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { checkRunInput, MAX_INPUT_ID } from '../core/start/check-input.ts';
import { onCancel } from '../core/children/tree-handlers.ts';
import {
  isAnsweredBy,
  MAX_WAITING_INPUTS,
  openWaits,
  positionOf,
  type RunInput,
} from '../core/run/inbox.ts';
import {
  checkAnswer,
  checkDecision,
  type AnswerCheck,
  type WaitingItems,
} from '../core/contract/pending.ts';
import { pendingItems } from '../core/run/pending-items.ts';
import type { ProgramView } from '../core/contract/report.ts';
import { programOfState } from '../core/run/view.ts';
import type { RunState } from '../core/run/run-state.ts';
import { usageOf } from '../core/run/step-of.ts';
import { treeView } from '../core/run/tree-view.ts';
import { waitsFor } from '../core/run/waits-for.ts';
import type { Json } from '../core/base/json.ts';
import { mergeLimits } from '../core/limits/compile-limits.ts';
import { EMPTY_STATS } from '../core/contract/stats.ts';
import { cut } from '../core/text/cut.ts';
import { pageOf, type PagePosition } from '../core/contract/page.ts';
import {
  readChildCancel,
  readDeadlineChange,
  readLeaseGrant,
  readLeaseRequest,
  readProgress,
} from '../core/tree/read-message.ts';
import type { ChildMessage } from '../core/contract/tree-messages.ts';
import { recallsOf } from '../core/tree/recall.ts';
import type {
  Adjustment,
  AdjustReceipt,
  AnswerPayload,
  AnswerReceipt,
  DecidePayload,
  LinkPage,
  PendingItem,
  RunPhase,
  RunStatus,
  TranscriptRequest,
  TreeAnswer,
} from '../core/contract/messages.ts';
import {
  adjustUpdate,
  answerUpdate,
  cancelSignal,
  deadlinesSignal,
  decideUpdate,
  eventsQuery,
  inputSignal,
  leaseGrantSignal,
  leaseRequestSignal,
  pendingQuery,
  programQuery,
  progressSignal,
  sendUpdate,
  statsQuery,
  statusQuery,
  transcriptQuery,
  treeQuery,
} from './messages.ts';
import type { Session } from './session.ts';

/** Of the words of a cancel: they stand in the Step beside everything else that a payload holds. */
const MAX_CANCEL_BYTES = 2_048;

/** Installs all handlers; call it before the first await, or an early update is refused. */
export function installHandlers(session: Session): void {
  setHandler(sendUpdate, (input) => ({ position: accept(session, input) }), {
    validator: (input) => refuse(inputProblem(session, input)),
    description: 'Gives input to the run; idempotent by its id.',
  });
  setHandler(adjustUpdate, (adjustment) => adjust(session, adjustment), {
    validator: (adjustment) => refuse(adjustmentProblem(session, adjustment)),
    description: 'Changes limits, pauses or resumes.',
  });
  setHandler(answerUpdate, (payload) => settle(session, payload), {
    validator: (payload) => refuse(answerProblem(session, payload, checkedAnswer)),
    description: 'Answers a question or ends outside work; idempotent by its update id.',
  });
  setHandler(decideUpdate, (payload) => settle(session, payload), {
    validator: (payload) => refuse(answerProblem(session, payload, checkedDecision)),
    description: 'Approves, denies or edits a call; idempotent by its update id.',
  });
  setHandler(inputSignal, (input) => {
    const problem = inputProblem(session, input);
    if (problem === null) accept(session, input);
    else warn(session, 'input_refused', problem);
  });
  setHandler(cancelSignal, (payload) => {
    const word = workflowInfo().parent === undefined ? null : readChildCancel(payload);
    if (word !== null) return onCancel(session.mailbox, word);
    const words = typeof payload?.message === 'string' ? payload.message : '';
    const message = cut(words, MAX_CANCEL_BYTES);
    session.mailbox.cancel({ reason: 'canceled', message });
  });
  setHandler(progressSignal, (payload) => {
    const message = readProgress(payload);
    if (message !== null) session.tree?.onChildMessage(message);
    afterMessage(session);
  });
  setHandler(leaseRequestSignal, (payload) => {
    const message = readLeaseRequest(payload);
    if (message !== null) session.tree?.onChildMessage(message);
    afterMessage(session);
  });
  setHandler(leaseGrantSignal, (payload) => {
    const message = readLeaseGrant(payload);
    // What was asked for is asked for again.
    const isRecall = message?.leases.some((answer) => 'recalls' in answer) === true;
    if (isRecall && session.run === null) return hearOnce(session, message);
    if (message !== null) session.tree?.onParentMessage(message);
    afterMessage(session);
  });
  setHandler(deadlinesSignal, (payload) => hearOnce(session, readDeadlineChange(payload)));
  setHandler(treeQuery, () => treeAnswer(session));
  setHandler(statusQuery, () => statusOf(session));
  setHandler(statsQuery, () => session.run?.state.stats ?? EMPTY_STATS);
  setHandler(transcriptQuery, (request) => transcriptPage(session, request));
  setHandler(eventsQuery, ({ from, maxBytes }) =>
    linkPage(
      session,
      session.log.events as unknown as Json[],
      session.log.firstEvent,
      from,
      maxBytes,
    ),
  );
  setHandler(pendingQuery, () => pendingOf(session));
  setHandler(programQuery, () => programOf(session));
}

/** What another run said may end a wait, and has made events. */
function afterMessage({ host }: Session): void {
  host?.flush();
  host?.waits.wake();
}

/** What the parent says once may come before the agent is loaded. */
async function hearOnce(session: Session, message: ChildMessage | null): Promise<void> {
  await condition(() => session.run !== null || session.step !== null);
  if (message !== null) session.tree?.onParentMessage(message);
  afterMessage(session);
}

function accept(session: Session, input: RunInput): number {
  const position = session.mailbox.accept(input);
  session.host?.waits.wake();
  return position;
}

function checkedAnswer(waits: WaitingItems, { id, value }: Partial<AnswerPayload>): AnswerCheck {
  return checkAnswer(waits, id, value);
}

function checkedDecision(
  waits: WaitingItems,
  { id, decision }: Partial<DecidePayload>,
): AnswerCheck {
  return checkDecision(waits, id, decision);
}

/** Puts a checked answer where the wait for it finds it, in this link or in the next. */
function settle(session: Session, payload: AnswerPayload | DecidePayload): AnswerReceipt {
  const { id, updateId } = payload;
  const { mailbox } = session;
  const inbox = mailbox.peek();
  if (isAnsweredBy(inbox, updateId)) return { id };
  const waits = openWaits(stateOf(session) ?? {}, inbox);
  const checked =
    'decision' in payload ? checkedDecision(waits, payload) : checkedAnswer(waits, payload);
  // Two answers of one activation are both validated before the first of them is accepted.
  if (checked.kind === 'refused') throw refusal(checked.message);
  mailbox.answer({ id, updateId, ...checked.body });
  session.host?.waits.wake();
  return { id };
}

function answerProblem<Payload extends AnswerPayload | DecidePayload>(
  session: Session,
  payload: Partial<Payload>,
  check: (waits: WaitingItems, payload: Partial<Payload>) => AnswerCheck,
): string | null {
  if (session.step !== null) {
    return `Expected a run that is alive, got one that ended as \`${session.step.status}\`. Start a new one.`;
  }
  const { updateId } = payload ?? {};
  if (typeof updateId !== 'string' || updateId === '' || updateId.length > MAX_INPUT_ID) {
    return `Expected the \`updateId\` of an answer to be text of 1 to ${MAX_INPUT_ID} characters.`;
  }
  const inbox = session.mailbox.peek();
  if (isAnsweredBy(inbox, updateId)) return null;
  const checked = check(openWaits(stateOf(session) ?? {}, inbox), payload);
  return checked.kind === 'refused' ? checked.message : null;
}

/** The newest state, also before a handed over run goes on; null before the agent is loaded. */
function stateOf({ run, restored }: Session): RunState | null {
  return run?.state ?? restored;
}

function refuse(problem: string | null): void {
  if (problem !== null) throw refusal(problem);
}

function refusal(message: string): ApplicationFailure {
  return ApplicationFailure.create({ type: 'invalid_input', message, nonRetryable: true });
}

function warn(session: Session, code: string, message: string): void {
  log.warn(message, { code });
  session.run?.record({ type: 'agent:warning', code, message });
}

function inputProblem(session: Session, input: unknown): string | null {
  if (session.step !== null) {
    return `Expected a run that is alive, got one that ended as \`${session.step.status}\`. Start a new one.`;
  }
  const checked = checkRunInput(input);
  if (checked.kind === 'invalid') return checked.message;
  const inbox = session.mailbox.peek();
  if (positionOf(inbox, checked.input.id) !== undefined) return null;
  return inbox.waiting.length < MAX_WAITING_INPUTS
    ? null
    : `Expected at most ${MAX_WAITING_INPUTS} inputs to wait, got one more. Send it again later.`;
}

function adjustmentProblem(session: Session, adjustment: Adjustment): string | null {
  if (session.step !== null) {
    return `Expected a run that is alive, got one that ended as \`${session.step.status}\`.`;
  }
  const { limits, paused } = adjustment ?? {};
  if (limits === undefined && paused === undefined) {
    return 'Expected `limits` or `paused` in an adjustment, got neither. Set one of them.';
  }
  if (paused !== undefined && typeof paused !== 'boolean') {
    return `Expected \`paused\` to be true or false, got ${typeof paused}.`;
  }
  if (limits === undefined) return null;
  const merged = mergeLimits(session.run?.state.limits ?? [], limits);
  return merged.kind === 'limits'
    ? null
    : merged.problems.map((problem) => problem.message).join('\n');
}

async function adjust(session: Session, adjustment: Adjustment): Promise<AdjustReceipt> {
  await condition(() => session.run !== null || session.step !== null);
  const { run } = session;
  if (run === null) {
    const type = 'invalid_input';
    throw ApplicationFailure.create({ type, message: ENDED_EARLY, nonRetryable: true });
  }
  if (isHandingOver(session)) {
    session.putOff.push(adjustment);
    return session.putOff.reduce(adjusted, receiptOf(run.state));
  }
  applyAdjustment(session, adjustment);
  return receiptOf(run.state);
}

const ENDED_EARLY = 'Expected a run that is alive, got one whose agent was not loaded.';

/** From the very decision on: what is recorded behind it would be lost. */
function isHandingOver({ log: { events } }: Session): boolean {
  return events.at(-1)?.type === 'agent:execution:handover';
}

function receiptOf({ limits, pausedAt }: RunState): AdjustReceipt {
  return { limits, paused: pausedAt !== null };
}

/** What `receipt` becomes when the next link acts on an adjustment that was put off. */
function adjusted(receipt: AdjustReceipt, { limits, paused }: Adjustment): AdjustReceipt {
  const merged = mergeLimits(receipt.limits, limits);
  return {
    limits: merged.kind === 'limits' ? merged.limits : receipt.limits,
    paused: paused ?? receipt.paused,
  };
}

/** Acts on a checked adjustment; needs a loaded run. */
export function applyAdjustment(
  { run, host, tree }: Session,
  { limits, paused }: Adjustment,
): void {
  if (run === null) return;
  if (limits !== undefined) {
    const merged = mergeLimits(run.state.limits, limits);
    if (merged.kind === 'limits') run.adjust(merged.limits);
    // Runs that were adjusted before there were recalls have none in their histories.
    if (recallsOf(run.ledger).length > 0 && patched('recall-leases')) tree?.recallLeases();
  }
  if (paused === true) run.pause();
  if (paused === false) run.resume();
  host?.flush();
}

function statusOf(session: Session): RunStatus {
  const { run, step, mailbox } = session;
  const inbox = mailbox.peek();
  return {
    version: (run?.state.seq ?? 0) + inbox.accepted,
    state: phaseOf(session),
    runId: workflowInfo().firstExecutionRunId,
    agent: session.agent,
    iteration: run?.state.iteration ?? 0,
    waitsFor: waitsForOf(session),
    usage: usageOf(run?.state.stats ?? EMPTY_STATS),
    unreadInputs: inbox.waiting.length,
    link: session.link,
    ...(step === null ? {} : { step }),
  };
}

function treeAnswer(session: Session): TreeAnswer | null {
  const state = stateOf(session);
  if (state === null) return null;
  const { step, ...status } = statusOf(session);
  void step;
  return { ...treeView(state, Date.now()), status, stats: state.stats };
}

function phaseOf(session: Session): RunPhase {
  if (session.step !== null) return 'ended';
  const state = stateOf(session);
  if (state === null) return 'running';
  if (state.pausedAt !== null) return 'paused';
  return (state.waitingSince ?? null) === null ? 'running' : 'waiting';
}

function waitsForOf(session: Session): readonly string[] {
  const inFlight = session.host?.inFlight() ?? ['definition'];
  return waitsFor(stateOf(session), { inFlight, timers: session.run?.timers() ?? [] });
}

function pendingOf(session: Session): readonly PendingItem[] {
  const state = stateOf(session);
  if (state === null || session.step !== null) return [];
  return pendingItems(state, session.mailbox.peek());
}

/** Before a handed over run goes on, the program that it is in the middle of is read from its snapshot. */
function programOf({ run, restored }: Session): ProgramView | null {
  if (run !== null) return run.program();
  return restored === null ? null : programOfState(restored);
}

function transcriptPage(session: Session, request: TranscriptRequest): LinkPage {
  const { run, log: runLog, previous } = session;
  const { from, maxBytes, view, epoch } = request;
  if (view === 'history') {
    return linkPage(
      session,
      runLog.entries as unknown as Json[],
      runLog.firstEntry,
      from,
      maxBytes,
    );
  }
  const state = run?.state;
  if (state === undefined || (epoch !== undefined && epoch !== state.mark.epoch)) {
    return { items: [], next: null, first: 0, previous, stale: true };
  }
  const items = [state.head, ...state.scratchpad.flatMap((entry) => entry.messages)];
  return { ...pageOf(items as unknown as Json[], from, maxBytes), first: 0, previous };
}

/** A page whose indexes count over the whole chain, while `items` begins at index `first` of it. */
function linkPage(
  session: Session,
  items: readonly Json[],
  first: number,
  from: PagePosition,
  maxBytes: number | undefined,
): LinkPage {
  const index = Math.max(0, from.index - first);
  const page = pageOf(items, { index, offset: from.index < first ? 0 : from.offset }, maxBytes);
  const next = page.next === null ? null : { ...page.next, index: page.next.index + first };
  return { ...page, next, first, previous: session.previous };
}
