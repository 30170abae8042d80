/**
 * What attempts of a model activity used that died with their worker. Nobody reports it, so it is
 * estimated: by the last heartbeat of the attempt, or by its prompt if there was none.
 *
 * I1  An attempt that failed by itself says so in a last heartbeat, which the SDK sends with the
 *     failure.
 * I2  Each heartbeat repeats what earlier attempts have lost, since only the last one is kept.
 */
import { Context } from '@temporalio/activity';
import { defined } from '../core/base/defined.ts';
import { exactSum } from '../core/base/exact-sum.ts';
import { requestTokens, textTokens } from '../core/ask/context-tokens.ts';
import { costMicroUsd } from '../core/model/cost.ts';
import { noUsage } from '../core/model/usage.ts';
import type { EstimatedUsage, ModelRequest } from '../core/contract/model.ts';
import type { ModelEntry } from '../define/model/model-entry.ts';
import type { HeartbeatDetails } from './heartbeat.ts';

/** The details of the heartbeats of a model activity. */
export interface ModelHeartbeat extends HeartbeatDetails {
  /** What this attempt has used so far. */
  readonly asked?: EstimatedUsage;
  /** What earlier attempts have lost. */
  readonly lost?: EstimatedUsage;
  /** Set when the attempt ended by itself. */
  readonly ended?: true;
}

/** The attempts of a model activity, as the current one sees them. */
export interface Attempts {
  /** What the next heartbeat says. */
  readonly beat: () => Omit<ModelHeartbeat, 'attempts'>;
  /** The provider is about to be asked. */
  readonly onRequest: (entry: ModelEntry, request: ModelRequest) => void;
  /** A piece of the reply has come. */
  readonly onText: (text: string) => void;
  /** What is lost by now; undefined: nothing. */
  readonly lost: () => EstimatedUsage | undefined;
  /** Says that this attempt ended by itself. */
  readonly end: () => void;
}

/** The attempts of the current activity. */
export function openAttempts(): Attempts {
  const context = Context.current();
  const { attempt, heartbeatDetails } = context.info;
  const last = heartbeatDetails as ModelHeartbeat | undefined;
  let lost = last === undefined ? undefined : lostBy(last, attempt);
  /** Attempts that left no word. */
  const silent = attempt - 1 - (last?.attempts ?? 0);
  let ask: ((text: number) => EstimatedUsage) | null = null;
  let tokens = 0;
  const asked = (): EstimatedUsage | undefined => ask?.(tokens);
  return {
    beat: () => defined({ asked: asked(), lost }),
    onRequest: (entry, request) => {
      const promptTokens = requestTokens(request);
      ask = (outputTokens) => estimateOf(entry, promptTokens, Math.ceil(outputTokens));
      for (let one = 0; one < silent; one++) lost = added(lost, ask(0));
    },
    onText: (text) => {
      tokens += textTokens(text);
    },
    lost: () => lost,
    end: () => context.heartbeat({ attempts: attempt, ...defined({ lost }), ended: true }),
  };
}

/** What a last heartbeat says to be lost. One of an attempt without an estimate lost nothing. */
export function lostBy(last: ModelHeartbeat, attempt: number): EstimatedUsage | undefined {
  const isOver = last.ended === true || last.attempts >= attempt;
  return isOver || last.asked === undefined ? last.lost : added(last.lost, last.asked);
}

function estimateOf(
  { price }: ModelEntry,
  inputTokens: number,
  outputTokens: number,
): EstimatedUsage {
  const cost = costMicroUsd({ ...noUsage, inputTokens, outputTokens }, price);
  return { totalTokens: exactSum(inputTokens, outputTokens), costMicroUsd: cost };
}

function added(left: EstimatedUsage | undefined, right: EstimatedUsage): EstimatedUsage {
  if (left === undefined) return right;
  return {
    totalTokens: exactSum(left.totalTokens, right.totalTokens),
    costMicroUsd: exactSum(left.costMicroUsd, right.costMicroUsd),
  };
}
