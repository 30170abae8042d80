/**
 * The turns of a conversation as messages of a page, for a page that is opened again.
 *
 * I1  They have the ids, parts and texts that the page had when it closed, but for void parts.
 */
import { defined } from '../core/base/defined.ts';
import type { Message } from '../core/base/message.ts';
import type { Entry } from '../core/contract/entry.ts';
import type { AgentEvent } from '../core/contract/events.ts';
import type { Conversation } from '../client/conversation.ts';
import type { ConversationTurn, TurnsOptions } from '../client/turns.ts';
import { withBelow } from './below.ts';
import { playEvents } from './play-events.ts';
import { pageId, replyId, saidWith } from './said.ts';
import type { UIChunk } from './ui-chunk.ts';
import { fileOf } from './shown-parts.ts';
import { createUIWriter } from './ui-writer.ts';

/** A message as `useChat` of the AI SDK keeps it. */
export interface UIMessage {
  id: string;
  role: 'user' | 'assistant';
  /** Of an agent's last message of a turn: `everloop`, with how the turn ended and what it took. */
  metadata?: unknown;
  parts: UIPart[];
}

/** A part of a message. */
export type UIPart =
  | { type: 'step-start' }
  | { type: 'text' | 'reasoning'; text: string; state: 'done' }
  | { type: 'file'; mediaType: string; url: string }
  | { type: 'source-url'; sourceId: string; url: string; title?: string }
  | {
      type: 'source-document';
      sourceId: string;
      mediaType: string;
      title: string;
      filename?: string;
    }
  | { type: `data-${string}`; id: string; data: unknown }
  | UIToolPart;

/** A call of a tool. */
export type UIToolPart = (
  { type: `tool-${string}` } | { type: 'dynamic-tool'; toolName: string }
) & { toolCallId: string; input: unknown; providerExecuted?: boolean } & UIToolState;

type UIToolState =
  | { state: 'input-available' }
  | { state: 'approval-requested'; approval: { id: string } }
  | { state: 'output-available'; output: unknown }
  | { state: 'output-error'; errorText: string }
  | { state: 'output-denied'; approval: { id: string; approved: false } };

/** Which messages to make. */
export interface UIMessagesOptions extends TurnsOptions {
  /** As of the handler: false shows answers only. Default true. */
  readonly text?: boolean;
}

/**
 * The messages of a conversation, oldest first, without those of turns that were replaced. Of a turn
 * that goes on they have what is complete: the page gets all of it as it resumes. Needs no worker,
 * but for runs below that go on.
 *
 * @example
 * const chat = everloop.conversation('host', { id: 'guest-42' });
 * return Response.json(await uiMessages(chat, { last: 50 }));
 */
export async function uiMessages(
  chat: Pick<Conversation, 'turns' | 'run'>,
  { text = true, ...range }: UIMessagesOptions = {},
): Promise<UIMessage[]> {
  const messages: UIMessage[] = [];
  for (const turn of await chat.turns(range)) {
    if (turn.replaced === true) continue;
    const events = await withBelow(chat.run, turn.events);
    messages.push(...messagesOfTurn({ ...turn, events }, text));
  }
  return messages;
}

/** The messages of one turn; its events have those of runs below, where they are wanted. */
export function messagesOfTurn(turn: ConversationTurn, showsText: boolean): UIMessage[] {
  return turn.expired === undefined ? messagesOf(turn, showsText) : leftOf(turn);
}

/** What is left of a turn that the service has forgotten. */
function leftOf({ messageId, text, expired }: ConversationTurn): UIMessage[] {
  const said = userMessage(messageId, textParts(text));
  const answer = textParts(expired?.answer ?? '');
  if (answer.length === 0) return [said];
  return [said, { id: replyId(messageId), role: 'assistant', parts: answer }];
}

function messagesOf({ events, entries, text }: ConversationTurn, showsText: boolean): UIMessage[] {
  const messages: UIMessage[] = [];
  for (const [index, event] of events.entries()) {
    const id = saidWith(event);
    if (id === undefined) continue;
    const rest = events.slice(index + 1);
    const next = rest.findIndex((one) => saidWith(one) !== undefined);
    const own = next === -1 ? rest : rest.slice(0, next);
    const whole = event.type === 'agent:turn:before' ? text : '';
    messages.push(userMessage(id, partsSaid(event, entryAfter(own, entries), whole)));
    const place = { messageId: replyId(id), afterIteration: event.iteration, showsText };
    const writer = createUIWriter({ ...place, isPast: true });
    const chunks = [...playEvents(writer, own, { entries })];
    const isOpen = !own.some(({ type }) => type === 'agent:turn:after');
    const reply = messageOf([...chunks, ...(isOpen ? writer.pause('other') : [])]);
    if (reply !== undefined) messages.push(reply);
  }
  return messages;
}

function userMessage(id: string, parts: UIPart[]): UIMessage {
  return { id: pageId(id), role: 'user', parts };
}

/** The entry of what a person has said, which comes first. */
function entryAfter(events: readonly AgentEvent[], entries: readonly Entry[]): Entry | undefined {
  const event = events.find(({ type }) => type === 'agent:iteration_history:change');
  if (event?.type !== 'agent:iteration_history:change') return undefined;
  const entry = entries.find(({ index }) => index === event.index);
  return entry?.origin === 'input' ? entry : undefined;
}

function partsSaid(event: AgentEvent, entry: Entry | undefined, text: string): UIPart[] {
  if (event.type === 'agent:question:answered') return textParts(event.text ?? '');
  const [message] = entry?.messages ?? [];
  const parts = message === undefined ? [] : shownSaid(message);
  return parts.length === 0 ? textParts(text) : parts;
}

/** Files stand before the text, as `useChat` writes them. */
function shownSaid({ parts }: Message): UIPart[] {
  const files = parts.flatMap((part) => (part.type === 'media' ? fileOf(part) : []));
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return [...files, ...textParts(texts.join('\n'))];
}

function textParts(text: string): UIPart[] {
  return text === '' ? [] : [{ type: 'text', text, state: 'done' }];
}

/** The message that a page makes of `chunks`; undefined: none. */
function messageOf(chunks: readonly UIChunk[]): UIMessage | undefined {
  const parts: UIPart[] = [];
  const takeText = textsOfChunks(parts);
  const takeCall = callsOfChunks(parts);
  let message: UIMessage | undefined;
  for (const chunk of chunks) {
    takeText(chunk);
    takeCall(chunk);
    if (chunk.type === 'start') message = { id: chunk.messageId, role: 'assistant', parts };
    if (chunk.type === 'start-step') parts.push({ type: 'step-start' });
    if (OWN_PARTS.has(chunk.type)) parts.push({ ...chunk } as UIPart);
    if ('data' in chunk && 'id' in chunk) {
      const { type, id, data } = chunk;
      const known = parts.find((part) => 'data' in part && part.type === type && part.id === id);
      if (known !== undefined && 'data' in known) known.data = data;
      else parts.push({ type, id, data });
    }
    const metadata = 'messageMetadata' in chunk ? chunk.messageMetadata : undefined;
    if (message !== undefined && metadata !== undefined) message.metadata = metadata;
  }
  return message;
}

/** The chunks that are parts as they are. */
const OWN_PARTS: ReadonlySet<UIChunk['type']> = new Set(['source-url', 'source-document', 'file']);

function textsOfChunks(parts: UIPart[]): (chunk: UIChunk) => void {
  const texts = new Map<string, Extract<UIPart, { text: string }>>();
  return (chunk) => {
    if (chunk.type === 'text-start' || chunk.type === 'reasoning-start') {
      const type = chunk.type === 'text-start' ? 'text' : 'reasoning';
      const part = { type, text: '', state: 'done' } satisfies UIPart as Extract<
        UIPart,
        { text: string }
      >;
      texts.set(chunk.id, part);
      parts.push(part);
    }
    const part = 'id' in chunk ? texts.get(chunk.id) : undefined;
    if (part === undefined) return;
    if ('delta' in chunk) part.text += chunk.delta;
    // Void text is left out.
    if ('providerMetadata' in chunk) parts.splice(parts.indexOf(part), 1);
  };
}

function callsOfChunks(parts: UIPart[]): (chunk: UIChunk) => void {
  const become = (id: string, state: UIToolState): void => {
    const index = parts.findIndex((part) => 'toolCallId' in part && part.toolCallId === id);
    const part = parts[index];
    if (part === undefined || !('toolCallId' in part)) return;
    const { toolCallId, input, providerExecuted } = part;
    const name =
      part.type === 'dynamic-tool'
        ? { type: part.type, toolName: part.toolName }
        : { type: part.type };
    parts[index] = { ...name, toolCallId, input, ...defined({ providerExecuted }), ...state };
  };
  return (chunk) => {
    if (chunk.type === 'tool-input-available') {
      const { toolName, dynamic, toolCallId, input, providerExecuted } = chunk;
      const call = { toolCallId, input, state: 'input-available' } as const;
      const ran = defined({ providerExecuted });
      const name: { type: 'dynamic-tool'; toolName: string } | { type: `tool-${string}` } =
        dynamic === true ? { type: 'dynamic-tool', toolName } : { type: `tool-${toolName}` };
      parts.push({ ...name, ...call, ...ran });
    }
    if (chunk.type === 'tool-approval-request') {
      const { toolCallId, approvalId: id } = chunk;
      become(toolCallId, { state: 'approval-requested', approval: { id } });
    }
    if (chunk.type === 'tool-output-available') {
      become(chunk.toolCallId, { state: 'output-available', output: chunk.output });
    }
    if (chunk.type === 'tool-output-error') {
      become(chunk.toolCallId, { state: 'output-error', errorText: chunk.errorText });
    }
    if (chunk.type === 'tool-output-denied') {
      const { toolCallId: id } = chunk;
      become(id, { state: 'output-denied', approval: { id, approved: false } });
    }
  };
}
