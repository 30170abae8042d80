/**
 * Sends a run its messages: the cancel, and updates, which survive hand-overs and bursts. An input, an
 * answer and a decision need no worker: what no worker takes in time is left with the service.
 *
 * I1  What is left is the same message under the same id, as a signal. A worker that had the update
 *     already, or gets both, counts it once.
 * I2  Where the service is away, a message fails within {@link SERVICE_MS}, and may be sent again.
 */
import {
  ApplicationFailure,
  type Client,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import type { SignalDefinition, UpdateDefinition } from '@temporalio/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { defined } from '../../core/base/defined.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import type { AnswerProblem } from '../../core/contract/pending.ts';
import type { CancelPayload } from '../../core/contract/messages.ts';
import { cancelSignal, statusQuery } from '../../workflows/messages.ts';
import { stalledTask } from '../connection/newest-events.ts';
import { RESOURCE_EXHAUSTED } from '../connection/repeat-refused.ts';
import { assertAlive, describeRun, firstRunIdOf, requireOwnRun } from '../connection/own-run.ts';
import { noWorker, querying } from '../connection/service-calls.ts';
import { grpcCodeOf, isAway, unavailable } from '../connection/service-errors.ts';
import { inLane } from './update-lanes.ts';

/** A hand-over changes the execution. Repeating the update is safe, because its id stays. */
const HANDOVER_TRIES = 12;

/** How long an update may take, after the last one of its run that succeeded. */
const UPDATE_MS = 10_000;

/** How long a worker has to take an update that could be left with the service as well. */
const WORKER_MS = 2_000;

/** How long the service has to take a message. */
const SERVICE_MS = 10_000;

/** How long the service may take to say what became of an update that is late. */
const LATE_ANSWER_MS = 2_000;

/** An update to send. */
export interface SentUpdate<Arg> {
  readonly arg: Arg;
  /** Repeating an update under its id has no effect. */
  readonly updateId: string;
}

/** A message that workers take as an update, and that is left as a signal where none is there. */
export interface LeavableMessage<Result, Arg> {
  readonly update: UpdateDefinition<Result, [Arg]>;
  readonly signal: SignalDefinition<[Arg]>;
}

/**
 * Sends a message to run `id`. Null: no worker has taken it in time, and the service keeps it for the
 * next one.
 *
 * @throws UsageError `invalid_input`, `item_unknown` or `item_settled` when the run refuses it,
 * `service_unavailable`, `run_ended`, `run_not_found`.
 */
export async function sendOrLeave<Result, Arg>(
  id: string,
  client: Client,
  { update, signal }: LeavableMessage<Result, Arg>,
  sent: SentUpdate<Arg>,
): Promise<Result | null> {
  const until = Date.now() + SERVICE_MS;
  return inLane(client, { id, withinMs: WORKER_MS }, async (deadlineOf) => {
    const taken = await updateUntil(client, id, { update, sent, deadline: deadlineOf() }, true);
    if (taken !== null) return taken.result;
    const leave = (): Promise<void> => client.workflow.getHandle(id).signal(signal, sent.arg);
    try {
      await toService(id, client, leave, Math.max(until, Date.now() + LATE_ANSWER_MS));
    } catch (error) {
      // The execution has all the signals that it may have: only an update reaches it.
      if (grpcCodeOf(error) !== INVALID_ARGUMENT) throw error;
      return updated(id, client, { update, sent, deadline: Date.now() + UPDATE_MS });
    }
    return null;
  });
}

/**
 * Sends an update to run `id`, and repeats it while the run hands over or has no room for another
 * update.
 *
 * @throws UsageError `invalid_input`, `item_unknown` or `item_settled` when the run refuses it,
 * `run_busy` when others kept it out,
 * `no_worker` when no worker answers, `service_unavailable`, `run_ended`, `run_not_found`.
 */
export async function acrossHandover<Result, Arg>(
  id: string,
  client: Client,
  update: UpdateDefinition<Result, [Arg]>,
  sent: SentUpdate<Arg>,
): Promise<Result> {
  return inLane(client, { id, withinMs: UPDATE_MS }, async (deadlineOf) => {
    const deadline = deadlineOf();
    return updated(id, client, { update, sent, deadline });
  });
}

/**
 * The result of an update that cannot be left with the service.
 *
 * @throws UsageError as {@link acrossHandover}
 */
async function updated<Result, Arg>(
  id: string,
  client: Client,
  timed: TimedUpdate<Result, Arg>,
): Promise<Result> {
  const isLate = Date.now() >= timed.deadline;
  const taken = await updateUntil(client, id, timed, false);
  if (taken !== null) return taken.result;
  if (isLate) throw noAnswer(id);
  const handle = client.workflow.getHandle(id);
  return lateResult(id, client, () => handle.getUpdateHandle<Result>(timed.sent.updateId).result());
}

/** An update, and until when a worker may take it. */
interface TimedUpdate<Result, Arg> {
  readonly update: UpdateDefinition<Result, [Arg]>;
  readonly sent: SentUpdate<Arg>;
  readonly deadline: number;
}

/**
 * The result of an update; null: no worker took it by its deadline, or the service has no room for it
 * while it need not be taken as an update (`mayLeave`).
 */
async function updateUntil<Result, Arg>(
  client: Client,
  id: string,
  { update, sent, deadline }: TimedUpdate<Result, Arg>,
  mayLeave: boolean,
): Promise<{ readonly result: Result } | null> {
  const { arg, updateId } = sent;
  const handle = client.workflow.getHandle(id);
  const send = (): Promise<Result> => handle.executeUpdate(update, { args: [arg], updateId });
  for (let attempt = 1; Date.now() < deadline; attempt++) {
    try {
      return { result: await within(deadline, client.withDeadline(deadline, send)) };
    } catch (error) {
      if (error instanceof WorkflowUpdateFailedError && isRefusal(error.cause)) {
        throw new UsageError(error.cause.type, error.cause.message);
      }
      // Too many updates are in flight. The SDK repeats such calls, but not for ever.
      const isBusy = grpcCodeOf(error) === RESOURCE_EXHAUSTED;
      if (!isBusy && !isMissed(error)) throw error;
      if (isBusy && mayLeave) return null;
      if (Date.now() >= deadline) return null;
      if (!isBusy && attempt >= HANDOVER_TRIES && !isAway(error)) throw error;
      const alive = toService(id, client, () => assertAlive(id, client), deadline);
      await alive.catch((lost: unknown) => {
        if (!isAway(lost)) throw lost;
      });
      // Other updates of a burst wait too, so each waits for a different time.
      await sleep(Math.min(50 * 2 ** attempt, 1_000) * (0.5 + Math.random()));
    }
  }
  return null;
}

/** What a call is late with that the SDK goes on to repeat. */
class LateCall extends Error {}

/** `call`, given up at `deadline`: between two tries, the SDK does not look at the deadline. */
async function within<Result>(deadline: number, call: Promise<Result>): Promise<Result> {
  const over = new AbortController();
  // Time for the answer of the service itself that it is late.
  const leftMs = Math.max(0, deadline - Date.now()) + 100;
  const late = sleep(leftMs, undefined, { signal: over.signal }).then(() => {
    throw new LateCall('no answer in time');
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([call, late]);
  } finally {
    over.abort();
  }
}

/**
 * Calls the service about run `id`, again while it is away.
 *
 * @throws UsageError `service_unavailable` after the deadline; `run_ended`, `run_not_found`.
 */
export async function toService(
  id: string,
  client: Client,
  call: () => Promise<void>,
  deadline: number,
): Promise<void> {
  for (;;) {
    try {
      return await within(deadline, client.withDeadline(deadline, call));
    } catch (error) {
      const isLate = error instanceof LateCall;
      // The run may hand over.
      if (error instanceof WorkflowNotFoundError) await assertAlive(id, client);
      else if (!isLate && !isAway(error)) throw error;
      if (isLate || Date.now() >= deadline) throw unavailable(error);
      await sleep(Math.min(500, Math.max(1, deadline - Date.now())));
    }
  }
}

/**
 * Makes sure that run `id` is one of an agent, before it gets a message.
 *
 * @throws UsageError `not_an_agent`, `run_not_found`, `service_unavailable`.
 */
export function ownRunInTime(id: string, client: Client): Promise<void> {
  return toService(id, client, () => requireOwnRun(client, id), Date.now() + SERVICE_MS);
}

/** The result of an update whose deadline has passed: the run may have accepted it. */
async function lateResult<Result>(
  id: string,
  client: Client,
  result: () => Promise<Result>,
): Promise<Result> {
  const deadline = Date.now() + LATE_ANSWER_MS;
  try {
    return await within(deadline, client.withDeadline(deadline, result));
  } catch (error) {
    if (error instanceof WorkflowUpdateFailedError && isRefusal(error.cause)) {
      throw new UsageError(error.cause.type, error.cause.message);
    }
    if (error instanceof LateCall || grpcCodeOf(error) === UNAVAILABLE) throw unavailable(error);
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
    `Expected run \`${id}\` to take one more message, got too many at once. Send it again, under the same id.`,
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
const UNAVAILABLE = 14;

/** So often may the workflow task of a run fail before a cancel no longer waits for a worker. */
const TOLERATED_ATTEMPTS = 3;

/**
 * Cancels run `id` by its signal, or ends it at once by force, if it is a run of an agent. A run whose
 * workflow task fails again and again cannot read a signal, so it is ended as by force. An execution
 * takes 10,000 signals; after these the service cancels it, and only the message is lost.
 */
export async function cancelRun(
  id: string,
  client: Client,
  { message, force, by }: CancelPayload & { readonly force: boolean },
): Promise<void> {
  const until = Date.now() + SERVICE_MS;
  const cancel = async (): Promise<void> => {
    // An id may be that of another run, or of another application's workflow, when it is acted on.
    const described = await describeRun(client, id);
    const firstExecutionRunId = firstRunIdOf(described);
    const handle = client.workflow.getHandle(id, undefined, { firstExecutionRunId });
    if (force) return void (await handle.terminate(message));
    const { attempt } = described.raw.pendingWorkflowTask ?? {};
    if ((attempt ?? 1) > TOLERATED_ATTEMPTS) {
      // No worker comes as far as to read the signal.
      const stalled = await stalledTask(client, id);
      if (stalled?.kind === 'fails') {
        const why = `its workflow task failed again and again: ${stalled.reason}`;
        return void (await handle.terminate(`${message ?? 'canceled'} (${why})`));
      }
    }
    try {
      await handle.signal(cancelSignal, defined({ message, by }));
    } catch (error) {
      const isFull = [INVALID_ARGUMENT, RESOURCE_EXHAUSTED].includes(grpcCodeOf(error) ?? 0);
      if (!isFull) throw error;
      await handle.cancel();
    }
  };
  await toService(id, client, cancel, until);
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
  if (error instanceof LateCall) return true;
  if (error instanceof WorkflowNotFoundError) return true;
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return true;
  if (error instanceof WorkflowUpdateFailedError) return true;
  // 5 NOT_FOUND, 9 FAILED_PRECONDITION, 10 ABORTED, 14 UNAVAILABLE: the codes of gRPC. The service
  // answers 9 when the workflow task that carried the update failed, as when its worker was lost.
  return [5, 9, 10].includes(grpcCodeOf(error) ?? 0) || isAway(error);
}
