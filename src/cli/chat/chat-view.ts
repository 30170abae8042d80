/** What a person sees of a conversation. Everything that others wrote is made safe for a terminal. */
import type { RunUpdate } from '../../client/follow-run.ts';
import type { HistoryTurn } from '../../core/contract/input.ts';
import type { PendingItem, RunStatus } from '../../core/contract/messages.ts';
import type { Step } from '../../core/contract/step.ts';
import type { Json } from '../../core/base/json.ts';
import type { Output } from '../terminal/output.ts';
import { endText, pendingText } from '../views/run-text.ts';
import { durationText, terminalText, valueText } from '../terminal/text.ts';

/** Shows a conversation. */
export interface ChatView {
  /** One line about the conversation itself. */
  readonly note: (text: string) => void;
  /** Something that went wrong, and what to do. */
  readonly problem: (text: string) => void;
  /** News of the turn; questions and approvals are shown by `ask`. */
  readonly update: (update: RunUpdate) => void;
  /** What the person is to answer now. */
  readonly ask: (item: PendingItem) => void;
  /** Lines that the person asked for. */
  readonly text: (text: string) => void;
}

/** How a conversation is shown. */
export interface ChatViewOptions {
  /** Shows what the model writes while it writes it. */
  readonly streams: boolean;
  /** Whether the answer need not be written again below the same text. */
  readonly isWatched: boolean;
  /** What deadlines are counted from; milliseconds since 1970. */
  readonly now: () => number;
}

/** A view that writes answers to stdout, everything else to stderr. */
export function createChatView(output: Output, options: ChatViewOptions): ChatView {
  const { paintNote } = output;
  /** The text of the newest iteration, as far as it was shown. */
  let streamed = { iteration: 0, text: '' };
  let isInLine = false;
  let doing = '';
  const endLine = (): void => {
    if (isInLine) output.raw('\n');
    isInLine = false;
  };
  const line = (text: string): void => {
    endLine();
    output.note(text);
  };
  const piece = (iteration: number, delta: string, isReasoning: boolean): void => {
    if (!options.streams || delta === '') return;
    if (streamed.iteration !== iteration) {
      endLine();
      streamed = { iteration, text: '' };
    }
    if (!isReasoning) streamed = { iteration, text: streamed.text + delta };
    const safe = terminalText(delta);
    output.raw(isReasoning ? paintNote('dim', safe) : safe);
    isInLine = !delta.endsWith('\n');
  };
  const end = (step: Step): void => {
    endLine();
    const isGood = step.status === 'success';
    const answer = valueText(step.value);
    const isShown = options.isWatched && streamed.text.trim() === answer.trim();
    if (isGood && !isShown) output.text(output.safe(answer));
    if (!isGood) output.note(paintNote('red', terminalText(failureText(step))));
    output.note(paintNote('dim', endText(step)));
    streamed = { iteration: 0, text: '' };
    doing = '';
  };
  return {
    note: (text) => line(paintNote('dim', text)),
    problem: (text) => line(paintNote('red', terminalText(text))),
    text: (text) => {
      endLine();
      output.text(output.safe(text));
    },
    ask: (item) => line(paintNote('yellow', askText(item, options.now()))),
    update: (update) => {
      switch (update.kind) {
        case 'text':
        case 'reasoning':
          return piece(update.iteration, update.delta, update.kind === 'reasoning');
        case 'restart':
          if (streamed.text === '') return;
          streamed = { iteration: update.iteration, text: '' };
          return line(paintNote('dim', '[starts again]'));
        case 'gap':
          return piece(update.iteration, '[…]', true);
        case 'status': {
          const tools = toolsOf(update.status);
          if (tools !== doing && tools !== '') line(paintNote('dim', `· ${terminalText(tools)}`));
          doing = tools;
          return;
        }
        case 'silent':
          return line(
            paintNote('dim', 'No worker serves this agent at the moment; the turn waits.'),
          );
        case 'pending':
          if (update.item.kind === 'external' || update.item.kind === 'pause') {
            line(
              paintNote(
                'dim',
                `waits for ${update.item.kind} ${update.item.id}: ${pendingText(update.item)}`,
              ),
            );
          }
          return;
        case 'settled':
          return;
        case 'step':
          return end(update.step);
      }
    },
  };
}

/** A view for programs: each piece of news as one line of JSON on stdout. */
export function createJsonChatView(output: Output, write: (line: string) => unknown): ChatView {
  const tell = (value: object): void => void write(`${JSON.stringify(value)}\n`);
  return {
    note: (text) => output.note(text),
    problem: (text) => tell({ kind: 'problem', text }),
    text: (text) => tell({ kind: 'note', text }),
    ask: () => undefined,
    update: tell,
  };
}

/** The tools that are at work: `tool search, tool fetch`. */
function toolsOf({ waitsFor }: RunStatus): string {
  return waitsFor.filter((one) => one.startsWith('tool ')).join(', ');
}

function failureText({ status, reason, message }: Step): string {
  if (status === 'canceled') return 'Stopped.';
  return `No answer: ${status} (${reason})${message === undefined ? '' : `. ${message}`}`;
}

/**
 * A question with its options, or a call to approve, and how to answer:
 *
 *     ? Which John?
 *       1 John Smith
 *       2 John Doe
 *       A number or a label. Without an answer within 5 min 0 s: John Doe
 */
export function askText(item: PendingItem, nowMs: number): string {
  switch (item.kind) {
    case 'question': {
      const { question, options, free, details, default: fallback } = item;
      return terminalText(
        [
          `? ${whoseText(item)}${question}`,
          ...detailLines(details),
          ...(options ?? []).map((option, index) => `  ${index + 1} ${option}`),
          ...hintLines([howToAnswer(options, free), ...untilText(item, nowMs, fallback)]),
        ].join('\n'),
      );
    }
    case 'approval': {
      const { tool, args, reasoning } = item;
      return terminalText(
        [
          `? ${whoseText(item)}May I call ${tool} ${JSON.stringify(args)}`,
          ...(reasoning === undefined ? [] : [`  ${reasoning}`]),
          ...hintLines([
            'y, n and why, or other arguments as a JSON object.',
            ...(item.deadline === undefined ? [] : untilText(item, nowMs, 'no')),
          ]),
        ].join('\n'),
      );
    }
    case 'external':
    case 'pause':
      return pendingText(item);
  }
}

/** Whose question it is, when it comes from further down in the tree: `writer: `. */
function whoseText({ agent, path }: PendingItem): string {
  return path.includes('/') ? `${agent}: ` : '';
}

function howToAnswer(options: readonly string[] | undefined, free: boolean): string {
  if (options === undefined) return '';
  return free ? 'A number, a label, or an answer of your own.' : 'A number or a label.';
}

function untilText(
  { deadline }: PendingItem,
  nowMs: number,
  fallback: Json | undefined,
): readonly string[] {
  const given = fallback === undefined ? '' : valueText(fallback);
  if (deadline === undefined) return given === '' ? [] : [`Enter alone: ${given}`];
  const within = `within ${durationText(Math.max(0, deadline - nowMs))}`;
  return [given === '' ? `Answer ${within}.` : `Without an answer ${within}: ${given}`];
}

function hintLines(hints: readonly string[]): readonly string[] {
  const line = hints.filter((hint) => hint !== '').join(' ');
  return line === '' ? [] : [`  ${line}`];
}

function detailLines(details: Json | undefined): readonly string[] {
  if (details === undefined) return [];
  return valueText(details)
    .split('\n')
    .map((line) => `  ${line}`);
}

/** What was said, a line or more for each turn: `you: …`, `concierge: …`. */
export function historyText(agent: string, turns: readonly HistoryTurn[]): string {
  if (turns.length === 0) return 'Nothing was said yet.';
  return terminalText(
    turns.map(({ role, text }) => `${role === 'user' ? 'you' : agent}: ${text}`).join('\n'),
  );
}
