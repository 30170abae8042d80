/**
 * The turns of a conversation as messages of a page, for a page that is opened again.
 *
 * I1  They have the ids, parts and texts that the page had when it closed, but for void parts.
 */
import { defined } from '../core/base/defined.ts';
import type { Message } from '../core/base/message.ts';
import type { Entry } from '../core/contract/entry.ts';
import type { AgentEvent } from '../core/contract/events.ts';
import type { Conversation } from '../client/conversations/conversation.ts';
import type { ConversationTurn, TurnsOptions } from '../client/conversations/turns.ts';
import { withBelow } from './below.ts';
import { playEvents } from './play-events.ts';
import { pageId, replyId, saidWith } from './said.ts';
import type { UIChunk } from './ui-chunk.ts';
import { createUIWriter, fileOf } from './ui-writer.ts';

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
 * const chat = everloop.conversation('host', { id });
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
  const texts = new Map<string, Extract<UIPart, { text: string }>>();
  let message: UIMessage | undefined;
  const tool = (id: string): UIToolPart | undefined =>
    parts.find((part): part is UIToolPart => 'toolCallId' in part && part.toolCallId === id);
  const become = (id: string, state: UIToolState): void => {
    const part = tool(id);
    if (part === undefined) return;
    const { type, toolCallId, input, providerExecuted } = part;
    const name = part.type === 'dynamic-tool' ? { type, toolName: part.toolName } : { type };
    const next = { ...name, toolCallId, input, ...defined({ providerExecuted }), ...state };
    parts[parts.indexOf(part)] = next as UIToolPart;
  };
  for (const chunk of chunks) {
    switch (chunk.type) {
      case 'start':
        message = { id: chunk.messageId, role: 'assistant', parts };
        break;
      case 'start-step':
        parts.push({ type: 'step-start' });
        break;
      case 'text-start':
      case 'reasoning-start': {
        const type = chunk.type === 'text-start' ? 'text' : 'reasoning';
        const part = { type, text: '', state: 'done' } as const;
        texts.set(chunk.id, { ...part });
        parts.push(texts.get(chunk.id) ?? part);
        break;
      }
      case 'text-delta':
      case 'reasoning-delta': {
        const part = texts.get(chunk.id);
        if (part !== undefined) part.text += chunk.delta;
        break;
      }
      case 'text-end':
      case 'reasoning-end': {
        const part = texts.get(chunk.id);
        if (chunk.providerMetadata !== undefined && part !== undefined) {
          parts.splice(parts.indexOf(part), 1);
        }
        break;
      }
      case 'tool-input-available': {
        const { toolName, dynamic, toolCallId, input, providerExecuted } = chunk;
        const call = { toolCallId, input, state: 'input-available' } as const;
        const ran = defined({ providerExecuted });
        parts.push(
          dynamic === true
            ? { type: 'dynamic-tool', toolName, ...call, ...ran }
            : { type: `tool-${toolName}`, ...call, ...ran },
        );
        break;
      }
      case 'tool-approval-request':
        become(chunk.toolCallId, {
          state: 'approval-requested',
          approval: { id: chunk.approvalId },
        });
        break;
      case 'tool-output-available':
        become(chunk.toolCallId, { state: 'output-available', output: chunk.output });
        break;
      case 'tool-output-error':
        become(chunk.toolCallId, { state: 'output-error', errorText: chunk.errorText });
        break;
      case 'tool-output-denied':
        become(chunk.toolCallId, {
          state: 'output-denied',
          approval: { id: chunk.toolCallId, approved: false },
        });
        break;
      case 'source-url':
      case 'source-document':
      case 'file':
        parts.push({ ...chunk });
        break;
      case 'data-question': {
        const { type, id, data } = chunk;
        const known = parts.find((part) => 'data' in part && part.type === type && part.id === id);
        if (known !== undefined && 'data' in known) known.data = data;
        else parts.push({ type, id, data });
        break;
      }
      case 'message-metadata':
      case 'finish':
        if (message !== undefined && chunk.messageMetadata !== undefined) {
          message.metadata = chunk.messageMetadata;
        }
        break;
      case 'finish-step':
      case 'data-topic':
      case 'abort':
      case 'error':
        break;
    }
  }
  return message;
}
