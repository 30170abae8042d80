/**
 * What attempts of a model call used that were lost with their worker. Nobody reports it, so it is
 * estimated: the prompt, and what had been written by the last heartbeat.
 *
 * I1  Only what a heartbeat says is known of a lost attempt. If there was none, the workflow charges
 *     the prompt (attempts/tried-model.ts).
 * I2  While the service repeats an activity, it keeps only the last heartbeat. So each one also says
 *     what the attempts before it lost.
 */
import { Context } from '@temporalio/activity';
import { defined } from '../core/base/defined.ts';
import { requestTokens, textTokens } from '../core/ask/context-tokens.ts';
import { addEstimates, estimatedUsage } from '../core/model/estimated-usage.ts';
import type { EstimatedUsage, ModelRequest } from '../core/contract/model.ts';
import type { ModelEntry } from '../define/model/model-entry.ts';

/** What the heartbeats of a model activity say besides the number of its attempt. */
export interface UsedSoFar {
  /** What this attempt has used so far; absent until the provider is asked. */
  readonly asked?: EstimatedUsage;
  /** What earlier attempts of this activity lost. */
  readonly lost?: EstimatedUsage;
}

/** An attempt as it asks its provider. */
export interface AskedAttempt {
  /** What the next heartbeat says. */
  readonly beat: () => UsedSoFar;
  /** The provider is about to be asked. */
  readonly onRequest: (entry: ModelEntry, request: ModelRequest) => void;
  /** A piece of the reply has come. */
  readonly onText: (text: string) => void;
}

/** The current attempt; `lost`: by earlier ones of its activity. */
export function openAttempt(lost: EstimatedUsage | undefined): AskedAttempt {
  let ask: ((outputTokens: number) => EstimatedUsage) | null = null;
  let written = 0;
  return {
    beat: () => defined({ asked: ask?.(Math.ceil(written)), lost }),
    onRequest: ({ price }, request) => {
      const promptTokens = requestTokens(request);
      ask = (outputTokens) => estimatedUsage(promptTokens, outputTokens, price);
    },
    onText: (text) => {
      written += textTokens(text);
    },
  };
}

/** What earlier attempts of the current activity lost, by the last heartbeat. */
export function lostBefore(): EstimatedUsage | undefined {
  const { heartbeatDetails } = Context.current().info;
  return heartbeatDetails === undefined || heartbeatDetails === null
    ? undefined
    : usedBy(heartbeatDetails as UsedSoFar);
}

/** All that is lost with an attempt whose last heartbeat this was. */
export function usedBy({ asked, lost }: UsedSoFar): EstimatedUsage | undefined {
  return addEstimates(lost, asked);
}
