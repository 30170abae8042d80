/**
 * What a person does at a page, done to the conversation. Each has an id that comes from ids of the
 * page, so that a request which is sent twice has one effect.
 */
import { isUsageError, UsageError } from '../core/base/usage-error.ts';
import type { Task } from '../core/base/message.ts';
import type { AgentEvent } from '../core/contract/events.ts';
import type { TurnRecord } from '../core/contract/conversation.ts';
import type { StatedActor } from '../core/contract/pending.ts';
import type { Conversation } from '../client/conversation.ts';
import type { TurnHandle } from '../client/turn.ts';
import type { Said, PageSaying } from './chat-request.ts';
import { withBelow } from './below.ts';
import { againId, answerId, isAgain, pageId, replyId, saidWith } from './said.ts';
import type { StreamedPart } from './to-ui-stream.ts';

/** What a request is answered with: a turn, and the part of it that is the message. */
export interface ChatReply extends StreamedPart {
  readonly turn: TurnHandle;
  readonly messageId: string;
}

type SaidOf<Kind> = Extract<Said, { readonly kind: Kind }>;

/** Says a message; or answers the question that the page shows last, if that still waits. */
export async function sayOrAnswer(
  chat: Conversation,
  { message, question }: SaidOf<'message'>,
  actor: StatedActor,
): Promise<ChatReply> {
  const { id, task } = message;
  const answered = question === undefined ? null : await answer(chat, question, message, actor);
  if (answered !== null) return { ...answered, messageId: replyId(id) };
  const turn = await chat.say(task, { id, ...actor });
  return { turn, after: { said: id }, messageId: replyId(id) };
}

/** Answers a question with a message; null: it waits no more, and another answer has ended it. */
async function answer(
  chat: Conversation,
  question: string,
  { id, task }: PageSaying,
  actor: StatedActor,
): Promise<Omit<ChatReply, 'messageId'> | null> {
  const updateId = answerId(id);
  try {
    await chat.run.answer(question, task.text, { updateId, ...actor });
  } catch (error) {
    if (!isOver(error)) throw error;
    if (!(await wasAnsweredBy(chat, question, updateId))) return null;
  }
  const turn = await chat.newest();
  return turn && { turn, after: await placeOf(chat, turn, id) };
}

/** What a person has said last in the turn, and where its message begins. */
export async function lastSaid(chat: Conversation, turn: TurnHandle): Promise<ChatReply> {
  const events = await withBelow(chat.run, await turn.events());
  const said = events.map(saidWith).findLast((id) => id !== undefined) ?? turn.messageId;
  return { turn, after: afterSaid(events, said), messageId: replyId(said) };
}

async function placeOf(
  chat: Conversation,
  turn: TurnHandle,
  said: string,
): Promise<ChatReply['after']> {
  return afterSaid(await withBelow(chat.run, await turn.events()), said);
}

/** After message `said`: what only a run below knows has a place among the events of the turn. */
function afterSaid(events: readonly AgentEvent[], said: string): ChatReply['after'] {
  const at = events.findIndex((event) => saidWith(event) === said);
  const isOwn = ({ runId }: AgentEvent): boolean => runId === events[0]?.runId;
  const event = events[at];
  if (event === undefined || isOwn(event)) return { said };
  return events.slice(0, at).findLast(isOwn)?.seq ?? 0;
}

function isOver(error: unknown): boolean {
  return isUsageError(error) && OVER.has(error.code);
}

const OVER: ReadonlySet<string> = new Set([
  'item_settled',
  'item_unknown',
  'run_ended',
  'run_not_found',
]);

/** Whether the answer of this id has ended the question. */
async function wasAnsweredBy(
  chat: Conversation,
  question: string,
  updateId: string,
): Promise<boolean> {
  const at = question.lastIndexOf('/');
  const source = at === -1 ? await chat.newest() : await chat.run.child(question.slice(0, at));
  return ((await source?.events()) ?? []).some(
    (event) => event.type === 'agent:question:answered' && event.updateId === updateId,
  );
}

/**
 * Says a message again, changed or not, in place of the turn that it is of and of all later ones. What a
 * person said in the course of a turn is said together with what began it.
 */
export async function askAgain(
  chat: Conversation,
  { messages }: SaidOf<'again'>,
  actor: StatedActor,
): Promise<ChatReply> {
  const { conversation } = await chat.run.status();
  const turns = (conversation?.recent ?? []).filter(({ replaced }) => replaced !== true);
  const begun = messages.findLastIndex(({ id }) => turns.some(began(id)));
  const said = messages.slice(begun === -1 ? -1 : begun);
  const first = said[0]?.id ?? '';
  const current = turns.findLast(began(first));
  const task = joined(said);
  const id = againId(first, current?.number ?? 0, JSON.stringify(task));
  const isOpen = conversation?.isOpen === true && current?.number === conversation.count;
  if (current !== undefined && isOpen && isSame(current.messageId, id)) {
    // The request came before: its turn goes on.
    const { messageId } = current;
    return {
      turn: chat.turn(messageId),
      after: { said: messageId },
      messageId: replyId(messageId),
    };
  }
  const instead = current?.messageId ?? first;
  const turn = await chat.say(task, { id, instead, ...actor });
  return { turn, after: { said: id }, messageId: replyId(id) };
}

function began(id: string): (turn: Pick<TurnRecord, 'messageId'>) => boolean {
  return ({ messageId }) => pageId(messageId) === id;
}

/** Whether both say the same in place of something. */
function isSame(one: string, other: string): boolean {
  return isAgain(one) && one.slice(one.lastIndexOf('-')) === other.slice(other.lastIndexOf('-'));
}

function joined(messages: readonly PageSaying[]): Task {
  const media = messages.flatMap(({ task }) => task.media ?? []);
  const text = messages.map(({ task }) => task.text).join('\n\n');
  return media.length === 0 ? { text } : { text, media };
}

/** Decides about calls, and hands in what the page or a person has put into them, where they wait. */
export async function answerPage(
  chat: Conversation,
  { decisions, outputs, messageId, known }: SaidOf<'answers'>,
  actor: StatedActor,
): Promise<ChatReply> {
  const waiting = new Set((await chat.run.pending()).map(({ id }) => id));
  const given: string[] = [];
  for (const { id, approved, reason = 'The person said no.' } of decisions) {
    given.push(id);
    if (!waiting.has(id)) continue;
    const decision = approved ? { approve: true as const } : { deny: reason };
    await settled(chat.run.decide(id, decision, { updateId: `${id}/decision`, ...actor }));
  }
  for (const { id, value } of outputs) {
    if (!waiting.has(id)) continue;
    given.push(id);
    await settled(chat.run.answer(id, value, { updateId: `${id}/output`, ...actor }));
  }
  const turn = await chat.newest();
  if (turn === null) throw nothingWaits(chat.id);
  // Without anything new, the page wants what came after the last of its outputs.
  const calls = given.length > 0 ? given : outputs.slice(-1).map(({ id }) => id);
  return { turn, after: { calls }, messageId, known };
}

function nothingWaits(id: string): UsageError {
  return new UsageError(
    'invalid_input',
    `Expected a call of conversation \`${id}\` that waits, got a conversation without messages. Send a message first.`,
  );
}

/** Another tab may have been first. */
async function settled(sent: Promise<unknown>): Promise<void> {
  try {
    await sent;
  } catch (error) {
    if (!isOver(error)) throw error;
  }
}
