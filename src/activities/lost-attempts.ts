/**
 * What attempts of a model call used that were lost with their worker. Nobody reports it, so it is
 * estimated: the prompt, and what had been written by the last heartbeat.
 *
 * I1  Only what a heartbeat says is known of a lost attempt. If there was none, the workflow charges
 *     the prompt (attempts/tried-model.ts).
 * I2  While the service repeats an activity, it keeps only the last heartbeat. So each one also says
 *     what the attempts before it lost.
 * I3  What is written until the next heartbeat would be lost unseen. So each one also counts what
 *     half of that time will bring at the pace so far: the estimate is right on average.
 */
import { Context } from '@temporalio/activity';
import { defined } from '../core/base/defined.ts';
import { requestTokens, textTokens } from '../core/ask/context-tokens.ts';
import { addEstimates, estimatedUsage } from '../core/model/estimated-usage.ts';
import type { EstimatedUsage, ModelRequest } from '../core/contract/model.ts';
import type { BeatMoment } from './heartbeat.ts';
import type { CalledEntry } from '../define/model/model-entry.ts';

/** What the heartbeats of a model activity say besides the number of its attempt. */
export interface UsedSoFar {
  /** What this attempt has used so far; absent until the provider is asked. */
  readonly asked?: EstimatedUsage;
  /** What earlier attempts of this activity lost. */
  readonly lost?: EstimatedUsage;
  /** True: nothing had begun, so the attempt may have asked since. Its prompt is charged. */
  readonly isEntry?: true;
}

/** An attempt as it asks its provider. */
export interface AskedAttempt {
  /** What the next heartbeat says. */
  readonly beat: (moment: BeatMoment) => UsedSoFar;
  /** What was used until now. */
  readonly used: () => UsedSoFar;
  /** The provider is about to be asked. Returns whether a heartbeat has said that it was not. */
  readonly onRequest: (entry: CalledEntry, request: ModelRequest) => boolean;
  /** A piece of the reply has come. */
  readonly onText: (text: string) => void;
}

/** The current attempt; `lost`: by earlier ones of its activity. */
export function openAttempt(lost: EstimatedUsage | undefined): AskedAttempt {
  let ask: ((outputTokens: number) => EstimatedUsage) | null = null;
  let written = 0;
  let firstTextAt = 0;
  let hasBeaten = false;
  const ahead = (ms: number): number =>
    written === 0 ? 0 : (written / Math.max(ms, performance.now() - firstTextAt)) * ms;
  return {
    used: () => defined({ asked: ask?.(Math.ceil(written)), lost }),
    beat: ({ isEntry, aheadMs }) => {
      hasBeaten ||= ask === null;
      const asked = ask?.(Math.ceil(written + ahead(aheadMs)));
      return defined({ asked, lost, isEntry: isEntry ? true : undefined });
    },
    onRequest: ({ price }, request) => {
      // Most calls end before their first heartbeat, and a long conversation takes a while to count.
      let promptTokens: number | undefined;
      ask = (outputTokens) =>
        estimatedUsage((promptTokens ??= requestTokens(request)), outputTokens, price);
      return hasBeaten;
    },
    onText: (text) => {
      if (written === 0) firstTextAt = performance.now();
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
