/**
 * A chat session: handles the person's lines, the updates of the current turn, and Ctrl-C.
 * Independent of the terminal and the server.
 *
 * I1  Events are handled one at a time, in the order of their arrival.
 * I2  Leaving never ends a turn; only Ctrl-C and `/cancel` do.
 * I3  A piped line is read only when one is needed, so that it answers the right question.
 * I4  Nothing that needs a worker is awaited between two events, so that leaving is always possible.
 */
import { EventEmitter, on } from 'node:events';
import type { Conversation } from '../../client/conversation.ts';
import type { TurnHandle } from '../../client/turn.ts';
import type { RunUpdate } from '../../client/follow-run.ts';
import type { PendingItem } from '../../core/contract/messages.ts';
import type { Step } from '../../core/contract/step.ts';
import { isUsageError } from '../../core/base/usage-error.ts';
import { CHAT_COMMANDS, readCommand, type ChatCommand, readDecision } from './chat-commands.ts';
import { historyText, SHOWN_TURNS } from './chat-history.ts';
import type { ChatView } from './chat-view.ts';
import type { LineSource } from '../terminal/io.ts';
import { statsText } from '../views/run-text.ts';
import { pluralText } from '../terminal/text.ts';

/** What {@link runChatSession} takes. */
export interface ChatSessionParts {
  readonly conversation: Conversation;
  /** Whether nothing was said before. */
  readonly isNew: boolean;
  readonly lines: LineSource;
  readonly view: ChatView;
  /** Calls `listener` with `interrupt` at each Ctrl-C, with `leave` when the process must end. */
  readonly onSignal: (listener: (what: 'interrupt' | 'leave') => void) => void;
}

/** How a session ended. */
export interface ChatEnding {
  /**
   * `left`: by `/quit` or the end of input · `closed`: by `/close` · `interrupted`: by Ctrl-C or
   * another signal.
   */
  readonly how: 'left' | 'closed' | 'interrupted';
  /** Whether a turn goes on, or a message waits to be read. */
  readonly isOpen: boolean;
  /** Whether something was said in this session. */
  readonly hasSpoken: boolean;
  /** The Step of the last turn that ended during the session. */
  readonly lastStep: Step | null;
}

/** The current turn. */
interface OpenTurn {
  readonly turn: TurnHandle;
  readonly updates: AsyncIterator<RunUpdate>;
  /** The items that wait, by id, oldest first, without those answered in this session. */
  readonly waiting: Map<string, PendingItem>;
  isStopping: boolean;
}

type SessionEvent =
  /** Undefined at the end of input. */
  | { readonly kind: 'line'; readonly line: string | undefined }
  | { readonly kind: 'update'; readonly turn: OpenTurn; readonly update: RunUpdate | undefined }
  /** What was said during a turn was read: by that turn, or as the beginning of the next. */
  | { readonly kind: 'read'; readonly turn: TurnHandle; readonly how: 'started' | 'sent' }
  | { readonly kind: 'failed'; readonly error: unknown; readonly turn?: OpenTurn }
  | { readonly kind: 'signal'; readonly what: 'interrupt' | 'leave' };

/** The state of a session. */
interface Session extends ChatSessionParts {
  readonly put: (event: SessionEvent) => void;
  readonly typed: AsyncIterator<string>;
  /** Aborted when the session ends. */
  readonly over: AbortController;
  turn: OpenTurn | null;
  /** The turn after the current one. */
  next: TurnHandle | null;
  lastStep: Step | null;
  /** Whether a line was requested and has not come yet. */
  isAsking: boolean;
  /** The prompt on the terminal; undefined after a line was entered. */
  prompt: string | undefined;
  /** Whether Ctrl-C was pressed without a current turn. */
  hasWarned: boolean;
  /** Whether something was said in this session. */
  hasSpoken: boolean;
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
    over: new AbortController(),
    turn: null,
    next: null,
    lastStep: null,
    isAsking: false,
    prompt: undefined,
    hasWarned: false,
    hasSpoken: false,
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
    session.over.abort();
    void session.turn?.updates.return?.();
    parts.lines.close();
  }
}

/** Shows the conversation so far, and follows a turn that is still running. */
async function resumeConversation(session: Session): Promise<void> {
  const { conversation, isNew, view } = session;
  if (isNew) return;
  const newest = await conversation.newest();
  if (newest !== null) {
    view.note(historyText(conversation.agent, await conversation.turns({ last: SHOWN_TURNS })));
    if ((await newest.step()) === null) follow(session, newest);
  }
  const { unreadInputs } = await conversation.run.status();
  if (unreadInputs > 0) {
    view.note(`${pluralText(unreadInputs, 'message')} of before still to be read.`);
  }
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
      return fail(session, event.error, event.turn);
    case 'read':
      if (event.how === 'sent') return null;
      if (session.turn === null) follow(session, event.turn);
      else session.next = event.turn;
      return null;
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

/** Shows what the person can act on. The turn that failed, if one did, is no longer followed. */
function fail(session: Session, error: unknown, turn: OpenTurn | undefined): null {
  if (!isUsageError(error)) throw error;
  if (turn !== undefined && turn === session.turn) session.turn = null;
  session.view.problem(error.message);
  return null;
}

function leave({ turn, next, hasSpoken, lastStep }: Session, how: ChatEnding['how']): ChatEnding {
  return { how, isOpen: turn !== null || next !== null, hasSpoken, lastStep };
}

/** The first Ctrl-C stops a turn, or warns; the second leaves. */
function interrupt(session: Session): ChatEnding | null {
  const { turn, view } = session;
  if (turn?.isStopping === true || session.hasWarned) return leave(session, 'interrupted');
  if (turn === null) {
    session.hasWarned = true;
    view.note('Press Ctrl-C again to leave, or type /quit.');
    return null;
  }
  view.note('Stopping this turn. Press Ctrl-C again to leave.');
  stop(session);
  return null;
}

function stop({ turn, view, put }: Session): void {
  if (turn === null) return view.note('No turn is running.');
  turn.isStopping = true;
  turn.turn
    .cancel('Stopped by the person.')
    .catch((error: unknown) => put({ kind: 'failed', error }));
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
      stop(session);
      return null;
    case 'close':
      if (hasSaid(session)) await conversation.close();
      return leave(session, 'closed');
    case 'history':
      view.text(historyText(conversation.agent, await conversation.turns()));
      return null;
    case 'stats':
      view.text(hasSaid(session) ? await statsOf(conversation) : 'No messages yet.');
      return null;
    case 'answer':
      if (turn === null) view.note('Nothing is waiting.');
      else {
        await conversation.run.answer(command.id, command.value);
        settle(session, turn, command.id);
      }
      return null;
    case 'unknown':
      view.problem(command.problem);
      return null;
  }
}

/** Whether there is a conversation: it begins with the first message. */
function hasSaid({ isNew, hasSpoken }: Session): boolean {
  return !isNew || hasSpoken;
}

async function statsOf({ run }: Conversation): Promise<string> {
  return `${run.id}\n${statsText(await run.stats(), false)}`;
}

async function say(session: Session, text: string): Promise<void> {
  const { conversation, view, put, over } = session;
  const turn = await conversation.say(text);
  session.hasSpoken = true;
  if (session.turn === null) return follow(session, turn);
  view.note('Sent. The current turn reads it, or it begins the next one.');
  turn.how({ signal: over.signal }).then(
    (how) => put({ kind: 'read', turn, how }),
    (error: unknown) => put({ kind: 'failed', error }),
  );
}

async function answer(session: Session, item: PendingItem, text: string): Promise<void> {
  const { conversation, turn, view } = session;
  if (turn === null) return;
  if (item.kind === 'approval') {
    const decision = readDecision(text);
    if (decision === null) {
      view.problem(
        'Expected y, always, n and a reason, or arguments as a JSON object. Answer again.',
      );
      return;
    }
    await conversation.run.decide(item.id, decision);
  } else {
    const fallback = item.kind === 'question' ? item.default : undefined;
    if (text === '' && fallback === undefined) return view.ask(item);
    await conversation.run.answer(item.id, text === '' && fallback !== undefined ? fallback : text);
  }
  settle(session, turn, item.id);
}

function follow(session: Session, turn: TurnHandle): void {
  const updates = turn.follow()[Symbol.asyncIterator]();
  session.turn = { turn, updates, waiting: new Map(), isStopping: false };
  pull(session, session.turn);
}

/** Requests the next update of a turn, one at a time, at the pace of the terminal. */
function pull({ put }: Session, turn: OpenTurn): void {
  turn.updates.next().then(
    ({ done, value }) => put({ kind: 'update', turn, update: done === true ? undefined : value }),
    (error: unknown) => put({ kind: 'failed', error, turn }),
  );
}

function takeUpdate(session: Session, turn: OpenTurn, update: RunUpdate | undefined): void {
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

function finish(session: Session, turn: OpenTurn, step: Step): void {
  void turn.updates.return?.();
  session.turn = null;
  session.lastStep = step;
  session.view.update({ kind: 'step', step });
  const { next } = session;
  session.next = null;
  if (next !== null) follow(session, next);
}

/** Removes an item, and shows the next one. */
function settle({ view }: Session, turn: OpenTurn, id: string): void {
  const before = askedOf(turn);
  turn.waiting.delete(id);
  const item = askedOf(turn);
  if (item !== undefined && item.id !== before?.id) view.ask(item);
}

/** The item that the person has to answer: the oldest question or approval. */
function askedOf(turn: OpenTurn | null): PendingItem | undefined {
  return [...(turn?.waiting.values() ?? [])].find(isForPerson);
}

function isForPerson({ kind }: PendingItem): boolean {
  return kind === 'question' || kind === 'approval';
}
