/** Sends a run its messages: the cancel, and updates, which survive hand-overs and bursts. */
import {
  ApplicationFailure,
  type Client,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import type { UpdateDefinition } from '@temporalio/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { defined } from '../core/base/defined.ts';
import { UsageError } from '../core/base/usage-error.ts';
import type { AnswerProblem } from '../core/contract/pending.ts';
import type { CancelPayload } from '../core/contract/messages.ts';
import { cancelSignal, statusQuery } from '../workflows/messages.ts';
import { RESOURCE_EXHAUSTED } from './connection/repeat-refused.ts';
import { assertAlive, describeRun, firstRunIdOf } from './connection/own-run.ts';
import { grpcCodeOf, noWorker, querying } from './connection/service-calls.ts';
import { inLane } from './update-lanes.ts';

/** A hand-over changes the execution. Repeating the update is safe, because its id stays. */
const HANDOVER_TRIES = 12;

/** How long the service may take to say what became of an update that is late. */
const LATE_ANSWER_MS = 2_000;

/** An update to send. */
export interface SentUpdate<Arg> {
  readonly arg: Arg;
  /** Repeating an update under its id has no effect. */
  readonly updateId: string;
}

/**
 * Sends an update to run `id`, and repeats it while the run hands over or has no room for another
 * update.
 *
 * @throws UsageError `invalid_input`, `item_unknown` or `item_settled` when the run refuses it, `run_busy` when others kept it out,
 * `no_worker` when no worker answers, `run_ended`, `run_not_found`.
 */
export async function acrossHandover<Result, Arg>(
  id: string,
  client: Client,
  definition: UpdateDefinition<Result, [Arg]>,
  { arg, updateId }: SentUpdate<Arg>,
): Promise<Result> {
  const handle = client.workflow.getHandle(id);
  const send = (): Promise<Result> => handle.executeUpdate(definition, { args: [arg], updateId });
  return inLane(client, id, async (deadlineOf) => {
    const deadline = deadlineOf();
    if (Date.now() >= deadline) throw noAnswer(id);
    for (let attempt = 1; ; attempt++) {
      try {
        return await client.withDeadline(deadline, send);
      } catch (error) {
        if (error instanceof WorkflowUpdateFailedError && isRefusal(error.cause)) {
          throw new UsageError(error.cause.type, error.cause.message);
        }
        // Too many updates are in flight. The SDK repeats such calls, but not for ever.
        const isBusy = grpcCodeOf(error) === RESOURCE_EXHAUSTED;
        if (!isBusy && !isMissed(error)) throw error;
        await assertAlive(id, client);
        if (Date.now() >= deadline) {
          return lateResult(id, client, () => handle.getUpdateHandle<Result>(updateId).result());
        }
        if (!isBusy && attempt >= HANDOVER_TRIES) throw error;
        // Other updates of a burst wait too, so each waits for a different time.
        await sleep(Math.min(50 * 2 ** attempt, 1_000) * (0.5 + Math.random()));
      }
    }
  });
}

/** The result of an update whose deadline has passed: the run may have accepted it. */
async function lateResult<Result>(
  id: string,
  client: Client,
  result: () => Promise<Result>,
): Promise<Result> {
  try {
    return await client.withDeadline(Date.now() + LATE_ANSWER_MS, result);
  } catch (error) {
    if (error instanceof WorkflowUpdateFailedError && isRefusal(error.cause)) {
      throw new UsageError('invalid_input', error.cause.message);
    }
  }
  const handle = client.workflow.getHandle(id);
  const isServed = await querying(id, client, () => handle.query(statusQuery), LATE_ANSWER_MS).then(
    () => true,
    () => false,
  );
  throw isServed ? busy(id) : noAnswer(id);
}

function busy(id: string): UsageError {
  return new UsageError(
    'run_busy',
    `Expected run \`${id}\` to take one more message, got too many at once for half a minute. Send it again, under the same id.`,
  );
}

function noAnswer(id: string): UsageError {
  const { code, message } = noWorker(id);
  return new UsageError(
    code,
    `${message} The message itself may still arrive: send it again, under the same id.`,
  );
}

/** gRPC status 3: among other causes, the execution has had all the signals that it may have. */
const INVALID_ARGUMENT = 3;

/**
 * Cancels run `id` by its signal, or ends it at once by force, if it is a run of an agent. An execution takes 10,000 signals;
 * after these the service cancels it, and only the message is lost.
 */
export async function cancelRun(
  id: string,
  client: Client,
  { message, force, by }: CancelPayload & { readonly force: boolean },
): Promise<void> {
  // An id may be that of another run, or of another application's workflow, when it is acted on.
  const firstExecutionRunId = firstRunIdOf(await describeRun(client, id));
  const handle = client.workflow.getHandle(id, undefined, { firstExecutionRunId });
  try {
    if (force) await handle.terminate(message);
    else await handle.signal(cancelSignal, defined({ message, by }));
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) await assertAlive(id, client);
    const isFull = [INVALID_ARGUMENT, RESOURCE_EXHAUSTED].includes(grpcCodeOf(error) ?? 0);
    if (force || !isFull) throw error;
    await handle.cancel();
  }
}

/** The failure of a message that the run refuses. */
type Refusal = ApplicationFailure & { readonly type: AnswerProblem };

const REFUSALS: readonly unknown[] = [
  'invalid_input',
  'item_unknown',
  'item_settled',
] satisfies AnswerProblem[];

function isRefusal(cause: unknown): cause is Refusal {
  return cause instanceof ApplicationFailure && REFUSALS.includes(cause.type);
}

function isMissed(error: unknown): boolean {
  if (error instanceof WorkflowNotFoundError) return true;
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return true;
  if (error instanceof WorkflowUpdateFailedError) return true;
  // 5 NOT_FOUND, 9 FAILED_PRECONDITION, 10 ABORTED, 14 UNAVAILABLE: the codes of gRPC. The service
  // answers 9 when the workflow task that carried the update failed, as when its worker was lost.
  return [5, 9, 10, 14].includes(grpcCodeOf(error) ?? 0);
}
