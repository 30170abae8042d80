/** The attempt of a model call that takes over an earlier one which the service gave up. */
import { Context } from '@temporalio/activity';
import { defined } from '../core/base/defined.ts';
import { byteSize, type Json } from '../core/base/json.ts';
import type { ModelOrder } from '../core/contract/host-order.ts';
import type { EstimatedUsage } from '../core/contract/model.ts';
import type { ModelActivityResult } from './activity-types.ts';
import type { GivenUpCalls } from './given-up-calls.ts';
import { isGivenUp, isStoppedByService, type Beating } from './heartbeat.ts';
import { workerShutdown } from './failures.ts';
import type { AttemptNumber } from './tries.ts';

/** Runs an attempt, or takes over that of an earlier one which the service gave up. */
export async function takenOrRun(
  givenUp: GivenUpCalls | undefined,
  order: ModelOrder,
  { added }: AttemptNumber,
  { signal, beat }: Beating,
  run: (beating: Beating) => Promise<ModelActivityResult>,
): Promise<ModelActivityResult> {
  if (givenUp === undefined) return run({ signal, beat });
  const context = Context.current();
  const { activityId } = context.info;
  const { lossesBefore = 0 } = order;
  const { result, takenOver } = await givenUp.run<ModelActivityResult, TakenStart>({
    key: callKey(context, order),
    start: { activityId, lossesBefore, estimated: added.estimated },
    signal,
    isGivenUp: () => isGivenUp(context),
    begin: (own) => run({ signal: own, beat }),
    // It says that this attempt has asked nothing: what it took over is charged already.
    onTakeOver: beat,
    bytesOf: ({ kind, ...ended }) => (kind === 'reply' ? byteSize(ended as unknown as Json) : null),
  });
  if (takenOver === null) return result;
  // The call itself runs as the attempt that began it, which hears nothing of this one's end.
  if (result.kind === 'aborted' && isStoppedByService()) throw workerShutdown();
  const { estimated: used, losses: _losses, ...taken } = result;
  const lost = takenOver.activityId === activityId ? takenOver.estimated : undefined;
  // Of an aborted call nobody reports what it used.
  const estimated = result.kind === 'aborted' ? used : lost;
  const losses = lossesBefore - takenOver.lossesBefore;
  return {
    ...taken,
    ...added,
    ...defined({ estimated, takenOver: losses === 0 ? undefined : losses }),
  } as ModelActivityResult;
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
