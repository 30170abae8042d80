/**
 * The attempts of a run's calls, from the histories of its links: what events only count. A history
 * has who worked on an activity, when, and how it failed, also when its worker was lost.
 *
 * I1  Links are read from the newest to the oldest, and each from its end, as far as the range needs.
 * I2  A closed link is read once by a client.
 */
import type { Client } from '@temporalio/client';
import { defined } from '../../core/base/defined.ts';
import type { FailureType } from '../../core/base/failure-types.ts';
import { isPlainObject, type Json } from '../../core/base/json.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import { shown } from '../../core/text/shown.ts';
import { readPayloads } from '../../protection/read-payloads.ts';
import { tolerant } from '../connection/open-connection.ts';
import { asking } from '../connection/service-calls.ts';
import { millisecondsOf } from '../connection/service-time.ts';
import type { KeptLinks } from './kept-links.ts';
import { readLinks, type RunLink } from './links.ts';

/** One attempt of a model call, a tool call or a check of an answer. */
export interface CallAttempt {
  /** `judge`: schema and validators of an answer. */
  readonly kind: 'model' | 'tool' | 'judge';
  /** Model entry or tool; empty for a judgement. */
  readonly name: string;
  readonly iteration: number;
  /** Of a tool call: that of its events. */
  readonly callId?: string;
  /** Run id of the link. */
  readonly executionId: string;
  /** When the workflow ordered it, in milliseconds since 1970. */
  readonly scheduledAt: number;
  /** When a worker took it; null: none has, or the service did not record it. */
  readonly startedAt: number | null;
  /** Null: it is in flight. */
  readonly endedAt: number | null;
  /** Identity of the worker, `PID@HOST/…`; null: none has taken it, or it is not recorded. */
  readonly worker: string | null;
  /**
   * `lost`: its worker died, stalled or stopped · `open`: in flight, or waiting for a worker.
   */
  readonly outcome: 'ok' | 'failed' | 'lost' | 'canceled' | 'open';
  /** Why it failed or was lost, in the words of the service or of the failure. */
  readonly reason?: string;
}

/** Which attempts to read. */
export interface AttemptRange {
  /** First iteration; default 0. */
  readonly from?: number;
  /** The iteration before which to stop; default: all to the end. */
  readonly until?: number;
}

/** A run, and what the client has read of closed links. */
export interface AttemptSource {
  readonly client: Client;
  readonly id: string;
  readonly kept: KeptLinks;
}

/**
 * The attempts of run `id` in a range of iterations, by the time of their order.
 *
 * @throws UsageError `number` for an invalid range; `run_not_found`.
 */
export async function readAttempts(
  source: AttemptSource,
  { from = 0, until = Infinity }: AttemptRange = {},
): Promise<readonly CallAttempt[]> {
  for (const [name, value] of Object.entries({ from, until })) {
    if (value === Infinity || (Number.isSafeInteger(value) && value >= 0)) continue;
    const message = `Expected \`${name}\` to be an iteration from 0 up, got ${shown(value)}. Change it.`;
    throw new UsageError('number', message);
  }
  const links = await readLinks(source.client, source.id);
  const found: CallAttempt[] = [];
  for (const link of links.toReversed()) {
    const attempts = await attemptsOfLink(source, link, from);
    found.push(...attempts.filter(({ iteration }) => iteration >= from && iteration < until));
    if (attempts.some(({ iteration }) => iteration < from)) break;
  }
  return found.toSorted((a, b) => a.scheduledAt - b.scheduledAt);
}

/** Those of a link, all of them or at least those from iteration `from` on. */
async function attemptsOfLink(
  { client, id, kept }: AttemptSource,
  link: RunLink,
  from: number,
): Promise<readonly CallAttempt[]> {
  const key = `${link.executionId}/attempts`;
  const known = kept.find(key, 0);
  if (known !== undefined) return known.items as unknown as readonly CallAttempt[];
  const { attempts, isWhole } = await readHistory(client, id, link.executionId, from);
  if (link.closedAt !== null && isWhole) {
    const items = attempts as unknown as readonly Json[];
    kept.add(key, { first: 0, previous: null, start: 0, items, isLast: true });
  }
  return attempts;
}

type HistoryEvent = NonNullable<
  NonNullable<
    Awaited<ReturnType<Client['workflowService']['getWorkflowExecutionHistoryReverse']>>['history']
  >['events']
>[number];

/** Events of one page: they may hold what models and tools have said. */
const PAGE = 200;

/** What comes after an order in its history, by the id of the order's event. */
interface Progress {
  started?: HistoryEvent;
  end?: HistoryEvent;
}

/** Reads a history from its end, until an order of an iteration before `from`. */
async function readHistory(
  client: Client,
  workflowId: string,
  executionId: string,
  from: number,
): Promise<{ readonly attempts: readonly CallAttempt[]; readonly isWhole: boolean }> {
  const progress = new Map<string, Progress>();
  const attempts: CallAttempt[] = [];
  const open = await openActivities(client, workflowId, executionId);
  const { namespace } = client.options;
  let token: Uint8Array | null = null;
  do {
    const page: Awaited<
      ReturnType<typeof client.workflowService.getWorkflowExecutionHistoryReverse>
    > = await asking(workflowId, () =>
      client.workflowService.getWorkflowExecutionHistoryReverse({
        namespace,
        execution: { workflowId, runId: executionId },
        maximumPageSize: PAGE,
        nextPageToken: token,
      }),
    );
    for (const event of page.history?.events ?? []) {
      note(progress, event);
      const order = await orderOf(client, event, executionId);
      if (order === null) continue;
      const after = progress.get(String(event.eventId)) ?? {};
      const activityId = event.activityTaskScheduledEventAttributes?.activityId ?? '';
      attempts.push(...attemptsOf(order, after, open.get(activityId)));
      if (order.iteration < from) return { attempts, isWhole: false };
    }
    token = page.nextPageToken;
  } while (token !== null && token.length > 0);
  return { attempts, isWhole: true };
}

/** Keeps how an activity began and ended, under the event that ordered it. */
function note(progress: Map<string, Progress>, event: HistoryEvent): void {
  const started = event.activityTaskStartedEventAttributes;
  const end = endOf(event);
  const id = started?.scheduledEventId ?? end?.scheduledEventId;
  if (id === undefined || id === null) return;
  const known = progress.get(String(id)) ?? {};
  progress.set(String(id), { ...known, ...(end === null ? { started: event } : { end: event }) });
}

function endOf(
  event: HistoryEvent,
): Pick<
  NonNullable<HistoryEvent['activityTaskStartedEventAttributes']>,
  'scheduledEventId'
> | null {
  return (
    event.activityTaskCompletedEventAttributes ??
    event.activityTaskFailedEventAttributes ??
    event.activityTaskTimedOutEventAttributes ??
    event.activityTaskCanceledEventAttributes ??
    null
  );
}

/** An activity that a workflow has ordered. */
type Order = Pick<
  CallAttempt,
  'kind' | 'name' | 'iteration' | 'callId' | 'executionId' | 'scheduledAt'
>;

/** Null for other events, and for other activities. */
async function orderOf(
  client: Client,
  event: HistoryEvent,
  executionId: string,
): Promise<Order | null> {
  const scheduled = event.activityTaskScheduledEventAttributes;
  const kind = KINDS[scheduled?.activityType?.name ?? ''];
  if (scheduled === undefined || scheduled === null || kind === undefined) return null;
  const { loadedDataConverter } = tolerant(client).options;
  const [input] = await readPayloads(loadedDataConverter, scheduled.input?.payloads).catch(
    () => [],
  );
  const { iteration, callId, model, tool } = isPlainObject(input) ? input : {};
  const call = typeof callId === 'string' ? callId : undefined;
  const name = kind === 'model' ? model : tool;
  return {
    kind,
    name: typeof name === 'string' ? name : '',
    // The id of a call begins with its iteration.
    iteration: typeof iteration === 'number' ? iteration : Number.parseInt(call ?? '0', 10),
    executionId,
    scheduledAt: millisecondsOf(event.eventTime),
    ...defined({ callId: call }),
  };
}

const KINDS: Readonly<Record<string, CallAttempt['kind']>> = {
  callModel: 'model',
  callTool: 'tool',
  callToolOnce: 'tool',
  searchTools: 'tool',
  judgeAnswer: 'judge',
};

/** What the service says of an activity that has not ended. */
interface OpenActivity {
  readonly startedAt: number | null;
  readonly worker: string | null;
  readonly lastFailure?: Failure | null;
  readonly attempt: number;
}

type Failure = NonNullable<
  NonNullable<HistoryEvent['activityTaskStartedEventAttributes']>['lastFailure']
>;

async function openActivities(
  client: Client,
  id: string,
  executionId: string,
): Promise<ReadonlyMap<string, OpenActivity>> {
  const { raw } = await asking(id, () =>
    tolerant(client).workflow.getHandle(id, executionId).describe(),
  );
  const open = (raw.pendingActivities ?? []).map(
    ({ activityId, attempt, lastStartedTime, lastWorkerIdentity, lastFailure, state }) => {
      const isTaken = state === STARTED || state === CANCEL_REQUESTED;
      const one: OpenActivity = {
        startedAt: isTaken ? millisecondsOf(lastStartedTime) : null,
        worker: isTaken ? lastWorkerIdentity || null : null,
        attempt: attempt ?? 1,
        ...defined({ lastFailure: lastFailure ?? undefined }),
      };
      return [activityId ?? '', one] as const;
    },
  );
  return new Map(open);
}

/** States of an activity that a worker has, as the service numbers them. */
const STARTED = 2;
const CANCEL_REQUESTED = 3;

/** Those of one activity; the service may have tried it several times, and keeps the last failure. */
function attemptsOf(
  order: Order,
  { started, end }: Progress,
  open: OpenActivity | undefined,
): readonly CallAttempt[] {
  const details = started?.activityTaskStartedEventAttributes;
  const attempt = details?.attempt ?? open?.attempt ?? 1;
  const lastFailure = details?.lastFailure ?? open?.lastFailure;
  const startedAt = started === undefined ? (open?.startedAt ?? null) : timeOf(started);
  const last: CallAttempt = {
    ...order,
    startedAt,
    worker: details?.identity || (open?.worker ?? null),
    endedAt: end === undefined ? null : timeOf(end),
    ...(end === undefined ? { outcome: 'open' } : outcomeOf(end)),
  };
  if (attempt < 2 || lastFailure === undefined || lastFailure === null) return [last];
  const before: CallAttempt = {
    ...order,
    startedAt: null,
    endedAt: startedAt,
    worker: null,
    ...failureOf(lastFailure),
  };
  return [before, last];
}

function timeOf(event: HistoryEvent): number {
  return millisecondsOf(event.eventTime);
}

type Outcome = Pick<CallAttempt, 'outcome' | 'reason'>;

function outcomeOf(end: HistoryEvent): Outcome {
  if (end.activityTaskCompletedEventAttributes) return { outcome: 'ok' };
  if (end.activityTaskCanceledEventAttributes) return { outcome: 'canceled' };
  const { failure } =
    end.activityTaskTimedOutEventAttributes ?? end.activityTaskFailedEventAttributes ?? {};
  return failureOf(failure ?? {});
}

/** The failures by which a worker gives an attempt back. */
const GIVEN_BACK: readonly string[] = [
  'worker_shutdown',
  'transcript_unavailable',
  'blob_store_failed',
] satisfies readonly FailureType[];

/** A time-out of the service means that the worker was lost: a call's own time ends in its worker. */
function failureOf(failure: Failure): Outcome {
  const { message, timeoutFailureInfo: timeout, canceledFailureInfo: canceled } = failure;
  if (canceled) return { outcome: 'canceled' };
  const isLost = timeout || GIVEN_BACK.includes(failure.applicationFailureInfo?.type ?? '');
  const reason = message || TIMEOUTS[timeout?.timeoutType ?? 0] || undefined;
  return { outcome: isLost ? 'lost' : 'failed', ...defined({ reason }) };
}

/** The service's numbers of time-outs, in words. */
const TIMEOUTS: Readonly<Record<number, string>> = {
  1: 'activity StartToClose timeout',
  2: 'activity ScheduleToStart timeout',
  3: 'activity ScheduleToClose timeout',
  4: 'activity Heartbeat timeout',
};
