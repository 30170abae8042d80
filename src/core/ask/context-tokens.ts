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

/**
 * The estimate of the next request of a run. Texts that functions on the worker write count 0.
 * `whole`: a reply is as long as its text, even if the provider counted less.
 */
export function contextTokens(
  state: RunState,
  { whole = false }: { readonly whole?: boolean } = {},
): number {
  const { lastReply } = state.compaction;
  const { spec } = state.head;
  const messages = scratchpadMessages(state);
  if (lastReply !== null && lastReply.epoch === state.mark.epoch) {
    const fresh = messages.slice(lastReply.messages);
    // The reply itself comes first; its tokens are known as the output of the call.
    const isReply = fresh[0]?.role === 'assistant';
    const unread = isReply ? fresh.slice(1) : fresh;
    const known = lastReply.tokens + tokensOf(modeOf(spec).writeMessages(spec, unread));
    if (!whole || !isReply) return known;
    const written = tokensOf(modeOf(spec).writeMessages(spec, fresh.slice(0, 1)));
    return known + Math.max(0, written - (lastReply.output ?? 0));
  }
  const { runId, iteration } = state;
  const options = { runId, iteration, attempt: 1, lastTurn: false };
  const request = buildRequest(state.head, messages, options);
  return requestTokens(request);
}

/** The estimate of a whole request. */
export function requestTokens({
  messages,
  tools,
}: Pick<ModelRequest, 'messages' | 'tools'>): number {
  return tokensOf(messages, tools === undefined ? 0 : byteSize(tools as unknown as Json));
}

/** The estimate of a text; not rounded, so that pieces add up. */
export function textTokens(text: string): number {
  return utf8Length(text) / BYTES_PER_TOKEN;
}

/** The estimate of messages, and of what else of a request has `moreBytes` as text. */
export function tokensOf(messages: readonly Message[], moreBytes = 0): number {
  const parts = messages.flatMap((message) => message.parts.flatMap(leavesOf));
  const bytes = parts.reduce((sum, part) => sum + bytesOf(part), moreBytes);
  const media = parts.filter(({ type }) => type === 'media').length;
  return Math.ceil(bytes / BYTES_PER_TOKEN) + media * TOKENS_PER_MEDIA;
}

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
    case 'media':
    case 'tool_result':
      return 0;
  }
}
