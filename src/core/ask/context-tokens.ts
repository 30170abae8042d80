/**
 * Estimates the size of the next request, in tokens: the provider's count for the last call, plus
 * an estimate of what came after it. Without such a count, everything is estimated.
 */
import { buildRequest, modeOf } from '../modes/modes.ts';
import { scratchpadMessages, type RunState } from '../run/run-state.ts';
import { byteSize, utf8Length, type Json } from '../base/json.ts';
import type { ModelRequest } from '../contract/model.ts';
import type { Message, Part } from '../base/message.ts';

/** Bytes of text per token: the rule of thumb of providers for English text. */
const BYTES_PER_TOKEN = 4;

/** Tokens of an image or a document, whatever its size: about what providers charge for one. */
const TOKENS_PER_MEDIA = 1_000;

/** The estimate of the next request of a run. Texts that functions on the worker write count 0. */
export function contextTokens(state: RunState): number {
  const { lastReply } = state.compaction;
  const { spec } = state.head;
  const messages = scratchpadMessages(state);
  if (lastReply !== null && lastReply.epoch === state.mark.epoch) {
    const fresh = messages.slice(lastReply.messages);
    // The reply itself comes first; its tokens are known as the output of the call.
    const unread = fresh[0]?.role === 'assistant' ? fresh.slice(1) : fresh;
    return lastReply.tokens + tokensOf(modeOf(spec).writeMessages(spec, unread));
  }
  const { runId, iteration } = state;
  const options = { runId, iteration, attempt: 1, lastTurn: false };
  return requestTokens(buildRequest(state.head, messages, options));
}

/**
 * The same, and never less than the request has. It counts all that differs from the last request:
 * what the mode adds for this turn, and a reply by its text if the provider counted less.
 */
export function promptTokens(state: RunState, lastTurn: boolean): number {
  const { runId, iteration, head } = state;
  const { lastReply } = state.compaction;
  const messages = scratchpadMessages(state);
  const options = { runId, iteration, attempt: 1, lastTurn };
  if (lastReply === null || lastReply.epoch !== state.mark.epoch) {
    return requestTokens(buildRequest(head, messages, options));
  }
  const fresh = messages.slice(lastReply.messages);
  const first = { ...options, iteration: 1, lastTurn: false };
  const now = requestSize(buildRequest(head, fresh, options));
  const empty = requestSize(buildRequest(head, [], first));
  const added = { bytes: now.bytes - empty.bytes, media: now.media - empty.media };
  const reply = modeOf(head.spec).writeMessages(
    head.spec,
    fresh[0]?.role === 'assistant' ? fresh.slice(0, 1) : [],
  );
  // The reply is in the count of the last call and in the new messages.
  const twice = Math.min(tokensOf(reply), lastReply.output ?? 0);
  return lastReply.tokens + tokensIn(added) - twice;
}

/** The estimate of a whole request. */
export function requestTokens(request: Pick<ModelRequest, 'messages' | 'tools'>): number {
  return tokensIn(requestSize(request));
}

/** The estimate of a text; not rounded, so that pieces add up. */
export function textTokens(text: string): number {
  return utf8Length(text) / BYTES_PER_TOKEN;
}

/** The estimate of messages, and of what else of a request has `moreBytes` as text. */
export function tokensOf(messages: readonly Message[], moreBytes = 0): number {
  return tokensIn(sizeOf(messages, moreBytes));
}

/** Bytes of text, and the number of images and documents. */
interface Size {
  readonly bytes: number;
  readonly media: number;
}

function requestSize({ messages, tools }: Pick<ModelRequest, 'messages' | 'tools'>): Size {
  return sizeOf(messages, tools === undefined ? 0 : byteSize(tools as unknown as Json));
}

function sizeOf(messages: readonly Message[], moreBytes: number): Size {
  const parts = messages.flatMap((message) => message.parts.flatMap(leavesOf));
  return {
    bytes: parts.reduce((sum, part) => sum + bytesOf(part), moreBytes),
    media: parts.filter(({ type }) => MEDIA.has(type)).length,
  };
}

function tokensIn({ bytes, media }: Size): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN) + media * TOKENS_PER_MEDIA;
}

/** What has no text to count. */
const MEDIA: ReadonlySet<Part['type']> = new Set(['media', 'file', 'reasoning_file']);

/** The part, or those inside the result of a call. */
function leavesOf(part: Part): readonly Part[] {
  return part.type === 'tool_result' ? part.parts.flatMap(leavesOf) : [part];
}

function bytesOf(part: Part): number {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return utf8Length(part.text);
    case 'tool_call':
      return utf8Length(part.tool) + byteSize(part.args);
    case 'sections':
      // Messages come here as a model reads them, with their sections written as text.
      return byteSize(part.sections as unknown as Json);
    case 'hosted_call':
      return utf8Length(part.tool) + byteSize(part.args);
    case 'hosted_result':
      return byteSize(part.output);
    case 'custom':
      return byteSize(part.providerData ?? null);
    case 'media':
    case 'file':
    case 'reasoning_file':
    case 'source':
    case 'tool_result':
      return 0;
  }
}
