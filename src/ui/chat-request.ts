/** Reads what `useChat` of the AI SDK sends: the chat's id, and what the person said last. */
import { defined } from '../core/base/defined.ts';
import { isPlainObject, type JsonObject } from '../core/base/json.ts';
import type { MediaPart, Task } from '../core/base/message.ts';
import { UsageError } from '../core/base/usage-error.ts';

/** A decision about a call that waits for approval. */
export interface SaidDecision {
  /** Id of the item, as in `tool-approval-request`. */
  readonly id: string;
  readonly approved: boolean;
  readonly reason?: string;
}

/** What a person said. */
export type Said =
  | { readonly kind: 'message'; readonly task: Task; readonly messageId: string }
  | {
      readonly kind: 'decisions';
      readonly decisions: readonly SaidDecision[];
      /** The message of the agent that had the requests. */
      readonly messageId: string;
    };

/** A request of `useChat`. */
export interface ChatRequest {
  /** What the page sent. */
  readonly body: JsonObject;
  readonly chatId: string;
  readonly said: Said;
}

/**
 * Reads the body of a request, of at most `maxBytes`.
 *
 * @throws UsageError `invalid_input` for anything else than `useChat` sends.
 */
export async function readChatRequest(request: Request, maxBytes: number): Promise<ChatRequest> {
  const body = parsed(await readText(request, maxBytes));
  if (!isPlainObject(body)) throw invalid('a JSON object', 'other text');
  const { id, messages, trigger } = body;
  if (typeof id !== 'string' || id === '') throw invalid('`id` of the chat', 'none');
  if (trigger === 'regenerate-message') {
    throw new UsageError(
      'invalid_input',
      'Expected a new message, got the request to answer an old one again. What was said stays said: send the message again.',
    );
  }
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
  if (!isPlainObject(last) || !Array.isArray(last['parts'])) {
    throw invalid('`messages` with parts', 'none');
  }
  const parts = last['parts'].filter(isPlainObject);
  const messageId = typeof last['id'] === 'string' ? last['id'] : id;
  if (last['role'] === 'assistant') {
    const decisions = parts.flatMap(decisionOf);
    if (decisions.length === 0) throw invalid('a message of the person', 'one of the agent');
    return {
      body: body as JsonObject,
      chatId: id,
      said: { kind: 'decisions', decisions, messageId },
    };
  }
  return {
    body: body as JsonObject,
    chatId: id,
    said: { kind: 'message', task: taskOf(parts), messageId },
  };
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

function taskOf(parts: readonly Readonly<Record<string, unknown>>[]): Task {
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
