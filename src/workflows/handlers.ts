/**
 * Messages in, answers out. Inputs and a cancel go to the inbox, where the loop finds them;
 * limits and pauses act at once, between two steps of the loop. Validators are synchronous: an
 * asynchronous one never rejects.
 */
import { condition, log, setHandler, workflowInfo } from '@temporalio/workflow';
import { defined } from '../core/base/defined.ts';
import { conversationOf } from '../core/base/ids.ts';
import { isPlainObject } from '../core/base/json.ts';
import { onCancel } from '../core/children/tree-handlers.ts';
import { isKnownMessage, MESSAGE_REFUSED } from '../core/conversation/said.ts';
import type { SaidMessage } from '../core/contract/conversation.ts';
import type {
  Adjustment,
  AdjustReceipt,
  AnswerPayload,
  AnswerReceipt,
  DecidePayload,
  RetryReceipt,
} from '../core/contract/messages.ts';
import type { AnswerCheck, WaitingItems } from '../core/contract/pending.ts';
import type { ChildMessage, ParentMessage } from '../core/contract/tree-messages.ts';
import { readTurn } from '../core/tenant/tenant-messages.ts';
import { mergeLimits } from '../core/limits/limits-input.ts';
import { callsInProgress } from '../core/people/early-answers.ts';
import { revokeApproval, revokeProblem } from '../core/people/standing-approvals.ts';
import { checkAnswer, checkDecision } from '../core/people/check-answer.ts';
import {
  freeInputId,
  isAnsweredBy,
  MAX_WAITING_INPUTS,
  openWaits,
  positionOf,
  type RunInput,
} from '../core/run/inbox.ts';
import type { RunState } from '../core/run/run-state.ts';
import { readMessage } from '../core/start/read-message.ts';
import {
  actorProblem,
  checkRunInput,
  completeInput,
  MAX_INPUT_ID,
} from '../core/start/check-input.ts';
import { cut } from '../core/text/cut.ts';
import {
  readChildCancel,
  readDeadlineChange,
  readLeaseGrant,
  readLeaseRequest,
  readProgress,
} from '../core/tree/read-message.ts';
import { recallsOf } from '../core/tree/recall.ts';
import {
  adjustUpdate,
  answerSignal,
  answerUpdate,
  cancelSignal,
  closeSignal,
  deadlinesSignal,
  decideSignal,
  decideUpdate,
  inputSignal,
  leaseGrantSignal,
  leaseRequestSignal,
  listWaitsSignal,
  heldWorkerSignal,
  nudgeSignal,
  overrunSignal,
  progressSignal,
  retryUpdate,
  saySignal,
  sendUpdate,
  turnSignal,
} from './messages.ts';
import { failureOf } from './failures.ts';
import { isUnreadable, UNREADABLE_PAYLOAD } from './payload-converter.ts';
import { adjustmentRoom, answerRoom, inputRoom, messageRoom } from './room.ts';
import { readOverrun } from './overrun.ts';
import { installQueries, stateOf } from './queries.ts';
import { recorded } from './recorded/recorded.ts';
import type { Session } from './session.ts';

/** UTF-8 bytes of the message of a cancel: it is in the Step, whose size is bounded. */
const MAX_CANCEL_BYTES = 2_048;

/** Installs all handlers; call it before the first await, or an early update is refused. */
export function installHandlers(session: Session): void {
  installUpdates(session);
  setHandler(inputSignal, (payload) => {
    const input = completed(session, payload);
    const found = inputProblem(session, input);
    const problem = found ?? inputRoom(session, input);
    if (problem !== null) return warn(session, 'input_refused', problem);
    take(session, input);
  });
  // Left by clients that found no worker. Nobody hears a refusal but by an event.
  setHandler(answerSignal, (payload) => settleLeft(session, payload, checkedAnswer));
  setHandler(decideSignal, (payload) => settleLeft(session, payload, checkedDecision));
  setHandler(cancelSignal, (payload) => {
    const fromParent = workflowInfo().parent === undefined ? null : readChildCancel(payload);
    if (fromParent !== null) return onCancel(session.mailbox, fromParent);
    const text = typeof payload?.message === 'string' ? payload.message : '';
    const message = cut(text, MAX_CANCEL_BYTES);
    if (!isForNow(session, payload)) return;
    // Nobody hears why a signal is refused, so a wrong name only is left out.
    const stated = isPlainObject(payload) ? payload['by'] : undefined;
    const by = actorProblem(stated) === null ? (stated as string | undefined) : undefined;
    const turn = isPlainObject(payload) && 'turn' in payload ? (true as const) : undefined;
    session.mailbox.cancel({ reason: 'canceled', message, ...defined({ by, turn }) });
    session.host?.waits.wake();
  });
  setHandler(saySignal, (payload) => say(session, payload));
  setHandler(closeSignal, (payload) => {
    const stated: unknown = isPlainObject(payload) ? payload['by'] : undefined;
    const by = actorProblem(stated) === null ? (stated as string | undefined) : undefined;
    session.mailbox.close(defined({ by }));
    session.host?.waits.wake();
  });
  setHandler(overrunSignal, (payload) => {
    session.overrun = readOverrun(payload);
  });
  setHandler(heldWorkerSignal, (payload) => session.heldCalls.hear(payload));
  setHandler(turnSignal, (payload) => {
    session.turn ??= readTurn(payload);
  });
  setHandler(listWaitsSignal, () => session.host?.listWaits());
  // The task that brings it says whether the target version has changed.
  setHandler(nudgeSignal, async () => {
    await recorded().readClock();
    session.host?.waits.wake();
  });
  installTreeSignals(session);
  installQueries(session);
}

/** Whether a cancel is for the run, or for the turn of a conversation that goes on. */
function isForNow(session: Session, payload: unknown): boolean {
  const turn = isPlainObject(payload) ? payload['turn'] : undefined;
  if (turn === undefined) return true;
  const conversation = stateOf(session)?.turns;
  return conversation?.isOpen === true && conversation.count === turn;
}

/** Nobody hears why a message is refused but by an event. */
function say(session: Session, payload: unknown): void {
  const read = readMessage(isUnreadable(payload) ? UNREADABLE_PAYLOAD : payload);
  const problem = read.kind === 'invalid' ? read.message : messageProblem(session, read.message);
  if (read.kind === 'invalid' || problem !== null) {
    const id = isPlainObject(payload) ? payload['id'] : undefined;
    const named = typeof id === 'string' ? cut(id, MAX_INPUT_ID) : 'without id';
    return warn(session, MESSAGE_REFUSED, `${named}: ${problem ?? ''}`);
  }
  const { agent, ...message } = read.message;
  if (isKnownMessage(session.mailbox.peek().said ?? '', message.id)) return;
  const { isOpen = false, recent = [] } = stateOf(session)?.turns ?? {};
  // The open turn is one of those that are replaced: its answer would be, too.
  if (isOpen && recent.some(({ messageId }) => messageId === message.instead)) {
    session.mailbox.cancel({ reason: 'canceled', message: 'replaced', turn: true });
  }
  session.mailbox.say({ ...message, ...(agent === session.agent ? undefined : { agent }) });
  session.host?.waits.wake();
}

function installUpdates(session: Session): void {
  setHandler(
    sendUpdate,
    (payload) => ({ position: accept(session, completed(session, payload)) }),
    {
      validator: (payload) => {
        const input = completed(session, payload);
        refuse(inputProblem(session, input) ?? inputRoom(session, input));
      },
      description: 'Gives input to the run; idempotent by its id.',
    },
  );
  setHandler(adjustUpdate, (adjustment) => adjust(session, adjustment), {
    validator: (adjustment) => refuse(adjustmentProblem(session, adjustment)),
    description: 'Changes limits, pauses or resumes.',
  });
  setHandler(answerUpdate, (payload) => settle(session, payload), {
    validator: (payload) => refuseAnswer(answerProblem(session, payload, checkedAnswer)),
    description: 'Answers a question or ends outside work; idempotent by its update id.',
  });
  setHandler(decideUpdate, (payload) => settle(session, payload), {
    validator: (payload) => refuseAnswer(answerProblem(session, payload, checkedDecision)),
    description: 'Approves, denies or edits a call; idempotent by its update id.',
  });
  setHandler(retryUpdate, ({ callId }) => retry(session, callId), {
    validator: (payload) => refuse(session.operatorCalls.problem(payload?.callId)),
    description: 'Has a call tried again that waits for an operator.',
  });
}

/** Signals of the parent and of children. */
function installTreeSignals(session: Session): void {
  const onChildMessage = (message: ParentMessage | null): void => {
    if (message !== null) session.tree?.onChildMessage(message);
    afterMessage(session);
  };
  setHandler(progressSignal, (payload) => onChildMessage(readProgress(payload)));
  setHandler(leaseRequestSignal, (payload) => onChildMessage(readLeaseRequest(payload)));
  setHandler(leaseGrantSignal, (payload) => {
    const message = readLeaseGrant(payload);
    // A request is sent again, so only a recall must not be lost.
    const isRecall = message?.leases.some((answer) => 'recalls' in answer) === true;
    if (isRecall && session.run === null) return deliverWhenLoaded(session, message);
    if (message !== null) session.tree?.onParentMessage(message);
    afterMessage(session);
  });
  setHandler(deadlinesSignal, (payload) => deliverWhenLoaded(session, readDeadlineChange(payload)));
}

/** After a message of another run: publish its events, and check all waits. */
function afterMessage({ host }: Session): void {
  host?.flush();
  host?.waits.wake();
}

/** Delivers what the parent sends only once, which may come before the agent is loaded. */
async function deliverWhenLoaded(session: Session, message: ChildMessage | null): Promise<void> {
  await condition(() => session.run !== null || session.step !== null);
  if (message !== null) session.tree?.onParentMessage(message);
  afterMessage(session);
}

/** The input with what its client left out. What does not fit is refused later. */
function completed(session: Session, payload: unknown): RunInput {
  if (isUnreadable(payload)) return payload as RunInput;
  return completeInput(payload, freeInputId(session.mailbox.peek())) as RunInput;
}

function accept(session: Session, input: RunInput): number {
  const room = inputRoom(session, input);
  if (room !== null) throw failureOf('invalid_input', room);
  return take(session, input);
}

/** An input to a conversation that waits for a message is one. */
function take(session: Session, input: RunInput): number {
  const { mailbox } = session;
  const isSaid = isConversation(session) && stateOf(session)?.turns?.isOpen !== true;
  const { kind: _kind, ...message } = input;
  if (isSaid) mailbox.say(message);
  const position = isSaid ? mailbox.peek().accepted : mailbox.accept(input);
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

/** What answers are checked against: what the run waits for now, and how large they may be. */
function waitsOf(session: Session): WaitingItems {
  const state = stateOf(session);
  const open = openWaits(state ?? {}, session.mailbox.peek());
  return { ...open, begun: callsInProgress(state), maxBytes: session.sizes.result };
}

/** Puts a checked answer into the inbox, for the wait in this link or in the next. */
function settle(session: Session, payload: AnswerPayload | DecidePayload): AnswerReceipt {
  const { id, updateId } = payload;
  const { mailbox } = session;
  const inbox = mailbox.peek();
  if (isAnsweredBy(inbox, updateId)) return { id };
  const waits = waitsOf(session);
  const checked =
    'decision' in payload ? checkedDecision(waits, payload) : checkedAnswer(waits, payload);
  // Two answers of one activation are both validated before the first of them is accepted.
  if (checked.kind === 'refused') throw failureOf(checked.code, checked.message);
  const early = checked.isEarly === true ? recorded().now() : undefined;
  const answer = { id, updateId, ...defined({ by: payload.by, early }), ...checked.body };
  const room = answerRoom(session, answer);
  if (room !== null) throw failureOf('invalid_input', room);
  mailbox.answer(answer);
  session.host?.waits.wake();
  return { id };
}

/** As an update that was checked; why it is refused is told by an event, as soon as there is a run. */
async function settleLeft<Payload extends AnswerPayload | DecidePayload>(
  session: Session,
  payload: Payload,
  check: (waits: WaitingItems, payload: Partial<Payload>) => AnswerCheck,
): Promise<void> {
  const readable = isUnreadable(payload) ? ({} as Payload) : payload;
  const problem = answerProblem(session, readable, check);
  if (problem === null) return void settle(session, readable);
  if (session.run === null) await condition(() => session.run !== null || session.step !== null);
  const { code, message } = problem;
  warn(session, code === 'invalid_input' ? 'answer_refused' : code, message);
  session.host?.flush();
}

function answerProblem<Payload extends AnswerPayload | DecidePayload>(
  session: Session,
  payload: Partial<Payload>,
  check: (waits: WaitingItems, payload: Partial<Payload>) => AnswerCheck,
): Refusal | null {
  if (session.step !== null) {
    const ended = `Expected a run that is alive, got one that ended as \`${session.step.status}\`. Start a new one.`;
    return invalid(ended);
  }
  const { updateId, by } = payload ?? {};
  const actor = actorProblem(by);
  if (actor !== null) return invalid(actor);
  if (typeof updateId !== 'string' || updateId === '' || updateId.length > MAX_INPUT_ID) {
    return invalid(
      `Expected the \`updateId\` of an answer to be text of 1 to ${MAX_INPUT_ID} characters.`,
    );
  }
  const inbox = session.mailbox.peek();
  if (isAnsweredBy(inbox, updateId)) return null;
  const checked = check(waitsOf(session), payload);
  if (checked.kind === 'refused') return checked;
  const early = checked.isEarly === true ? 0 : undefined;
  const answer = { id: String(payload.id), updateId, ...defined({ early }), ...checked.body };
  return invalid(answerRoom(session, answer));
}

/** Why a message is refused, and the type of its failure. */
type Refusal = Pick<Extract<AnswerCheck, { readonly kind: 'refused' }>, 'code' | 'message'>;

function invalid(message: string): Refusal;
function invalid(message: string | null): Refusal | null;
function invalid(message: string | null): Refusal | null {
  return message === null ? null : { code: 'invalid_input', message };
}

/** Two of one activation are both validated before the first takes effect; the second changes nothing. */
function retry({ operatorCalls, host }: Session, callId: string): RetryReceipt {
  operatorCalls.retry(callId);
  host?.waits.wake();
  return { callId };
}

function refuse(problem: string | null): void {
  if (problem !== null) throw failureOf('invalid_input', problem);
}

function refuseAnswer(refusal: Refusal | null): void {
  if (refusal !== null) throw failureOf(refusal.code, refusal.message);
}

function warn(session: Session, code: string, message: string): void {
  log.warn(message, { code });
  session.run?.record({ type: 'agent:warning', code, message });
}

function messageProblem(session: Session, message: SaidMessage): string | null {
  const { messages = [], said = '' } = session.mailbox.peek();
  if (isKnownMessage(said, message.id)) return null;
  if (!isConversation(session)) {
    return 'Expected a conversation, got a run that is none. Send it as input.';
  }
  return messages.length < MAX_WAITING_INPUTS
    ? messageRoom(session, message)
    : `Expected at most ${MAX_WAITING_INPUTS} messages to wait, got one more. Say it again later.`;
}

/** Before the agent is loaded, only the id tells. */
function isConversation(session: Session): boolean {
  const state = stateOf(session);
  const { workflowId } = workflowInfo();
  return state === null ? conversationOf(workflowId) !== undefined : state.turns !== undefined;
}

function inputProblem(session: Session, input: unknown): string | null {
  if (session.step !== null) {
    return `Expected a run that is alive, got one that ended as \`${session.step.status}\`. Start a new one.`;
  }
  const checked = checkRunInput(isUnreadable(input) ? UNREADABLE_PAYLOAD : input);
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
  const { limits, paused, revoke, by } = adjustment ?? {};
  const actor = actorProblem(by);
  if (actor !== null) return actor;
  if (limits === undefined && paused === undefined && revoke === undefined) {
    return 'Expected `limits`, `paused` or `revoke` in an adjustment, got none. Set one of them.';
  }
  const unknown = revokeProblem(stateOf(session)?.standing, revoke);
  if (unknown !== null) return unknown;
  if (paused !== undefined && typeof paused !== 'boolean') {
    return `Expected \`paused\` to be true or false, got ${typeof paused}.`;
  }
  const room = adjustmentRoom(session, adjustment);
  if (limits === undefined || room !== null) return room;
  const merged = mergeLimits(session.run?.state.limits ?? [], limits);
  return merged.kind === 'limits'
    ? null
    : merged.problems.map((problem) => problem.message).join('\n');
}

async function adjust(session: Session, adjustment: Adjustment): Promise<AdjustReceipt> {
  // How long a pause lasts is counted from its events.
  await recorded().readClock();
  await condition(() => session.run !== null || session.step !== null);
  const { run } = session;
  if (run === null) throw failureOf('invalid_input', ENDED_EARLY);
  const room = adjustmentRoom(session, adjustment);
  if (room !== null) throw failureOf('invalid_input', room);
  if (isHandingOver(session)) {
    session.deferredAdjustments.push(adjustment);
    return session.deferredAdjustments.reduce(adjusted, receiptOf(run.state));
  }
  applyAdjustment(session, adjustment);
  return receiptOf(run.state);
}

const ENDED_EARLY = 'Expected a run that is alive, got one whose agent was not loaded.';

/** True as soon as the hand-over is decided; later events would be lost. */
function isHandingOver({ log: { events } }: Session): boolean {
  return events.at(-1)?.type === 'agent:execution:handover';
}

function receiptOf({ limits, pausedAt }: RunState): AdjustReceipt {
  return { limits, paused: pausedAt !== null };
}

/** `receipt` after the next link has applied a deferred adjustment. */
function adjusted(receipt: AdjustReceipt, { limits, paused }: Adjustment): AdjustReceipt {
  const merged = mergeLimits(receipt.limits, limits);
  return {
    limits: merged.kind === 'limits' ? merged.limits : receipt.limits,
    paused: paused ?? receipt.paused,
  };
}

/** Applies a checked adjustment; needs a loaded run. */
export function applyAdjustment(
  { run, host, tree }: Session,
  { limits, paused, revoke, by }: Adjustment,
): void {
  if (run === null) return;
  revokeApproval(run, revoke, by);
  if (limits !== undefined) {
    const merged = mergeLimits(run.state.limits, limits);
    if (merged.kind === 'limits') run.adjust(merged.limits, by);
    if (recallsOf(run.ledger).length > 0) tree?.recallLeases();
  }
  if (paused === true) run.pause(by);
  if (paused === false) run.resume(by);
  host?.flush();
}
