/**
 * Turns the updates, events and entries of a run into chunks of one message. Pure.
 *
 * I1  A part that begins also ends, and a tool has its input before its output.
 * I2  What was sent cannot be taken back. Text that another attempt made void, or that is not the
 *     answer, is marked as such, and the right text follows as another part.
 * I3  Played from events and entries, a message has the parts that it had as it was written, but for void
 *     ones.
 * I4  Calls that wait for approval have a step of their own, and so have a question, and an answer after
 *     calls. For a page sends decisions and outputs on when all calls of the last step are over or decided:
 *     calls that wait for something else must not keep it from that, nor ended ones make it do so.
 */
import { defined } from '../core/base/defined.ts';
import type { Entry } from '../core/contract/entry.ts';
import type { Json } from '../core/base/json.ts';
import { isOwnEvent, type AgentEvent } from '../core/contract/events.ts';
import type { RunStatus } from '../core/contract/messages.ts';
import type { Step } from '../core/contract/step.ts';
import { ASK_TOOL } from '../core/toolchain/ask-user.ts';
import type { RunUpdate } from '../client/follow-run.ts';
import {
  createCalls,
  createQuestions,
  createMessageItems,
  type Calls,
  type KnownCalls,
  type Questions,
} from './item-parts.ts';
import { createReplies } from './reply-parts.ts';
import { metadataOf, type CallEvent } from './shown-parts.ts';
import { createTextParts, plainText, type TextParts, type WrittenText } from './text-parts.ts';
import type { UIChunk } from './ui-chunk.ts';

/** Where a message begins within its run. */
export interface WriterPlace {
  readonly messageId: string;
  /** The iteration whose text comes before the message; 0 for the first message of a run. */
  readonly afterIteration: number;
  /** Whether the text of replies is shown as it is written. */
  readonly showsText: boolean;
  /** The calls that the page has in this message already; absent: none. */
  readonly known?: KnownCalls;
  /** No updates follow: what waits is known from events. */
  readonly isPast?: true;
}

/** The chunks of one message. */
export interface UIWriter {
  /** What has happened; `entry` is that of an event that tells of one. */
  readonly event: (event: AgentEvent, entry?: Entry) => readonly UIChunk[];
  /** What the model wrote in an iteration whose text is not coming any more. */
  readonly text: (iteration: number, texts: readonly WrittenText[]) => readonly UIChunk[];
  readonly update: (update: RunUpdate) => readonly UIChunk[];
  /** What became of a call of a run below, whose id is as in `pending()`. */
  readonly below: (id: string, event: CallEvent) => readonly UIChunk[];
  /** Calls of runs below that were decided, and of which nothing more is known. */
  readonly decidedBelow: () => readonly string[];
  /** The turn, or the run, has ended. */
  readonly end: (step: Step) => readonly UIChunk[];
  /** Ends the message, because a person has to do something (`tool-calls`) or has said something. */
  readonly pause: (finishReason: 'tool-calls' | 'other') => readonly UIChunk[];
  /** Whether a person has to do something before the run continues. */
  readonly waitsForPerson: () => boolean;
  /** The newest iteration of which an event or text has come. */
  readonly iteration: () => number;
}

const NO_CALLS: KnownCalls = { shown: [], ended: [] };

/** A writer for the message at `place`. */
export function createUIWriter(place: WriterPlace): UIWriter {
  const { messageId, afterIteration, isPast, known = NO_CALLS } = place;
  const out: UIChunk[] = [];
  const text = createTextParts(out);
  const replies = createReplies(out, text, place);
  const calls = createCalls(out, text, known);
  const questions = createQuestions(out, text);
  const items = createMessageItems(calls, questions, known);
  let status: RunStatus | undefined;
  let model: string | undefined;
  let hasBegun = false;
  let newest = afterIteration;

  /** What was written since, or by, `write`. */
  const taken = (write: () => void): readonly UIChunk[] => {
    write();
    if (out.length === 0) return [];
    // A message without parts would be an empty bubble.
    const start = hasBegun ? [] : [{ type: 'start', messageId } as const];
    hasBegun = true;
    return [...start, ...out.splice(0)];
  };
  const takeEvent = (event: AgentEvent): void => {
    newest = Math.max(newest, event.iteration);
    if (event.type === 'agent:model_call:after') {
      if (event.purpose === 'reply') ({ model } = event);
      replies.sources(event.sources ?? []);
    } else takeShownEvent(event, { out, calls, questions, asks: isPast === true });
  };
  const takeUpdate = (update: RunUpdate): void => {
    if (update.kind === 'step') writeEnd(out, text, { step: update.step, model });
    else if (update.kind === 'status') ({ status } = update);
    else if (update.kind === 'pending') items.began(update.item);
    else if (update.kind === 'settled') items.settled(update.id);
    else if (update.kind === 'topic') writeTopic(out, update);
    else newest = Math.max(newest, replies.piece(update) ?? 0);
  };
  return {
    event: (event, entry) =>
      taken(() => {
        if (entry !== undefined) replies.entry(entry);
        takeEvent(event);
      }),
    text: (iteration, texts) => taken(() => replies.whole(iteration, texts)),
    update: (update) => taken(() => takeUpdate(update)),
    below: (id, event) => taken(() => items.below(id, event)),
    decidedBelow: items.decidedBelow,
    end: (step) => taken(() => writeEnd(out, text, { step, model })),
    pause: (finishReason) =>
      taken(() => {
        text.finish();
        if (hasBegun) out.push({ type: 'finish', finishReason });
      }),
    waitsForPerson: () => items.waitForPerson(status),
    iteration: () => newest,
  };
}

interface ShownParts {
  readonly out: UIChunk[];
  readonly calls: Calls;
  readonly questions: Questions;
  /** Approvals are asked for by events, whose arguments are cut: nothing else tells them. */
  readonly asks: boolean;
}

/** What an event tells of calls, questions and data of the agent's own. */
function takeShownEvent(event: AgentEvent, { out, calls, questions, asks }: ShownParts): void {
  switch (event.type) {
    case 'agent:tool_call:before':
      if (event.tool !== ASK_TOOL) calls.begin(event);
      return;
    case 'agent:tool_call:after':
      if (event.tool === ASK_TOOL) return;
      calls.begin(event);
      calls.end(event.callId, event);
      return;
    case 'agent:approval:requested':
      if (asks) calls.ask(event.callId, event);
      return;
    case 'agent:question:asked':
      questions.ask({ id: event.questionId, question: event.text, isAnswered: false });
      return;
    case 'agent:question:answered':
      questions.answered(event.questionId);
      return;
    default:
      if (isOwnEvent(event) && event.keep === true) keepData(out, event.type, event);
  }
}

/** Data that a page keeps; without an id it could not be written once. */
function keepData(
  out: UIChunk[],
  name: string,
  { id, data }: { readonly id?: string; readonly data: Json },
): void {
  if (id !== undefined) out.push({ type: `data-${name}`, id, data });
}

type TopicUpdate = Extract<RunUpdate, { readonly kind: 'topic' }>;

function writeTopic(out: UIChunk[], update: TopicUpdate): void {
  const { topic, data, callId } = update;
  if (update.keep === true) keepData(out, topic, update);
  else out.push({ type: 'data-topic', data: defined({ topic, data, callId }), transient: true });
}

interface MessageEnd {
  readonly step: Step;
  /** The entry that replied last; absent: none did. */
  readonly model: string | undefined;
}

/** The end of the message: the answer, if it is not what was written, and how the run ended. */
function writeEnd(out: UIChunk[], text: TextParts, { step, model }: MessageEnd): void {
  const answer = typeof step.value === 'string' ? step.value : JSON.stringify(step.value);
  if (step.status === 'success' && plainText(text.written()).trim() !== answer.trim()) {
    text.discard();
    text.aside('answer');
    text.write('text', answer);
  }
  text.finish();
  const { status, message, reason } = step;
  const messageMetadata = metadataOf(step, model);
  if (status === 'success') {
    out.push({ type: 'finish', finishReason: 'stop', messageMetadata });
    return;
  }
  // A step without calls, as after any end; a page takes nothing after an error.
  out.push({ type: 'start-step' }, { type: 'finish-step' });
  out.push({ type: 'message-metadata', messageMetadata });
  if (status === 'canceled') out.push(defined({ type: 'abort', reason: message }));
  else out.push({ type: 'error', errorText: message ?? reason });
  out.push({ type: 'finish', finishReason: 'error' });
}
