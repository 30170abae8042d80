/**
 * One person in conversation with an agent: what they type, what the turn tells, and Ctrl-C, one after
 * another. Knows neither a terminal nor a server.
 *
 * - S1: one event at a time, in the order in which they came.
 * - S2: leaving never ends a turn; only Ctrl-C and `/cancel` do.
 * - S3: piped lines are taken when one is wanted, so that each finds the question that it answers.
 */
import type { Conversation } from '../../client/conversation.ts';
import type { RunUpdate } from '../../client/follow-run.ts';
import type { RunHandle } from '../../client/run-handle.ts';
import type { PendingItem } from '../../core/contract/messages.ts';
import type { Step } from '../../core/contract/step.ts';
import { isUsageError } from '../../core/base/usage-error.ts';
import { CHAT_COMMANDS, readCommand, type ChatCommand } from './chat-commands.ts';
import { readDecision } from './chat-decision.ts';
import { historyText, type ChatView } from './chat-view.ts';
import type { LineSource } from '../terminal/io.ts';
import { createMailbox, type Mailbox } from '../terminal/mailbox.ts';
import { statsText } from '../views/run-text.ts';

/** What a session is made of. */
export interface ChatSessionParts {
  readonly conversation: Conversation;
  readonly lines: LineSource;
  readonly view: ChatView;
  /** Calls its listener at each Ctrl-C, and with `leave` when the process is told to end. */
  readonly onSignal: (listener: (what: 'interrupt' | 'leave') => void) => void;
}

/** How a session ended. */
export interface ChatEnding {
  /** `left`: the person said so, or their input ended · `interrupted`: by Ctrl-C or from outside. */
  readonly how: 'left' | 'interrupted';
  /** The turn that goes on without the person. */
  readonly open: RunHandle | null;
  /** Of the last turn that ended here. */
  readonly lastStep: Step | null;
}

/** A turn that goes on. */
interface Turn {
  readonly run: RunHandle;
  readonly updates: AsyncIterator<RunUpdate>;
  /** What waits, by id, oldest first; what was answered here stands no more. */
  readonly waiting: Map<string, PendingItem>;
  isStopping: boolean;
}

type SessionEvent =
  /** Undefined at the end of input. */
  | { readonly kind: 'line'; readonly line: string | undefined }
  | { readonly kind: 'update'; readonly turn: Turn; readonly update: RunUpdate | undefined }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'signal'; readonly what: 'interrupt' | 'leave' };

/** Where a session stands; changed by the functions of this file alone. */
interface Session extends ChatSessionParts {
  readonly mailbox: Mailbox<SessionEvent>;
  readonly typed: AsyncIterator<string>;
  turn: Turn | null;
  lastStep: Step | null;
  /** A line was asked for and has not come. */
  isAsking: boolean;
  /** The prompt that stands on the terminal; undefined after a line, which takes it away. */
  prompt: string | undefined;
  /** Ctrl-C was said while no turn went on. */
  hasWarned: boolean;
  /** Lines that ended with a backslash. */
  draft: string;
}

const PROMPT = 'you> ';
const ANSWER_PROMPT = 'answer> ';

/** Runs a session until the person leaves. Rejects for what a person can do nothing about. */
export async function runChatSession(parts: ChatSessionParts): Promise<ChatEnding> {
  const mailbox = createMailbox<SessionEvent>();
  const session: Session = {
    ...parts,
    mailbox,
    typed: parts.lines.lines[Symbol.asyncIterator](),
    turn: null,
    lastStep: null,
    isAsking: false,
    prompt: undefined,
    hasWarned: false,
    draft: '',
  };
  parts.onSignal((what) => mailbox.put({ kind: 'signal', what }));
  try {
    await comeBack(session);
    for (;;) {
      invite(session);
      const ending = await handle(session, await mailbox.take());
      if (ending !== null) return ending;
    }
  } finally {
    void session.turn?.updates.return?.();
    parts.lines.close();
  }
}

/** Shows what was said, and goes on with the turn that the person left. */
async function comeBack(session: Session): Promise<void> {
  const { conversation, view } = session;
  const run = conversation.newest();
  if (run === null) return;
  view.note(historyText(conversation.agent, await conversation.turns()));
  if ((await run.step()) === null) follow(session, run);
}

/** Shows the prompt that fits, and asks for a line when one is wanted. */
function invite(session: Session): void {
  const { lines, turn, mailbox } = session;
  const isAnswer = askedOf(turn) !== undefined;
  const prompt = isAnswer ? ANSWER_PROMPT : turn === null ? PROMPT : '';
  if (prompt !== session.prompt) lines.prompt(prompt);
  session.prompt = prompt;
  const isWanted = lines.isTerminal || isAnswer || turn === null;
  if (!isWanted || session.isAsking) return;
  session.isAsking = true;
  session.typed.next().then(
    ({ done, value }) => mailbox.put({ kind: 'line', line: done === true ? undefined : value }),
    (error: unknown) => mailbox.put({ kind: 'failed', error }),
  );
}

/** Null to go on. */
async function handle(session: Session, event: SessionEvent): Promise<ChatEnding | null> {
  switch (event.kind) {
    case 'failed':
      throw event.error;
    case 'update':
      // Of a turn that another one has taken the place of.
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
    view.note('Ctrl-C again leaves, as does /quit.');
    return null;
  }
  view.note('Stopping this turn. Ctrl-C again leaves.');
  await telling(session, () => stop(session));
  return null;
}

async function stop({ turn, view }: Session): Promise<void> {
  if (turn === null) return view.note('No turn goes on.');
  turn.isStopping = true;
  await turn.run.cancel('Stopped by the person.');
}

/** Does what a person asked for, and tells them what is wrong with it. */
async function telling<Result>(
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
  if (command !== null) return telling(session, () => obey(session, command));
  const item = askedOf(session.turn);
  await telling(session, async () => {
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
      view.text(run === null ? 'Nothing was said yet.' : await statsOf(run));
      return null;
    }
    case 'answer':
      if (turn === null) view.note('Nothing waits.');
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
  const said = await conversation.say(text);
  if (said.how === 'sent') view.note('Given to the turn that goes on.');
  if (session.turn?.run.id === said.run.id) return;
  // It ended just before: its update come too late, its answer does not.
  if (session.turn !== null) finish(session, session.turn, await session.turn.run.result());
  follow(session, said.run);
}

async function answer(session: Session, item: PendingItem, text: string): Promise<void> {
  const { turn, view } = session;
  if (turn === null) return;
  if (item.kind === 'approval') {
    const decision = readDecision(text);
    if (decision === null) {
      view.problem('Expected y, n and why, or arguments as a JSON object. Answer again.');
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

/** Asks a turn for its next piece of news; one at a time, so that a slow terminal slows nobody else. */
function pull({ mailbox }: Session, turn: Turn): void {
  turn.updates.next().then(
    ({ done, value }) =>
      mailbox.put({ kind: 'update', turn, update: done === true ? undefined : value }),
    (error: unknown) => mailbox.put({ kind: 'failed', error }),
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
    if (before?.id === update.id) view.note(`${update.id} waits no more.`);
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

/** Takes an item away, and shows the one behind it. */
function settle({ view }: Session, turn: Turn, id: string): void {
  const before = askedOf(turn);
  turn.waiting.delete(id);
  const item = askedOf(turn);
  if (item !== undefined && item.id !== before?.id) view.ask(item);
}

/** What the person is to answer: the oldest question or approval. */
function askedOf(turn: Turn | null): PendingItem | undefined {
  return [...(turn?.waiting.values() ?? [])].find(isForPerson);
}

function isForPerson({ kind }: PendingItem): boolean {
  return kind === 'question' || kind === 'approval';
}
