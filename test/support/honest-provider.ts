/** A model that counts what it reads and writes as the estimate does, and keeps to its cap. */
import { textOf } from '../../src/core/base/message.ts';
import { byteSize, utf8Length, type Json } from '../../src/core/base/json.ts';
import type { ModelFunction, ModelReply, ModelRequest } from '../../src/core/contract/model.ts';

/** What it was asked and what it counted. */
export interface HonestCall {
  readonly runId: string;
  readonly promptTokens: number;
  readonly cap: number | null;
}

/** The model, and what it has seen. */
export interface HonestProvider {
  readonly model: ModelFunction;
  readonly calls: readonly HonestCall[];
  /** The most prompt tokens that were in flight at once. */
  readonly mostInFlight: () => number;
}

/** How the provider plays. */
export interface HonestPlay {
  readonly content: (request: ModelRequest) => string;
  /** Tokens that the reply would have without a cap. */
  readonly output: (request: ModelRequest) => number;
  /** Prompt tokens by the provider's count, for each by the estimate. Default: 1. */
  readonly ratio?: number;
  /** Settles when the reply may come. */
  readonly pause?: () => Promise<void>;
}

/** Tokens of a request, at four bytes each. */
export function honestTokens({ messages, tools }: ModelRequest): number {
  const text = messages.reduce((sum, message) => sum + utf8Length(textOf(message)), 0);
  const declared = tools === undefined ? 0 : byteSize(tools as unknown as Json);
  return Math.ceil((text + declared) / 4);
}

/** An honest provider that plays `play`. */
export function honestProvider(play: HonestPlay): HonestProvider {
  const calls: HonestCall[] = [];
  let inFlight = 0;
  let most = 0;
  return {
    calls,
    mostInFlight: () => most,
    model: async (request): Promise<ModelReply> => {
      const estimated = honestTokens(request);
      inFlight += estimated;
      most = Math.max(most, inFlight);
      const { maxOutputTokens } = request.settings;
      const cap = typeof maxOutputTokens === 'number' ? maxOutputTokens : null;
      calls.push({ runId: request.runId, promptTokens: estimated, cap });
      await play.pause?.();
      inFlight -= estimated;
      const wanted = play.output(request);
      const outputTokens = Math.min(wanted, cap ?? Infinity);
      return {
        content: play.content(request),
        finishReason: outputTokens < wanted ? 'length' : 'stop',
        usage: { inputTokens: Math.ceil(estimated * (play.ratio ?? 1)), outputTokens },
      };
    },
  };
}
