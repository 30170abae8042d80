/**
 * Reads what `useChat` of the AI SDK sends. Its versions 6 and 7 send the same: the chat's id, all
 * messages that the page shows, and what it wants of them.
 *
 * | the person             | `trigger`            | `messageId`          | last of `messages`      |
 * | ---------------------- | -------------------- | -------------------- | ----------------------- |
 * | writes                 | `submit-message`     | none                 | what was written        |
 * | edits a message        | `submit-message`     | that of the message  | the message as it is now |
 * | wants another reply    | `regenerate-message` | of a message or none | the one to reply to     |
 * | approves, gives output | `submit-message`     | of the agent's       | perhaps another one     |
 */
import { defined } from '../core/base/defined.ts';
import { isPlainObject, type Json, type JsonObject } from '../core/base/json.ts';
import type { MediaPart, Task } from '../core/base/message.ts';
import { UsageError } from '../core/base/usage-error.ts';
import type { KnownCalls } from './item-parts.ts';

/** A decision about a call that waits for approval. */
export interface SaidDecision {
  /** Id of the item, as in `tool-approval-request`. */
  readonly id: string;
  readonly approved: boolean;
  readonly reason?: string;
}

/** The output of a call that the page has run, or what a person has put into it. */
export interface SaidOutput {
  /** Id of the call. */
  readonly id: string;
  readonly value: Json;
}

/** A message of a person. */
export interface PageSaying {
  readonly id: string;
  readonly task: Task;
}

/** What a person said. */
export type Said =
  | {
      readonly kind: 'message';
      readonly message: PageSaying;
      /** The open question of the agent's last message, which the message answers. */
      readonly question?: string;
    }
  | {
      /** The last message is said again, changed or not, in place of all after it. */
      readonly kind: 'again';
      /** All messages of people that the page still shows, oldest first. */
      readonly messages: readonly PageSaying[];
    }
  | {
      readonly kind: 'answers';
      readonly decisions: readonly SaidDecision[];
      readonly outputs: readonly SaidOutput[];
      /** The message of the agent that has the calls. */
      readonly messageId: string;
      readonly known: KnownCalls;
    };

/** A request of `useChat`. */
export interface ChatRequest {
  /** What the page sent. */
  readonly body: JsonObject;
  readonly chatId: string;
  readonly said: Said;
}

/** A message of a page, of which nothing is sure but that it has parts. */
interface PageMessage {
  readonly id: string;
  readonly role: unknown;
  readonly parts: readonly Readonly<Record<string, unknown>>[];
}

/**
 * Reads the body of a request, of at most `maxBytes`.
 *
 * @throws UsageError `invalid_input` for anything else than `useChat` sends.
 */
export async function readChatRequest(request: Request, maxBytes: number): Promise<ChatRequest> {
  const body = parsed(await readText(request, maxBytes));
  if (!isPlainObject(body)) throw invalid('a JSON object', 'other text');
  const { id } = body;
  if (typeof id !== 'string' || id === '') throw invalid('`id` of the chat', 'none');
  return { body: body as JsonObject, chatId: id, said: saidIn(body) };
}

function saidIn({ messages: given, trigger, messageId }: Readonly<Record<string, unknown>>): Said {
  const messages = Array.isArray(given) ? given.flatMap(messageOf) : [];
  const last = messages.at(-1);
  if (last === undefined) throw invalid('`messages` with parts', 'none');
  const named = messages.find(({ id }) => id === messageId);
  const isReply = (named ?? last).role === 'assistant';
  if (isReply && trigger !== 'regenerate-message') return answersIn(named ?? last);
  const said = messages.filter(({ role }) => role === 'user').map(saidMessage);
  const newest = said.at(-1);
  if (newest === undefined || last.role !== 'user') {
    throw invalid('a message of the person as the last one', 'one of the agent');
  }
  if (named !== undefined || trigger === 'regenerate-message') {
    return { kind: 'again', messages: said };
  }
  const question = newest.task.media === undefined ? openQuestion(messages.at(-2)) : undefined;
  return { kind: 'message', message: newest, ...defined({ question }) };
}

function messageOf(value: unknown): readonly PageMessage[] {
  if (!isPlainObject(value) || !Array.isArray(value['parts'])) return [];
  const { id, role, parts } = value;
  const known = typeof id === 'string' && id !== '' ? id : globalThis.crypto.randomUUID();
  return [{ id: known, role, parts: parts.filter(isPlainObject) }];
}

function saidMessage({ id, parts }: PageMessage): PageSaying {
  return { id, task: taskOf(parts) };
}

function answersIn({ id: messageId, parts }: PageMessage): Said {
  const decisions = parts.flatMap(decisionOf);
  const outputs = parts.flatMap(outputOf);
  if (decisions.length + outputs.length === 0) {
    throw invalid('a message of the person, a decision or an output', 'none of them');
  }
  const calls = parts.filter(({ toolCallId }) => typeof toolCallId === 'string');
  const idOf = ({ toolCallId }: Readonly<Record<string, unknown>>): string => String(toolCallId);
  const known = { shown: calls.map(idOf), ended: calls.filter(isEnded).map(idOf) };
  return { kind: 'answers', decisions, outputs, messageId, known };
}

function isEnded({ state }: Readonly<Record<string, unknown>>): boolean {
  return state === 'output-available' || state === 'output-error' || state === 'output-denied';
}

/** The last question of a message of the agent that is still open. */
function openQuestion(message: PageMessage | undefined): string | undefined {
  const questions = (message?.parts ?? []).flatMap(({ type, data }) =>
    type === 'data-question' && isPlainObject(data) ? [data] : [],
  );
  const open = questions.findLast(({ isAnswered }) => isAnswered !== true);
  return typeof open?.['id'] === 'string' ? open['id'] : undefined;
}

async function readText(request: Request, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  const reader = request.body?.getReader();
  let bytes = 0;
  let text = '';
  for (;;) {
    const next = await reader?.read();
    if (next === undefined || next.done) return text + decoder.decode();
    bytes += next.value.byteLength;
    if (bytes > maxBytes) {
      await reader?.cancel();
      throw invalid(`a body of at most ${maxBytes} bytes`, 'a larger one');
    }
    text += decoder.decode(next.value, { stream: true });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function decisionOf({ state, approval }: Readonly<Record<string, unknown>>): SaidDecision[] {
  if (state !== 'approval-responded' || !isPlainObject(approval)) return [];
  const { id, approved, reason } = approval;
  if (typeof id !== 'string' || typeof approved !== 'boolean') return [];
  return [{ id, approved, ...(typeof reason === 'string' ? { reason } : {}) }];
}

/** Which outputs are new, the run knows: most are those that it has sent itself. */
function outputOf(part: Readonly<Record<string, unknown>>): SaidOutput[] {
  const { state, toolCallId: id, output, errorText } = part;
  if (typeof id !== 'string') return [];
  if (state === 'output-available') return [{ id, value: (output ?? null) as Json }];
  return state === 'output-error' ? [{ id, value: `Error: ${String(errorText)}` }] : [];
}

function taskOf(parts: PageMessage['parts']): Task {
  const texts = parts.flatMap(({ type, text }) =>
    type === 'text' && typeof text === 'string' ? [text] : [],
  );
  const media = parts.flatMap(mediaOf);
  return { text: texts.join('\n'), ...defined({ media: media.length === 0 ? undefined : media }) };
}

/** A file, whose content is in its URL if that is a data URL. */
function mediaOf({ type, mediaType, url }: Readonly<Record<string, unknown>>): MediaPart[] {
  if (type !== 'file' || typeof mediaType !== 'string' || typeof url !== 'string') return [];
  const data = /^data:[^,]{0,200};base64,/.exec(url);
  return data === null
    ? [{ type: 'media', mediaType, url }]
    : [{ type: 'media', mediaType, data: url.slice(data[0].length) }];
}

function invalid(expected: string, got: string): UsageError {
  return new UsageError(
    'invalid_input',
    `Expected ${expected} in the request of a chat, got ${got}. Send it as \`useChat\` of the AI SDK does.`,
  );
}
