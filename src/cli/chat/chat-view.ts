/** Shows a conversation to a person. All foreign text is made safe for a terminal. */
import type { RunUpdate } from '../../client/follow-run.ts';
import type { PendingItem, RunStatus } from '../../core/contract/messages.ts';
import type { Step } from '../../core/contract/step.ts';
import { isJsonObject, type Json } from '../../core/base/json.ts';
import type { Output } from '../terminal/output.ts';
import { endText, pendingText } from '../views/run-text.ts';
import { durationText, terminalText, valueText } from '../terminal/text.ts';

/** Shows a conversation. */
export interface ChatView {
  /** One line about the conversation itself. */
  readonly note: (text: string) => void;
  /** A problem, and what to do. */
  readonly problem: (text: string) => void;
  /** An update of the turn; `ask` shows questions and approvals. */
  readonly update: (update: RunUpdate) => void;
  /** The item that the person has to answer now. */
  readonly ask: (item: PendingItem) => void;
  /** The output of a command. */
  readonly text: (text: string) => void;
}

/** How a conversation is shown. */
export interface ChatViewOptions {
  /** Whether provisional text is shown. */
  readonly streams: boolean;
  /** Whether the streamed text and the answer appear on the same terminal. */
  readonly isWatched: boolean;
  /** The current time, for deadlines; milliseconds since 1970. */
  readonly now: () => number;
}

/** A view that writes answers to stdout, everything else to stderr. */
export function createChatView(output: Output, options: ChatViewOptions): ChatView {
  const { paintNote } = output;
  const writer = createWriter(output, options.streams);
  const { line, piece } = writer;
  const dimLine = (text: string): void => line(paintNote('dim', text));
  let tools = '';
  const end = (step: Step): void => {
    writer.endLine();
    const isGood = step.status === 'success';
    const answer = valueText(step.value);
    const isShown = options.isWatched && writer.streamedText().trim() === answer.trim();
    if (isGood && !isShown) output.text(output.safe(answer));
    if (!isGood) output.note(paintNote('red', terminalText(failureText(step))));
    output.note(paintNote('dim', endText(step)));
    writer.startIteration(0);
    tools = '';
  };
  return {
    note: dimLine,
    problem: (text) => line(paintNote('red', terminalText(text))),
    text: (text) => {
      writer.endLine();
      output.text(output.safe(text));
    },
    ask: (item) => line(paintNote('yellow', askText(item, options.now()))),
    update: (update) => {
      switch (update.kind) {
        case 'text':
        case 'reasoning':
          return piece(update.iteration, update.delta, update.kind === 'reasoning');
        case 'restart':
          if (writer.streamedText() === '') return;
          writer.startIteration(update.iteration);
          return dimLine('[starts again]');
        case 'gap':
          return piece(update.iteration, '[…]', true);
        case 'status': {
          const earlier = tools;
          tools = toolsOf(update.status);
          if (tools !== earlier && tools !== '') dimLine(`· ${terminalText(tools)}`);
          return;
        }
        case 'silent':
          return dimLine('No worker serves this agent at the moment; the turn waits.');
        case 'pending': {
          const { item } = update;
          if (item.kind !== 'external' && item.kind !== 'pause') return;
          return dimLine(`waits for ${item.kind} ${item.id}: ${pendingText(item)}`);
        }
        case 'partial':
        case 'topic':
        case 'settled':
          return;
        case 'step':
          return end(update.step);
      }
    },
  };
}

/** Writes streamed text and whole lines to stderr, each line on a line of its own. */
interface Writer {
  readonly line: (text: string) => void;
  readonly piece: (iteration: number, delta: string, isReasoning: boolean) => void;
  readonly endLine: () => void;
  /** The text of the newest iteration that was shown, without reasoning. */
  readonly streamedText: () => string;
  /** Forgets the text of the iteration before. */
  readonly startIteration: (iteration: number) => void;
}

function createWriter({ raw, note, paintNote }: Output, streams: boolean): Writer {
  let streamed = { iteration: 0, text: '' };
  let isInLine = false;
  const endLine = (): void => {
    if (isInLine) raw('\n');
    isInLine = false;
  };
  const startIteration = (iteration: number): void => {
    streamed = { iteration, text: '' };
  };
  return {
    endLine,
    startIteration,
    streamedText: () => streamed.text,
    line: (text) => {
      endLine();
      note(text);
    },
    piece: (iteration, delta, isReasoning) => {
      if (!streams || delta === '') return;
      if (streamed.iteration !== iteration) {
        endLine();
        startIteration(iteration);
      }
      if (!isReasoning) streamed.text += delta;
      const safe = terminalText(delta);
      raw(isReasoning ? paintNote('dim', safe) : safe);
      isInLine = !delta.endsWith('\n');
    },
  };
}

/** A view for programs: each update as one line of JSON on stdout. */
export function createJsonChatView(output: Output, write: (line: string) => unknown): ChatView {
  const writeLine = (value: object): void => void write(`${JSON.stringify(value)}\n`);
  return {
    note: (text) => output.note(text),
    problem: (text) => writeLine({ kind: 'problem', text }),
    text: (text) => writeLine({ kind: 'note', text }),
    ask: () => undefined,
    update: writeLine,
  };
}

/** The tools that are running: `tool search, tool fetch`. */
function toolsOf({ waitsFor }: RunStatus): string {
  return waitsFor.filter((one) => one.startsWith('tool ')).join(', ');
}

function failureText({ status, reason, message }: Step): string {
  if (status === 'canceled') return 'Stopped.';
  return `No answer: ${status} (${reason})${message === undefined ? '' : `. ${message}`}`;
}

/**
 * A question with its options, or a call to approve, with a hint on how to answer:
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
          ...hintLines([
            howToAnswer(options, free),
            isForm(details) ? 'An object as JSON.' : '',
            ...untilText(item, nowMs, fallback),
          ]),
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
            'y, always, n and a reason, or other arguments as a JSON object.',
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

/** The agent of a question from a run below: `writer: `. */
function whoseText({ agent, path }: PendingItem): string {
  return path.includes('/') ? `${agent}: ` : '';
}

function howToAnswer(options: readonly string[] | undefined, free: boolean): string {
  if (options === undefined) return '';
  return free ? 'A number, a label, or an answer of your own.' : 'A number or a label.';
}

/** Whether a tool, or its server, asks for an object. */
function isForm(details: Json | undefined): boolean {
  if (!isJsonObject(details) || details['tool'] === undefined) return false;
  return isJsonObject(details['form']) && details['form']['properties'] !== undefined;
}

function untilText(
  { deadline }: PendingItem,
  nowMs: number,
  fallback: Json | undefined,
): readonly string[] {
  const given = fallback === undefined ? '' : valueText(fallback);
  if (deadline === undefined) return given === '' ? [] : [`Press Enter for: ${given}`];
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
