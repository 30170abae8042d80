/**
 * Room for messages: what a run accepts must fit into a hand-over, with its state and all that
 * waits. So large inputs, answers and adjustments are refused while there is no room.
 *
 * I1  The validator checks first, and the handler checks again: two messages of one activation are
 *     both validated before either is accepted.
 */
import { byteSize, type Json } from '../core/base/json.ts';
import type { SaidMessage } from '../core/contract/conversation.ts';
import type { Limit } from '../core/contract/limit.ts';
import type { Adjustment } from '../core/contract/messages.ts';
import type { PersonAnswer } from '../core/contract/pending.ts';
import { mergeLimits } from '../core/limits/limits-input.ts';
import { earlyRoom } from '../core/people/early-answers.ts';
import { positionOf, type Inbox, type RunInput } from '../core/run/inbox.ts';
import { stateOf } from './queries.ts';
import type { Session } from './session.ts';
import { fitsHandover } from './start.ts';

/** Messages up to this size only have to fit; larger ones must also leave {@link GROWTH_BYTES}. */
const SMALL_BYTES = 16_384;

/** How much a conversation may grow before its next hand-over. */
const GROWTH_BYTES = 262_144;

/** Bytes of JSON of one adjustment, and of those that come during a hand-over. */
const MAX_ADJUSTMENT_BYTES = 8_192;

/** Bytes of JSON that all limits of a run may have, unless they had more when it began. */
const MAX_LIMITS_BYTES = 65_536;

/** Why there is no room for `input`; null when there is, or when it was accepted before. */
export function inputRoom(session: Session, input: RunInput): string | null {
  const inbox = session.mailbox.peek();
  if (positionOf(inbox, input.id) !== undefined) return null;
  const waiting = [...inbox.waiting, { ...input, position: inbox.accepted + 1 }];
  return roomProblem(session, { ...inbox, waiting }, input as unknown as Json);
}

/** Why there is no room for a message to a conversation; null when there is. */
export function messageRoom(session: Session, message: SaidMessage): string | null {
  const inbox = session.mailbox.peek();
  const messages = [...(inbox.messages ?? []), { ...message, position: inbox.accepted + 1 }];
  return roomProblem(session, { ...inbox, messages }, message as unknown as Json);
}

/** Why there is no room for `answer`; null when there is. */
export function answerRoom(session: Session, answer: PersonAnswer): string | null {
  const inbox = session.mailbox.peek();
  const value = answer.kind === 'answer' ? answer.value : null;
  const full = answer.early === undefined ? null : earlyRoom(inbox, value);
  if (full !== null) return full;
  const answers = [...(inbox.answers ?? []), answer];
  return roomProblem(session, { ...inbox, answers }, answer as unknown as Json);
}

/** Why `adjustment` or the limits that would hold after it are too large; null when they fit. */
export function adjustmentRoom(
  { run, deferredAdjustments }: Session,
  adjustment: Adjustment,
): string | null {
  const bytes = byteSize([...deferredAdjustments, adjustment] as unknown as Json);
  // Checked first: a refusal that lists the problems of thousands of limits could not be sent.
  if (bytes > MAX_ADJUSTMENT_BYTES) {
    return `Expected an adjustment of at most ${MAX_ADJUSTMENT_BYTES} bytes, got ${bytes}. Set fewer limits, one after another.`;
  }
  const limits = run?.state.limits ?? [];
  const merged = mergeLimits(limits, adjustment.limits);
  const size = merged.kind === 'limits' ? sizeOf(merged.limits) : 0;
  return size <= Math.max(MAX_LIMITS_BYTES, sizeOf(limits))
    ? null
    : `Expected all limits of a run to have at most ${MAX_LIMITS_BYTES} bytes, got ${size}. Set fewer.`;
}

function sizeOf(limits: readonly Limit[]): number {
  return byteSize(limits as unknown as Json);
}

function roomProblem(session: Session, inbox: Inbox, added: Json): string | null {
  const bytes = byteSize(added);
  const spare = bytes <= SMALL_BYTES ? 0 : GROWTH_BYTES;
  // Before the agent is loaded there is nothing but the inbox.
  const { handover } = session.sizes;
  if (fitsHandover(stateOf(session), inbox, handover - spare)) return null;
  return `Expected room for ${bytes} more bytes, got a run whose conversation and waiting messages have nearly ${handover} bytes. Send less, let a tool deliver it, or send it again after a compaction.`;
}
