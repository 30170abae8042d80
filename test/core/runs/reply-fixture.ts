/** Replies of a model, for tests that read them. */
import type { FinishReason, NativeCall, Reply } from '../../../src/core/contract/model.ts';

/** A reply with this text; `fields` replace what it says by default. */
export function replyOf(text: string, fields: Partial<Reply> = {}): Reply {
  return {
    parts: text === '' ? [] : [{ type: 'text', text }],
    calls: [],
    finishReason: 'stop',
    usage: {
      inputTokens: 0,
      outputTokens: 0,
      cachedInputTokens: 0,
      cacheWriteTokens: 0,
      reasoningTokens: 0,
      costMicroUsd: 0,
    },
    usageKnown: true,
    model: 'm',
    ...fields,
  };
}

/** A reply that stopped at the token limit. */
export function cutReply(text: string, calls: readonly NativeCall[] = []): Reply {
  const finishReason: FinishReason = 'length';
  return replyOf(text, { finishReason, calls });
}
