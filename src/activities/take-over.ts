/** The layer of a model call that takes over an earlier attempt which the service gave up. */
import { Context } from '@temporalio/activity';
import { defined } from '../core/base/defined.ts';
import { byteSize, type Json } from '../core/base/json.ts';
import type { ModelOrder } from '../core/contract/host-order.ts';
import type { UnfailedOutcome } from '../core/contract/host-outcome.ts';
import type { EstimatedUsage } from '../core/contract/model.ts';
import type { GivenUpCalls } from './given-up-calls.ts';
import { isGivenUp, isStoppedByService } from './heartbeat.ts';
import { workerShutdown } from './failures.ts';
import type { ModelAttempt } from './model-attempt.ts';

/** Makes an attempt, or takes over an earlier one which the service gave up. */
export async function takenOrRun<
  Attempt extends Pick<ModelAttempt, 'order' | 'tries' | 'signal' | 'beat'>,
>(
  givenUp: GivenUpCalls | undefined,
  attempt: Attempt,
  next: (attempt: Attempt) => Promise<UnfailedOutcome>,
): Promise<UnfailedOutcome> {
  if (givenUp === undefined) return next(attempt);
  const { order, tries, signal, beat } = attempt;
  const { added } = tries;
  const context = Context.current();
  const { activityId } = context.info;
  const { lossesBefore = 0 } = order;
  let takenOver: TakenStart | undefined;
  const outcome = await givenUp.run<UnfailedOutcome, TakenStart>({
    key: callKey(context, order),
    start: { activityId, lossesBefore, estimated: added.estimated },
    signal,
    isGivenUp: () => isGivenUp(context),
    begin: (own) => next({ ...attempt, signal: own }),
    onTakeOver: (start) => {
      takenOver = start;
      // It says that this attempt has asked nothing: what it took over is charged already.
      beat();
    },
    bytesOf: ({ kind, ...ended }) => (kind === 'reply' ? byteSize(ended as unknown as Json) : null),
  });
  if (takenOver === undefined) return outcome;
  // The call itself runs as the attempt that began it, which hears nothing of this one's end.
  if (outcome.kind === 'aborted' && isStoppedByService()) throw workerShutdown();
  const { estimated: used, losses: _losses, ...taken } = outcome;
  const lost = takenOver.activityId === activityId ? takenOver.estimated : undefined;
  // Of an aborted call nobody reports what it used.
  const estimated = outcome.kind === 'aborted' ? used : lost;
  const losses = lossesBefore - takenOver.lossesBefore;
  return {
    ...taken,
    ...added,
    ...defined({ estimated, takenOver: losses === 0 ? undefined : losses }),
  } as UnfailedOutcome;
}
/** What is known of an attempt that may be taken over. */
interface TakenStart {
  readonly activityId: string;
  /** Losses of its call that the workflow had counted. */
  readonly lossesBefore: number;
  /** What attempts of its activity had lost before it. */
  readonly estimated: EstimatedUsage | undefined;
}

/** The same for each attempt of a call of the provider that was lost; undefined: it has none. */
function callKey({ info }: Context, order: ModelOrder): string | undefined {
  const { workflowExecution } = info;
  const { seq, model, purpose, iteration, triesBefore, attemptsBefore = 0 } = order;
  // Without `seq`, a call cannot be told from one beside it.
  if (workflowExecution === undefined || seq === undefined) return undefined;
  const { workflowId, runId } = workflowExecution;
  return JSON.stringify([
    workflowId,
    runId,
    seq,
    model,
    purpose,
    iteration,
    triesBefore,
    attemptsBefore,
  ]);
}
