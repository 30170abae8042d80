/**
 * A chat session: handles the person's lines, the updates of the current turn, and Ctrl-C.
 * Independent of the terminal and the server.
 *
 * I1  Events are handled one at a time, in the order of their arrival.
 * I2  Leaving never ends a turn; only Ctrl-C and `/cancel` do.
 * I3  A piped line is read only when one is needed, so that it answers the right question.
 */
import { EventEmitter, on } from 'node:events';
import type { Conversation } from '../../client/conversation.ts';
import type { RunUpdate } from '../../client/follow-run.ts';
import type { RunHandle } from '../../client/run-handle.ts';
import type { PendingItem } from '../../core/contract/messages.ts';
import type { Step } from '../../core/contract/step.ts';
import { isUsageError } from '../../core/base/usage-error.ts';
import { CHAT_COMMANDS, readCommand, type ChatCommand, readDecision } from './chat-commands.ts';
import { historyText, type ChatView } from './chat-view.ts';
import type { LineSource } from '../terminal/io.ts';
import { statsText } from '../views/run-text.ts';

/** What {@link runChatSession} takes. */
export interface ChatSessionParts {
  readonly conversation: Conversation;
  readonly lines: LineSource;
  readonly view: ChatView;
  /** Calls `listener` with `interrupt` at each Ctrl-C, with `leave` when the process must end. */
  readonly onSignal: (listener: (what: 'interrupt' | 'leave') => void) => void;
}

/** How a session ended. */
export interface ChatEnding {
  /** `left`: by `/quit` or the end of input · `interrupted`: by Ctrl-C or another signal. */
  readonly how: 'left' | 'interrupted';
  /** The turn that is still running. */
  readonly open: RunHandle | null;
  /** The Step of the last turn that ended during the session. */
  readonly lastStep: Step | null;
}

/** The current turn. */
interface Turn {
  readonly run: RunHandle;
  readonly updates: AsyncIterator<RunUpdate>;
  /** The items that wait, by id, oldest first, without those answered in this session. */
  readonly waiting: Map<string, PendingItem>;
  isStopping: boolean;
}

type SessionEvent =
  /** Undefined at the end of input. */
  | { readonly kind: 'line'; readonly line: string | undefined }
  | { readonly kind: 'update'; readonly turn: Turn; readonly update: RunUpdate | undefined }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'signal'; readonly what: 'interrupt' | 'leave' };

/** The state of a session. */
interface Session extends ChatSessionParts {
  readonly put: (event: SessionEvent) => void;
  readonly typed: AsyncIterator<string>;
  turn: Turn | null;
  lastStep: Step | null;
  /** Whether a line was requested and has not come yet. */
  isAsking: boolean;
  /** The prompt on the terminal; undefined after a line was entered. */
  prompt: string | undefined;
  /** Whether Ctrl-C was pressed without a current turn. */
  hasWarned: boolean;
  /** Earlier lines that ended with a backslash. */
  draft: string;
}

const PROMPT = 'you> ';
const ANSWER_PROMPT = 'answer> ';

/** Runs a session until the person leaves. Rejects for errors that the person cannot correct. */
export async function runChatSession(parts: ChatSessionParts): Promise<ChatEnding> {
  const emitter = new EventEmitter();
  const events: AsyncIterator<readonly SessionEvent[]> = on(emitter, 'event');
  const put = (event: SessionEvent): void => void emitter.emit('event', event);
  const session: Session = {
    ...parts,
    put,
    typed: parts.lines.lines[Symbol.asyncIterator](),
    turn: null,
    lastStep: null,
    isAsking: false,
    prompt: undefined,
    hasWarned: false,
    draft: '',
  };
  parts.onSignal((what) => put({ kind: 'signal', what }));
  try {
    await resumeConversation(session);
    for (;;) {
      promptForLine(session);
      const { value } = await events.next();
      const ending = await handle(session, value[0]);
      if (ending !== null) return ending;
    }
  } finally {
    void session.turn?.updates.return?.();
    parts.lines.close();
  }
}

/** Shows the conversation so far, and follows a turn that is still running. */
async function resumeConversation(session: Session): Promise<void> {
  const { conversation, view } = session;
  const run = conversation.newest();
  if (run === null) return;
  view.note(historyText(conversation.agent, await conversation.turns()));
  if ((await run.step()) === null) follow(session, run);
}

/** Shows the right prompt, and requests a line if one is needed. */
function promptForLine(session: Session): void {
  const { lines, turn, put } = session;
  const isAnswer = askedOf(turn) !== undefined;
  const prompt = isAnswer ? ANSWER_PROMPT : turn === null ? PROMPT : '';
  if (prompt !== session.prompt) lines.prompt(prompt);
  session.prompt = prompt;
  const isNeeded = lines.isTerminal || isAnswer || turn === null;
  if (!isNeeded || session.isAsking) return;
  session.isAsking = true;
  session.typed.next().then(
    ({ done, value }) => put({ kind: 'line', line: done === true ? undefined : value }),
    (error: unknown) => put({ kind: 'failed', error }),
  );
}

/** Handles one event; null when the session goes on. */
async function handle(session: Session, event: SessionEvent): Promise<ChatEnding | null> {
  switch (event.kind) {
    case 'failed':
      throw event.error;
    case 'update':
      // Ignore updates of an earlier turn.
      if (event.turn === session.turn) takeUpdate(session, event.turn, event.update);
      return null;
    case 'signal':
      return event.what === 'leave' ? leave(session, 'interrupted') : interrupt(session);
    case 'line':
      session.isAsking = false;
      session.hasWarned = false;
      session.prompt = undefined;
      return event.line === undefined ? leave(session, 'left') : takeLine(session, event.line);
  }
}

function leave({ turn, lastStep }: Session, how: ChatEnding['how']): ChatEnding {
  return { how, open: turn?.run ?? null, lastStep };
}

/** The first Ctrl-C stops a turn, or warns; the second leaves. */
async function interrupt(session: Session): Promise<ChatEnding | null> {
  const { turn, view } = session;
  if (turn?.isStopping === true || session.hasWarned) return leave(session, 'interrupted');
  if (turn === null) {
    session.hasWarned = true;
    view.note('Press Ctrl-C again to leave, or type /quit.');
    return null;
  }
  view.note('Stopping this turn. Press Ctrl-C again to leave.');
  await withProblems(session, () => stop(session));
  return null;
}

async function stop({ turn, view }: Session): Promise<void> {
  if (turn === null) return view.note('No turn is running.');
  turn.isStopping = true;
  await turn.run.cancel('Stopped by the person.');
}

/** Does `work` and shows its usage errors to the person. */
async function withProblems<Result>(
  { view }: Session,
  work: () => Promise<Result>,
): Promise<Result | null> {
  try {
    return await work();
  } catch (error) {
    if (!isUsageError(error)) throw error;
    view.problem(error.message);
    return null;
  }
}

async function takeLine(session: Session, line: string): Promise<ChatEnding | null> {
  if (line.endsWith('\\')) {
    session.draft += `${line.slice(0, -1)}\n`;
    return null;
  }
  const text = session.draft + line;
  session.draft = '';
  const command = readCommand(text);
  if (command !== null) return withProblems(session, () => obey(session, command));
  const item = askedOf(session.turn);
  await withProblems(session, async () => {
    if (item !== undefined) await answer(session, item, text.trim());
    else if (text.trim() !== '') await say(session, text.trim());
  });
  return null;
}

async function obey(session: Session, command: ChatCommand): Promise<ChatEnding | null> {
  const { conversation, turn, view } = session;
  switch (command.name) {
    case 'help':
      view.text(CHAT_COMMANDS);
      return null;
    case 'quit':
      return leave(session, 'left');
    case 'cancel':
      await stop(session);
      return null;
    case 'history':
      view.text(historyText(conversation.agent, await conversation.turns()));
      return null;
    case 'stats': {
      const run = conversation.newest();
      view.text(run === null ? 'No messages yet.' : await statsOf(run));
      return null;
    }
    case 'answer':
      if (turn === null) view.note('Nothing is waiting.');
      else {
        await turn.run.answer(command.id, command.value);
        settle(session, turn, command.id);
      }
      return null;
    case 'unknown':
      view.problem(command.problem);
      return null;
  }
}

async function statsOf(run: RunHandle): Promise<string> {
  const step = await run.step();
  return `${run.id}\n${statsText(step?.stats ?? (await run.stats()), false)}`;
}

async function say(session: Session, text: string): Promise<void> {
  const { conversation, view } = session;
  const { run, how } = await conversation.say(text);
  if (how === 'sent') view.note('Sent to the current turn.');
  if (session.turn?.run.id === run.id) return;
  // The earlier turn has just ended; its updates may be missing, so show its Step.
  if (session.turn !== null) finish(session, session.turn, await session.turn.run.result());
  follow(session, run);
}

async function answer(session: Session, item: PendingItem, text: string): Promise<void> {
  const { turn, view } = session;
  if (turn === null) return;
  if (item.kind === 'approval') {
    const decision = readDecision(text);
    if (decision === null) {
      view.problem(
        'Expected y, always, n and a reason, or arguments as a JSON object. Answer again.',
      );
      return;
    }
    await turn.run.decide(item.id, decision);
  } else {
    const fallback = item.kind === 'question' ? item.default : undefined;
    if (text === '' && fallback === undefined) return view.ask(item);
    await turn.run.answer(item.id, text === '' && fallback !== undefined ? fallback : text);
  }
  settle(session, turn, item.id);
}

function follow(session: Session, run: RunHandle): void {
  const updates = run.follow()[Symbol.asyncIterator]();
  session.turn = { run, updates, waiting: new Map(), isStopping: false };
  pull(session, session.turn);
}

/** Requests the next update of a turn, one at a time, at the pace of the terminal. */
function pull({ put }: Session, turn: Turn): void {
  turn.updates.next().then(
    ({ done, value }) => put({ kind: 'update', turn, update: done === true ? undefined : value }),
    (error: unknown) => put({ kind: 'failed', error }),
  );
}

function takeUpdate(session: Session, turn: Turn, update: RunUpdate | undefined): void {
  const { view } = session;
  if (update === undefined) {
    session.turn = null;
    return;
  }
  if (update.kind === 'step') return finish(session, turn, update.step);
  const before = askedOf(turn);
  view.update(update);
  if (update.kind === 'pending') {
    turn.waiting.set(update.item.id, update.item);
    if (before === undefined && isForPerson(update.item)) view.ask(update.item);
  }
  if (update.kind === 'settled') {
    if (before?.id === update.id) view.note(`${update.id} is no longer waiting.`);
    settle(session, turn, update.id);
  }
  pull(session, turn);
}

function finish(session: Session, turn: Turn, step: Step): void {
  void turn.updates.return?.();
  session.turn = null;
  session.lastStep = step;
  session.view.update({ kind: 'step', step });
}

/** Removes an item, and shows the next one. */
function settle({ view }: Session, turn: Turn, id: string): void {
  const before = askedOf(turn);
  turn.waiting.delete(id);
  const item = askedOf(turn);
  if (item !== undefined && item.id !== before?.id) view.ask(item);
}

/** The item that the person has to answer: the oldest question or approval. */
function askedOf(turn: Turn | null): PendingItem | undefined {
  return [...(turn?.waiting.values() ?? [])].find(isForPerson);
}

function isForPerson({ kind }: PendingItem): boolean {
  return kind === 'question' || kind === 'approval';
}
