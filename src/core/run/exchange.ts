/**
 * The parts of a run that belong in the history of a conversation: what the person said, the
 * questions and their answers, and the answer of the run. Calls and observations do not. Pure.
 */
import { utf8Length, type Json } from '../base/json.ts';
import { textOf } from '../base/message.ts';
import type { Entry } from '../contract/entry.ts';
import { ASK_TOOL } from '../toolchain/ask-user.ts';
import type { AgentEvent } from '../contract/events.ts';
import type { HistoryTurn } from '../contract/input.ts';
import type { Step } from '../contract/step.ts';

/** One run, as far as it is known. */
export interface Exchange {
  /** The text with which the person began. */
  readonly task: string;
  /** Null while the run goes on. */
  readonly step: Step | null;
  readonly entries: readonly Entry[];
  readonly events: readonly AgentEvent[];
}

/**
 * The turns of one run, in the order in which they were said. A run that did not succeed has a note
 * in brackets instead of an answer, so that the model knows that there was none.
 */
export function exchangeTurns({ task, step, entries, events }: Exchange): readonly HistoryTurn[] {
  const inputs = entries
    .filter(({ origin }) => origin === 'input')
    .map(({ iteration, messages }) => ({
      iteration,
      turns: messages.map((message) => turnOf('user', textOf(message))),
    }));
  const questions = events.flatMap((event) =>
    event.type === 'agent:tool_call:after' && event.tool === ASK_TOOL && event.outcome === 'ok'
      ? [{ iteration: event.iteration, turns: askedTurns(event.args, event.output) }]
      : [],
  );
  const between = [...inputs, ...questions].toSorted((a, b) => a.iteration - b.iteration);
  return [
    turnOf('user', task),
    ...between.flatMap(({ turns }) => turns),
    ...(step === null ? [] : [turnOf('assistant', answerText(step))]),
  ];
}

function askedTurns(args: Json, output: Json | undefined): readonly HistoryTurn[] {
  const question =
    typeof args === 'object' && args !== null && 'question' in args ? args['question'] : undefined;
  return [
    turnOf('assistant', plainText(question ?? args)),
    ...(output === undefined ? [] : [turnOf('user', plainText(output))]),
  ];
}

function answerText({ status, reason, value }: Step): string {
  return status === 'success' ? plainText(value) : `[No answer: ${status}, ${reason}.]`;
}

function plainText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function turnOf(role: HistoryTurn['role'], text: string): HistoryTurn {
  return { role, text };
}

/**
 * The newest of `turns`, with at most `maxBytes` of UTF-8 together. The first one is the person's:
 * an answer without its question would mislead.
 */
export function newestTurns(
  turns: readonly HistoryTurn[],
  maxBytes: number,
): readonly HistoryTurn[] {
  let bytes = 0;
  let first = turns.length;
  while (first > 0) {
    bytes += utf8Length(turns[first - 1]?.text ?? '');
    if (bytes > maxBytes) break;
    first -= 1;
  }
  while (first > 0 && first < turns.length && turns[first]?.role !== 'user') first += 1;
  return turns.slice(first);
}
