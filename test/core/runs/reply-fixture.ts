/** Replies of a model, for tests that read them. */
import type { FinishReason, NativeCall, Reply } from '../../../src/core/contract/model.ts';

/** Calls as a test writes them. */
type Calls = readonly Omit<NativeCall, 'type'>[];

/** A reply with this text and then `calls`; `fields` replace what it says by default. */
export function replyOf(
  text: string,
  { calls = [], ...fields }: Partial<Reply> & { readonly calls?: Calls } = {},
): Reply {
  const { parts = text === '' ? [] : [{ type: 'text', text }] } = fields;
  return {
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
    parts: [...parts, ...calls.map((call) => ({ ...call, type: 'call' as const }))],
  };
}

/** A reply that stopped at the token limit. */
export function cutReply(text: string, calls: Calls = []): Reply {
  const finishReason: FinishReason = 'length';
  return replyOf(text, { finishReason, calls });
}
