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
import type { PendingItem, RunStatus } from '../core/contract/messages.ts';
import type { Step } from '../core/contract/step.ts';
import { ASK_TOOL } from '../core/toolchain/ask-user.ts';
import type { RunUpdate } from '../client/follow-run.ts';
import {
  isBelow,
  isForPage,
  isIdleBut,
  kindOf,
  metadataOf,
  outputOf,
  questionOf,
  shownPart,
  sourceOf,
  textsOf,
  type CallEvent,
  type ShownCall,
  type ShownQuestion,
} from './shown-parts.ts';
import {
  createTextParts,
  merged,
  plainText,
  restAfter,
  type TextParts,
  type WrittenText,
} from './text-parts.ts';
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

/** Ids of calls that a page has in a message. */
export interface KnownCalls {
  /** Those that it shows. */
  readonly shown: readonly string[];
  /** Those of them that are over. */
  readonly ended: readonly string[];
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
  const { messageId, afterIteration, showsText, isPast, known = NO_CALLS } = place;
  const out: UIChunk[] = [];
  const text = createTextParts(out);
  const calls = createCalls(out, text, known);
  const named = new Set<string>();
  const waiting = new Map<string, PendingItem>();
  const questions = new Map<string, ShownQuestion>();
  const decided = new Set(known.shown.filter((id) => isBelow(id) && !known.ended.includes(id)));
  let status: RunStatus | undefined;
  let model: string | undefined;
  let hasBegun = false;
  /** Iterations up to this one have been shown whole. */
  let shownUpTo = afterIteration;
  let newest = afterIteration;

  const taken = (): readonly UIChunk[] => {
    if (out.length === 0) return [];
    // A message without parts would be an empty bubble.
    const start = hasBegun ? [] : [{ type: 'start', messageId } as const];
    hasBegun = true;
    return [...start, ...out.splice(0)];
  };
  const question = (asked: ShownQuestion): void => {
    const { id } = asked;
    const before = questions.get(id);
    if (before?.isAnswered === true) return;
    if (before === undefined) text.aside(id);
    const data = { ...before, ...asked };
    questions.set(id, data);
    out.push({ type: 'data-question', id, data });
  };
  const keep = (
    name: string,
    { id, data }: { readonly id?: string; readonly data: Json },
  ): void => {
    if (id !== undefined) out.push({ type: `data-${name}`, id, data });
  };
  const write = (iteration: number, pieces: readonly WrittenText[]): void => {
    shownUpTo = Math.max(shownUpTo, iteration);
    if (!showsText) return;
    const whole = merged(pieces);
    const shown = text.written(iteration);
    let rest = restAfter(whole, shown);
    if (rest === undefined) {
      // What stands before a call can no longer be marked.
      if (!text.isOpen() || plainText(shown).trim() === plainText(whole).trim()) return;
      text.discard();
      rest = whole;
    }
    if (rest.length > 0) text.toIteration(iteration);
    for (const one of rest) text.write(one.type, one.text);
  };
  const takeEntry = ({ iteration, origin, messages }: Entry): void => {
    if (origin !== 'original') return;
    if (iteration > shownUpTo) write(iteration, textsOf(messages));
    for (const chunk of messages.flatMap(({ parts }) => parts.flatMap(shownPart))) {
      text.close();
      out.push(chunk);
    }
  };
  const takeEvent = (event: AgentEvent): void => {
    newest = Math.max(newest, event.iteration);
    switch (event.type) {
      case 'agent:model_call:after': {
        if (event.purpose === 'reply') ({ model } = event);
        const added = (event.sources ?? []).map(sourceOf);
        out.push(...added.filter(({ sourceId }) => !named.has(sourceId)));
        for (const { sourceId } of added) named.add(sourceId);
        return;
      }
      case 'agent:tool_call:before':
        if (event.tool !== ASK_TOOL) calls.begin(event);
        return;
      case 'agent:tool_call:after':
        if (event.tool === ASK_TOOL) return;
        calls.begin(event);
        calls.end(event.callId, event);
        return;
      case 'agent:approval:requested':
        // Its arguments are cut.
        if (isPast === true) calls.ask(event.callId, event);
        return;
      case 'agent:question:asked':
        question({ id: event.questionId, question: event.text, isAnswered: false });
        return;
      case 'agent:question:answered': {
        const asked = questions.get(event.questionId);
        if (asked !== undefined) question({ ...asked, isAnswered: true });
        return;
      }
      default:
        if (isOwnEvent(event) && event.keep === true) keep(event.type, event);
    }
  };
  const takePending = (item: PendingItem): void => {
    waiting.set(item.id, item);
    if (item.kind === 'question') question(questionOf(item));
    if (item.kind === 'approval') {
      calls.ask(item.id, { callId: item.id, tool: item.tool, args: item.args, mcp: item.server });
    }
  };
  const takeSettled = (id: string): void => {
    const item = waiting.get(id);
    waiting.delete(id);
    if (item?.kind === 'approval' && isBelow(id)) decided.add(id);
    if (item?.kind === 'question') question({ ...questionOf(item), isAnswered: true });
  };
  const end = (step: Step): void => {
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
  };
  return {
    event: (event, entry) => {
      if (entry !== undefined) takeEntry(entry);
      takeEvent(event);
      return taken();
    },
    text: (iteration, texts) => {
      if (iteration > shownUpTo) write(iteration, texts);
      return taken();
    },
    update: (update) => {
      if (update.kind === 'step') end(update.step);
      if (update.kind === 'status') ({ status } = update);
      if (update.kind === 'pending') takePending(update.item);
      if (update.kind === 'settled') takeSettled(update.id);
      if (update.kind === 'topic') {
        const { topic, data, callId } = update;
        if (update.keep === true) {
          keep(topic, update);
          return taken();
        }
        out.push({ type: 'data-topic', data: defined({ topic, data, callId }), transient: true });
        return taken();
      }
      if (showsText && 'iteration' in update && update.iteration > shownUpTo) {
        newest = Math.max(newest, update.iteration);
        text.toIteration(update.iteration);
        if (update.kind === 'restart') text.discard();
        else if (update.kind === 'gap') text.write('text', ' […] ');
        else if (update.kind !== 'partial') text.write(update.kind, update.delta);
      }
      return taken();
    },
    below: (id, event) => {
      decided.delete(id);
      calls.end(id, event);
      return taken();
    },
    decidedBelow: () => [...decided],
    end: (step) => {
      end(step);
      return taken();
    },
    pause: (finishReason) => {
      text.finish();
      if (hasBegun) out.push({ type: 'finish', finishReason });
      return taken();
    },
    waitsForPerson: () => {
      const items = [...waiting.values()].filter(isForPage);
      return status !== undefined && items.length > 0 && isIdleBut(status, items);
    },
    iteration: () => newest,
  };
}

/** The calls of a message. */
interface Calls {
  readonly begin: (call: ShownCall & { readonly iteration: number }) => void;
  readonly end: (id: string, event: CallEvent) => void;
  /** Asks for the approval of a call. */
  readonly ask: (id: string, call: ShownCall) => void;
}

function createCalls(out: UIChunk[], text: TextParts, known: KnownCalls): Calls {
  const called = new Set(known.shown);
  const ended = new Set(known.ended);
  const show = ({ callId: toolCallId, tool: toolName, args: input, mcp }: ShownCall): void => {
    called.add(toolCallId);
    text.close();
    out.push({ type: 'tool-input-available', toolCallId, toolName, input, ...kindOf(mcp) });
  };
  return {
    begin: (call) => {
      if (called.has(call.callId)) return;
      text.toIteration(call.iteration);
      show(call);
    },
    end: (id, event) => {
      if (ended.has(id)) return;
      ended.add(id);
      out.push(outputOf(id, event));
    },
    ask: (id, call) => {
      if (called.has(id)) return;
      text.aside('approvals');
      show({ ...call, callId: id });
      out.push({ type: 'tool-approval-request', approvalId: id, toolCallId: id });
    },
  };
}
