/** What was said in a conversation, as text for a terminal. */
import type { ConversationTurn } from '../../client/turns.ts';
import type { Json } from '../../core/base/json.ts';
import { textOf, type Message } from '../../core/base/message.ts';
import { ASK_TOOL } from '../../core/toolchain/ask-user.ts';
import { terminalText, valueText } from '../terminal/text.ts';

/** Turns that are shown when a conversation is resumed, the newest. */
export const SHOWN_TURNS = 50;

/** The turns as `you: …` and `concierge: …`. What a later message replaced is left out. */
export function historyText(agent: string, turns: readonly ConversationTurn[]): string {
  const lines = turns
    .filter(({ replaced }) => replaced !== true)
    .flatMap((turn) => wordsOf(turn))
    .map(({ isAgent, text }) => `${isAgent ? agent : 'you'}: ${text}`);
  return lines.length === 0 ? 'No messages yet.' : terminalText(lines.join('\n'));
}

/** What somebody said. */
interface Words {
  readonly isAgent: boolean;
  readonly text: string;
}

/** The message, further ones, questions with their answers, and the end. */
function wordsOf(turn: ConversationTurn): readonly Words[] {
  const { number, text, entries, events } = turn;
  if (number === 0) return entries.flatMap(({ messages }) => messages.flatMap(earlierWords));
  const said = entries
    .slice(1)
    .filter(({ origin }) => origin === 'input')
    .map(({ iteration, messages }) => ({ iteration, words: messages.map(saidText) }));
  const asked = events.flatMap((event) =>
    event.type === 'agent:tool_call:after' && event.tool === ASK_TOOL && event.outcome === 'ok'
      ? [{ iteration: event.iteration, words: askedWords(event.args, event.output) }]
      : [],
  );
  const between = [...said, ...asked].toSorted((a, b) => a.iteration - b.iteration);
  return [byPerson(text), ...between.flatMap(({ words }) => words), ...endWords(turn)];
}

/** Of a chat that the conversation has brought along. */
function earlierWords(message: Message): readonly Words[] {
  const { role } = message;
  const text = textOf(message);
  if (text === '' || (role !== 'user' && role !== 'assistant')) return [];
  return [role === 'user' ? byPerson(text) : byAgent(text)];
}

function saidText(message: Message): Words {
  return byPerson(textOf(message));
}

function askedWords(args: Json, output: Json | undefined): readonly Words[] {
  const isAsked = typeof args === 'object' && args !== null && 'question' in args;
  const question = (isAsked ? args['question'] : undefined) ?? args;
  return [
    byAgent(valueText(question)),
    ...(output === undefined ? [] : [byPerson(valueText(output))]),
  ];
}

function endWords({ step, expired }: ConversationTurn): readonly Words[] {
  const { status, reason = '' } = step ?? expired ?? {};
  if (status === undefined) return [];
  if (status !== 'success') return [byAgent(`[No answer: ${status}, ${reason}.]`)];
  return [byAgent(step === null ? (expired?.answer ?? '') : valueText(step.value))];
}

function byPerson(text: string): Words {
  return { isAgent: false, text };
}

function byAgent(text: string): Words {
  return { isAgent: true, text };
}
