/**
 * What was sent to a live run and has not yet been taken by the loop.
 *
 * Owns: positions, ids that detect repetition, the order of inputs and messages, a requested cancel. Does not
 * own: when the loop takes inputs (loop.ts) and what an input becomes (the rules of the mode).
 *
 * I1  An id is accepted once; a repeated one returns its first position and changes nothing.
 * I2  Positions rise by 1 over the whole chain of a run.
 * I3  The inbox is plain JSON and part of a hand-over, so nothing is lost between links.
 */
import { defined } from '../base/defined.ts';
import { isKnownMessage, withKnownMessage } from '../conversation/said.ts';
import type { ClosePayload, SaidMessage } from '../contract/conversation.ts';
import type { Breach } from '../contract/limit.ts';
import type { MediaPart } from '../base/message.ts';
import type { InputKind } from '../contract/events.ts';
import type { DeadlineChange, LeaseGrant } from '../contract/tree-messages.ts';
import type { PersonAnswer, StatedActor, WaitingItems } from '../contract/pending.ts';

/** Ids that are kept to detect repetition; 1,000 of about 40 bytes keep a hand-over small. */
export const MAX_REMEMBERED_IDS = 1_000;

/** Inputs that may wait at once; a further one is refused with a clear error. */
export const MAX_WAITING_INPUTS = 1_000;

/** An input for a live run. */
export interface RunInput extends StatedActor {
  readonly id: string;
  /**
   * `queue`: next iteration · `steer`: before queued ones · `interrupt`: aborts what is in flight.
   */
  readonly kind: InputKind;
  readonly text: string;
  readonly media?: readonly MediaPart[];
}

/** An input with its place in the order of arrival, from 1. */
export interface WaitingInput extends RunInput {
  readonly position: number;
}

/** Why a run must stop. */
export interface CancelRequest extends StatedActor {
  readonly reason: 'canceled' | 'parent_canceled';
  /** The message of the cancel; may be empty. */
  readonly message: string;
  /** The limit of an ancestor that was crossed, which ends the run. */
  readonly breach?: Breach;
  /** It ends only the open turn of a conversation. */
  readonly turn?: true;
}

/** A message to a conversation, with its place in the order of arrival, from 1. */
export interface WaitingMessage extends Omit<SaidMessage, 'agent'> {
  readonly position: number;
  /** The agent that it is for, if the conversation is with another. */
  readonly agent?: string;
}

/** Plain data; starts as {@link EMPTY_INBOX}. */
export interface Inbox {
  /** How many inputs were ever accepted: the last position given. */
  readonly accepted: number;
  readonly remembered: readonly { readonly id: string; readonly position: number }[];
  readonly waiting: readonly WaitingInput[];
  readonly cancel: CancelRequest | null;
  /** Answers of people that the loop has not taken; absent until there was one. */
  readonly answers?: readonly PersonAnswer[];
  /** Ids of updates that brought an answer, newest last. */
  readonly answered?: readonly string[];
  /**
   * Messages of the parent that came during a hand-over, oldest first; absent if there are none.
   */
  readonly unheard?: readonly KeptMessage[];
  /** Messages to a conversation that no turn has read, oldest first; absent: none. */
  readonly messages?: readonly WaitingMessage[];
  /** The messages that were said; see `conversation/said.ts`. Absent: none. */
  readonly said?: string;
  /** The conversation is to end after its open turn; absent: it is not. */
  readonly closing?: ClosePayload;
}

/** A message of the parent that changes the state of its child. */
export type KeptMessage = DeadlineChange | LeaseGrant;

/** The inbox of a run that was just started. */
export const EMPTY_INBOX: Inbox = { accepted: 0, remembered: [], waiting: [], cancel: null };

/** The position under which `id` was accepted, or undefined when it is new. */
export function positionOf(inbox: Inbox, id: string): number | undefined {
  return inbox.remembered.find((known) => known.id === id)?.position;
}

/** An id that no accepted input has, for one that came without: `input-7`. */
export function freeInputId(inbox: Inbox): string {
  const isKnown = (id: string): boolean => positionOf(inbox, id) !== undefined;
  let number = inbox.accepted + 1;
  while (isKnown(`input-${number}`)) number += 1;
  return `input-${number}`;
}

/** Accepts `input`; a known id leaves the inbox as it is (I1). */
export function acceptInput(
  inbox: Inbox,
  input: RunInput,
): { readonly inbox: Inbox; readonly position: number; readonly isNew: boolean } {
  const known = positionOf(inbox, input.id);
  if (known !== undefined) return { inbox, position: known, isNew: false };
  const position = inbox.accepted + 1;
  const remembered = [...inbox.remembered, { id: input.id, position }];
  return {
    inbox: {
      ...inbox,
      accepted: position,
      remembered: remembered.slice(-MAX_REMEMBERED_IDS),
      waiting: [...inbox.waiting, { ...input, position }],
    },
    position,
    isNew: true,
  };
}

/**
 * Asks for the end of the run; the first cause is kept, unless it ends only a turn. Messages to a
 * conversation that wait go with it: those that come later begin it anew.
 */
export function requestCancel(inbox: Inbox, cancel: CancelRequest): Inbox {
  const { cancel: before } = inbox;
  const counts = before === null || (before.turn === true && cancel.turn === undefined);
  if (!counts) return inbox;
  const left = cancel.turn === undefined && inbox.messages !== undefined ? { messages: [] } : {};
  return { ...inbox, cancel, ...left };
}

/** Takes in a message to a conversation; one that was said before changes nothing. */
function say(inbox: Inbox, message: Omit<WaitingMessage, 'position'>): Inbox {
  const { said = '', messages = [], accepted } = inbox;
  if (isKnownMessage(said, message.id)) return inbox;
  const position = accepted + 1;
  return {
    ...inbox,
    accepted: position,
    said: withKnownMessage(said, message.id),
    messages: [...messages, { ...message, position }],
  };
}

/** How many messages the open turn of a conversation can read: those before one that begins another. */
function steering({ messages = [] }: Inbox): number {
  const other = messages.findIndex(
    ({ instead, agent }) => instead !== undefined || agent !== undefined,
  );
  return other === -1 ? messages.length : other;
}

/** How many inputs the loop can take. */
export function unreadCount(inbox: Inbox): number {
  return inbox.waiting.length + steering(inbox);
}

/** Whether update `updateId` has brought its answer. */
export function isAnsweredBy({ answered = [] }: Inbox, updateId: string): boolean {
  return answered.includes(updateId);
}

/** Accepts an answer that was checked; a repeated update changes nothing. */
export function acceptAnswer(inbox: Inbox, answer: PersonAnswer): Inbox {
  if (isAnsweredBy(inbox, answer.updateId)) return inbox;
  const { answers = [], answered = [] } = inbox;
  return {
    ...inbox,
    answers: [...answers, answer],
    answered: [...answered, answer.updateId].slice(-MAX_REMEMBERED_IDS),
  };
}

/**
 * `waits` as a person sees them: what has an answer in the inbox has ended already, also if its call does
 * not know yet that it waits.
 */
export function openWaits(
  { pending = [], settled = [], standing = [] }: WaitingItems,
  { answers = [] }: Inbox,
): WaitingItems {
  const has = ({ id }: { readonly id: string }): boolean => answers.some((one) => one.id === id);
  const early = answers.filter((one) => one.early !== undefined);
  return {
    standing,
    pending: pending.filter((item) => !has(item)),
    settled: [
      ...settled,
      ...pending.filter(has).map(({ id, kind }) => ({ id, kind })),
      ...early.map(({ id }) => ({ id, kind: 'external' as const })),
    ],
  };
}

/**
 * Takes all waiting inputs out: `steer` and `interrupt` first, then `queue`, in order of arrival
 * inside each group.
 */
export function takeInputs(inbox: Inbox): {
  readonly inbox: Inbox;
  readonly inputs: readonly WaitingInput[];
} {
  const { messages = [], waiting } = inbox;
  const count = steering(inbox);
  if (waiting.length + count === 0) return { inbox, inputs: [] };
  const steered = messages.slice(0, count).map(steeringInput);
  const urgent = waiting.filter((input) => input.kind !== 'queue');
  const queued = waiting.filter((input) => input.kind === 'queue');
  const left = count === 0 ? undefined : { messages: messages.slice(count) };
  return { inbox: { ...inbox, waiting: [], ...left }, inputs: [...urgent, ...steered, ...queued] };
}

function steeringInput({ id, text, media, by, position }: WaitingMessage): WaitingInput {
  return { id, kind: 'steer', text, position, ...defined({ media, by }) };
}

/** Holds the {@link Inbox} of a run and replaces it: handlers write it, the loop drains it. */
export interface Mailbox {
  /** What waits. */
  peek(): Inbox;
  /** Puts an input in; an `interrupt` that is new calls `onUrgent`. Returns its position. */
  accept(input: RunInput): number;
  /** Asks for the end of the run and calls `onUrgent`. */
  cancel(request: CancelRequest): void;
  /** Takes all inputs out, in the order in which the loop reads them. */
  take(): readonly WaitingInput[];
  /** Puts a checked answer of a person in; a repeated update changes nothing. */
  answer(answer: PersonAnswer): void;
  /** Takes the answer for item `id` out. */
  takeAnswer(id: string): PersonAnswer | undefined;
  /** Keeps a message of the parent while the state cannot change, until the run goes on. */
  keep(message: KeptMessage): void;
  /** Takes all that was kept out, oldest first. */
  takeKept(): readonly KeptMessage[];
  /** Takes in a message to a conversation; one that was said before changes nothing. */
  say(message: Omit<WaitingMessage, 'position'>): void;
  /** Takes out the message that begins the next turn of a conversation. */
  takeMessage(): WaitingMessage | undefined;
  /** Ends a conversation after its open turn. */
  close(request: ClosePayload): void;
  /** Forgets a cancel that ended a turn. */
  endTurn(): void;
}

/** Holds `inbox` at first; `onUrgent` runs when what is in flight must end early. */
export function createMailbox(inbox: Inbox, onUrgent: () => void): Mailbox {
  let current = inbox;
  return {
    peek: () => current,
    accept: (input) => {
      const accepted = acceptInput(current, input);
      current = accepted.inbox;
      if (accepted.isNew && input.kind === 'interrupt') onUrgent();
      return accepted.position;
    },
    cancel: (request) => {
      current = requestCancel(current, request);
      onUrgent();
    },
    take: () => {
      const taken = takeInputs(current);
      current = taken.inbox;
      return taken.inputs;
    },
    answer: (answer) => {
      current = acceptAnswer(current, answer);
    },
    takeAnswer: (id) => {
      const { answers = [] } = current;
      const found = answers.find((answer) => answer.id === id);
      if (found !== undefined) {
        current = { ...current, answers: answers.filter((answer) => answer !== found) };
      }
      return found;
    },
    keep: (message) => {
      current = { ...current, unheard: [...(current.unheard ?? []), message] };
    },
    takeKept: () => {
      const { unheard = [], ...rest } = current;
      if (unheard.length > 0) current = rest;
      return unheard;
    },
    say: (message) => {
      current = say(current, message);
    },
    takeMessage: () => {
      const [first, ...messages] = current.messages ?? [];
      if (first !== undefined) current = { ...current, messages };
      return first;
    },
    close: (request) => {
      current = { ...current, closing: current.closing ?? request };
    },
    endTurn: () => {
      if (current.cancel?.turn === true) current = { ...current, cancel: null };
    },
  };
}
