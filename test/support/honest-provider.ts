/** A model that counts what it reads and writes as the estimate does, and keeps to its cap. */
import { requestTokens } from '../../src/core/ask/context-tokens.ts';
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
  readonly content: (request: ModelRequest) => string | Pick<ModelReply, 'toolCalls'>;
  /** Tokens that the reply would have without a cap. */
  readonly output: (request: ModelRequest) => number;
  /** Prompt tokens by the provider's count, for each by the estimate. Default: 1. */
  readonly ratio?: number;
  /** Settles when the reply may come. */
  readonly pause?: () => Promise<void>;
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
      const estimated = requestTokens(request);
      inFlight += estimated;
      most = Math.max(most, inFlight);
      const { maxOutputTokens } = request.settings;
      const cap = typeof maxOutputTokens === 'number' ? maxOutputTokens : null;
      calls.push({ runId: request.runId, promptTokens: estimated, cap });
      await play.pause?.();
      inFlight -= estimated;
      const wanted = play.output(request);
      const outputTokens = Math.min(wanted, cap ?? Infinity);
      const content = play.content(request);
      return {
        ...(typeof content === 'string' ? { content } : content),
        finishReason: outputTokens < wanted ? 'length' : 'stop',
        usage: { inputTokens: Math.floor(estimated * (play.ratio ?? 1)), outputTokens },
      };
    },
  };
}
