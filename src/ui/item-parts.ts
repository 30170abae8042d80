/** The calls and questions of a message, and what of them waits for a person. */
import type { PendingItem, RunStatus } from '../core/contract/messages.ts';
import {
  isBelow,
  isForPage,
  isIdleBut,
  kindOf,
  outputOf,
  questionOf,
  type CallEvent,
  type ShownCall,
  type ShownQuestion,
} from './shown-parts.ts';
import type { TextParts } from './text-parts.ts';
import type { UIChunk } from './ui-chunk.ts';

/** Ids of calls that a page has in a message. */
export interface KnownCalls {
  /** Those that it shows. */
  readonly shown: readonly string[];
  /** Those of them that are over. */
  readonly ended: readonly string[];
}

/** The calls of a message. */
export interface Calls {
  readonly begin: (call: ShownCall & { readonly iteration: number }) => void;
  readonly end: (id: string, event: CallEvent) => void;
  /** Asks for the approval of a call. */
  readonly ask: (id: string, call: ShownCall) => void;
}

/** Writes calls into `out`; a call that the page has in this message is not shown again. */
export function createCalls(out: UIChunk[], text: TextParts, known: KnownCalls): Calls {
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

/** The questions of a message. */
export interface Questions {
  readonly ask: (asked: ShownQuestion) => void;
  /** Marks a question as answered, unless nobody has asked it. */
  readonly answered: (id: string) => void;
}

/** Writes questions into `out`. */
export function createQuestions(out: UIChunk[], text: TextParts): Questions {
  const questions = new Map<string, ShownQuestion>();
  const ask = (asked: ShownQuestion): void => {
    const { id } = asked;
    const before = questions.get(id);
    if (before?.isAnswered === true) return;
    if (before === undefined) text.aside(id);
    const data = { ...before, ...asked };
    questions.set(id, data);
    out.push({ type: 'data-question', id, data });
  };
  return {
    ask,
    answered: (id) => {
      const asked = questions.get(id);
      if (asked !== undefined) ask({ ...asked, isAnswered: true });
    },
  };
}

/** What waits in a run and below it. */
export interface MessageItems {
  readonly began: (item: PendingItem) => void;
  readonly settled: (id: string) => void;
  /** What became of a call of a run below. */
  readonly below: (id: string, event: CallEvent) => void;
  /** Calls of runs below that were decided, and of which nothing more is known. */
  readonly decidedBelow: () => readonly string[];
  /** Whether a run of this status goes on only when a person has done something. */
  readonly waitForPerson: (status: RunStatus | undefined) => boolean;
}

/** Writes what waits as calls and questions. */
export function createMessageItems(
  calls: Calls,
  questions: Questions,
  known: KnownCalls,
): MessageItems {
  const waiting = new Map<string, PendingItem>();
  const decided = new Set(known.shown.filter((id) => isBelow(id) && !known.ended.includes(id)));
  return {
    began: (item) => {
      waiting.set(item.id, item);
      if (item.kind === 'question') questions.ask(questionOf(item));
      if (item.kind === 'approval') {
        calls.ask(item.id, { callId: item.id, tool: item.tool, args: item.args, mcp: item.server });
      }
    },
    settled: (id) => {
      const item = waiting.get(id);
      waiting.delete(id);
      if (item?.kind === 'approval' && isBelow(id)) decided.add(id);
      if (item?.kind === 'question') questions.ask({ ...questionOf(item), isAnswered: true });
    },
    below: (id, event) => {
      decided.delete(id);
      calls.end(id, event);
    },
    decidedBelow: () => [...decided],
    waitForPerson: (status) => {
      const items = [...waiting.values()].filter(isForPage);
      return status !== undefined && items.length > 0 && isIdleBut(status, items);
    },
  };
}
