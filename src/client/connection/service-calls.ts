/** Calls to the service about one run. Hides hand-overs and turns refusals into usage errors. */
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ApplicationFailure,
  type Client,
  QueryNotRegisteredError,
  WorkflowNotFoundError,
  WorkflowFailedError,
} from '@temporalio/client';
import { clip } from '../../core/text/cut.ts';
import type { UsageCode } from '../../core/base/usage-codes.ts';
import { isUsageError, UsageError } from '../../core/base/usage-error.ts';
import { unreadableError } from '../../protection/key-errors.ts';
import { CancelledFailure, ExternalStorageNotConfiguredError } from '@temporalio/common';
import { treeTraceId } from '../../telemetry/ids.ts';
import type { Step } from '../../core/contract/step.ts';
import { statusQuery } from '../../workflows/messages.ts';
import { hedged, type TryEnd } from './hedged.ts';
import { stalledTask, type StalledTask } from './newest-events.ts';
import { isGuarded } from './open-connection.ts';
import { grpcCodeOf, grpcErrorOf } from './service-errors.ts';
import { fullBufferPauseMs, isQueryBufferFull, RESOURCE_EXHAUSTED } from './repeat-refused.ts';

/** Longer than the service waits for a worker, 10 s, because its error says more. */
const QUERY_DEADLINE_MS = 30_000;

/** Whether an execution with this status is still running. */
export function isAlive(status: string): boolean {
  return status === 'RUNNING' || status === 'CONTINUED_AS_NEW';
}

/** Turns errors of the client library about unknown or foreign runs into usage errors. */
export async function asking<Result>(id: string, ask: () => Promise<Result>): Promise<Result> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) throw unknownRun(id);
    const unreadable = unreadableError(error, `to read run \`${id}\``);
    if (unreadable !== undefined) throw unreadable;
    if (error instanceof ExternalStorageNotConfiguredError) {
      throw new UsageError(
        'no_blobs',
        `Expected the blob store that holds data of run \`${id}\`, got none. Set EVERLOOP_BLOBS.`,
      );
    }
    if (error instanceof QueryNotRegisteredError) throw refusedQuery(id, error.message);
    // 9 FAILED_PRECONDITION: no worker has polled for minutes.
    if (isCutOff(error) || isBusyRun(error) || grpcCodeOf(error) === 9) throw noWorker(id);
    throw error;
  }
}

/**
 * Queries run `id`, within `withinMs`, until it is given up by `left`. A worker that stops takes a query with it, and a worker may
 * drop it when the run ends, so a query that gets no answer is made again (decision 292).
 *
 * @throws UsageError as `asking`; `no_worker` when no worker answers, with the reason if its workers
 * fail its workflow task, or were lost with it.
 */
export async function querying<Result>(
  id: string,
  client: Client,
  query: () => Promise<Result>,
  withinMs: number = QUERY_DEADLINE_MS,
  left?: AbortSignal,
): Promise<Result> {
  const deadline = Date.now() + withinMs;
  const over = new AbortController();
  const leave = (): void => over.abort();
  left?.addEventListener('abort', leave, { once: true });
  // The SDK adds a listener with each try, and removes none; they go with the signal.
  setMaxListeners(Infinity, over.signal);
  const endOf = (error: unknown): TryEnd => tryEndOf(error, deadline);
  const hedge = { endOf, asksBeside: isGuarded(client.connection) };
  const ask = (): Promise<Result> => hedged(() => whileBusy(query, deadline, over.signal), hedge);
  try {
    return await asking(id, () =>
      client.withAbortSignal(over.signal, () => client.withDeadline(deadline, ask)),
    );
  } catch (error) {
    if (!isUsageError(error) || !UNANSWERED.includes(error.code)) throw error;
    const stalled = await stalledTask(client, id);
    throw stalled === null ? error : stalledRun(id, stalled);
  } finally {
    left?.removeEventListener('abort', leave);
    // What was asked beside and has no answer yet.
    over.abort();
  }
}

/** What `ask` gives, asked again while the service refuses it because another query waits. */
async function whileBusy<Result>(
  ask: () => Promise<Result>,
  deadline: number,
  signal: AbortSignal,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask();
    } catch (error) {
      const pauseMs = fullBufferPauseMs(attempt);
      if (!isBusyRun(error) || Date.now() + pauseMs >= deadline) throw error;
      await sleep(pauseMs, undefined, { signal });
    }
  }
}

function tryEndOf(error: unknown, deadline: number): TryEnd {
  if (isCutOff(error)) return Date.now() < deadline ? 'lost' : 'final';
  return BUSY_CODES.includes(grpcCodeOf(error) ?? 0) ? 'refused' : 'final';
}

/** 14 UNAVAILABLE. */
const BUSY_CODES: readonly number[] = [RESOURCE_EXHAUSTED, 14];

/** Whether the service refused a query because another one of its run waits. */
function isBusyRun(error: unknown): boolean {
  const refusal = grpcErrorOf(error);
  return refusal !== undefined && isQueryBufferFull(refusal);
}

/** The codes of queries whose run may have a workflow task that fails. */
const UNANSWERED: readonly UsageCode[] = ['no_worker', 'query_failed'];

/**
 * 1 CANCELLED: the worker with the query stopped. 4 DEADLINE_EXCEEDED: no worker took it in time.
 */
function isCutOff(error: unknown): boolean {
  return [1, 4].includes(grpcCodeOf(error) ?? 0);
}

/** How the SDKs of the service say that a workflow has no such query. */
const UNKNOWN_QUERY =
  /did not register a handler for|unknown query ?type|query handler for .* (?:not found|expected but not)/i;

/**
 * The service gives one status to every query that the workflow did not answer: also when the
 * request was not valid, or the workflow's own code failed.
 */
function refusedQuery(id: string, message: string): UsageError {
  if (UNKNOWN_QUERY.test(message)) return notAnAgent(id);
  if (message.startsWith(REFUSAL)) return failingRun(id, message);
  return new UsageError(
    'query_failed',
    `Expected run \`${id}\` to answer, got: ${clip(message, MAX_REASON)}. See the log of its worker.`,
  );
}

/** How the text of a worker begins that refuses the tasks of a run, as for a missing own part. */
const REFUSAL = 'Refused: ';

/** Characters of a reason that another process gave. */
const MAX_REASON = 500;

/** The error for an id that no run has. */
export function unknownRun(id: string): UsageError {
  return new UsageError(
    'run_not_found',
    `Expected the id of a run that is alive or within the service's retention, got \`${id}\`. List the runs to find it.`,
  );
}

/** The error for a workflow that is no run of an agent. */
export function notAnAgent(id: string): UsageError {
  const message = `Expected \`${id}\` to be an agent's run, got another workflow.`;
  return new UsageError('not_an_agent', message);
}

/** The error for a run that no worker serves. */
export function noWorker(id: string): UsageError {
  return new UsageError(
    'no_worker',
    `Expected a worker that answers for run \`${id}\`, got silence. Start one that has its agent; the run waits meanwhile and loses nothing.`,
  );
}

function stalledRun(id: string, stalled: StalledTask): UsageError {
  if (stalled.kind === 'fails') return failingRun(id, stalled.reason);
  const until = new Date(stalled.until).toISOString();
  return new UsageError(
    'no_worker',
    `Expected a worker that answers for run \`${id}\`, got silence from the one that has its workflow task (attempt ${stalled.attempt}), which may be lost. Wait: the service gives the task to another worker at ${until} at the latest, and later after each lost worker. The run loses nothing.`,
  );
}

/** The error for a run whose workflow task its workers fail for `reason`. */
function failingRun(id: string, reason: string): UsageError {
  return new UsageError(
    'no_worker',
    `Expected a worker that goes on with run \`${id}\`, got a workflow task that fails: ${clip(reason, MAX_REASON)} The run waits meanwhile and loses nothing; \`everloop cancel ${id} --force\` ends it without a Step.`,
  );
}

/**
 * The Step of run `id`; waits for its end.
 *
 * @throws UsageError `no_step` for a run that ended without one, for example by termination.
 */
export async function readStep(client: Client, id: string): Promise<Step> {
  return inTrace(await readKeptStep(client, id));
}

/** A Step as its run has written it, with the id of the trace that it belongs to. */
export function inTrace(step: Step): Step {
  const { rootRunId = step.runId, traceparent } = step.trace;
  const traceId = treeTraceId({ rootRunId, traceparent });
  return { ...step, trace: { ...step.trace, traceId } };
}

/** The Step as the run has written it. */
async function readKeptStep(client: Client, id: string): Promise<Step> {
  const handle = client.workflow.getHandle(id);
  try {
    return (await handle.result()) as Step;
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) return asking(id, () => Promise.reject(error));
    const { cause } = error;
    const step = cause instanceof ApplicationFailure ? cause.details?.[0] : undefined;
    if (step !== undefined && step !== null) return step as Step;
    if (cause instanceof CancelledFailure) {
      const ended = await querying(id, client, () => handle.query(statusQuery));
      if (ended.step !== undefined) return ended.step;
    }
    const got = (cause?.message ?? error.message).replace(/\.$/, '');
    throw new UsageError('no_step', `Expected run \`${id}\` to end with a Step, got: ${got}.`);
  }
}
