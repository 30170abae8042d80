/**
 * Starts a run of a schedule by hand, and finds it. The service says only that it took the request, and
 * makes the id of a run from the second at which the run is due: two starts of one second would be one
 * run. So each start gets a second of its own, and then the id of its run is known before.
 *
 * I1  A process gives no second twice. Among processes, the run of a second is that of the start whose
 *     fraction of the second it has: the fraction is random, and the service keeps it with the start.
 * I2  A second at which the schedule itself is due is left to it, unless there is no other.
 * I3  Of several requests that the service gets before it looks at them, it takes the last one and drops
 *     the others. So a process sends one after another, and sends again what left no trace: the same
 *     start, whose run cannot be two.
 */
import type { Client, ScheduleDescription } from '@temporalio/client';
import { encodeScheduleOverlapPolicy } from '@temporalio/client/lib/schedule-types.js';
import { optionalDateToTs } from '@temporalio/common/lib/time.js';
import { LRUCache } from 'lru-cache';
import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { UsageError } from '../../core/base/usage-error.ts';
import { isNotFound } from '../connection/service-errors.ts';
import { describeSchedule, matchingTimes, overlapOf } from './describe-schedule.ts';
import { OVERLAPS, type ScheduleOverlap } from './schedule-options.ts';

/** How long the service may take to start the run. */
const TRIGGER_MS = 30_000;
const POLL_MS = 100;

/** Starts by hand are due within the last minute, so there are at most 60 of them in it. */
const WINDOW_S = 60;

/** A request that has left no trace for so long was dropped (I3). */
const DROPPED_MS = 2_000;

/** The last start of each schedule that is under way in this process (I3). */
const turns = new Map<string, Promise<unknown>>();

/** The seconds that starts of this process have. */
const taken = new LRUCache<string, true>({ max: 100_000, ttl: 2 * WINDOW_S * 1_000 });

/** A start: when it is due, and so the id of its run. */
interface Start {
  readonly second: number;
  readonly nanos: number;
  readonly run: string;
}

/** The id of the run that schedule `id` starts, for each call another; null if it starts none. */
export async function triggerSchedule(
  client: Client,
  id: string,
  asked: ScheduleOverlap | undefined,
): Promise<string | null> {
  const key = keyOf(client, id);
  const before = turns.get(key) ?? Promise.resolve();
  const turn = before.catch(() => undefined).then(() => startOne(client, id, asked));
  turns.set(key, turn);
  try {
    return await turn;
  } finally {
    if (turns.get(key) === turn) turns.delete(key);
  }
}

function keyOf(client: Client, id: string): string {
  return `${client.options.namespace}/${id}`;
}

async function startOne(
  client: Client,
  id: string,
  asked: ScheduleOverlap | undefined,
): Promise<string | null> {
  const until = Date.now() + TRIGGER_MS;
  const before = await describeSchedule(client, id);
  const overlap = asked ?? overlapOf(before.policies.overlap);
  let start = await newStart(client, before);
  while (Date.now() < until) {
    await send(client, id, { start, overlap });
    const outcome = await outcomeOf(client, before, { start, overlap, until });
    if (outcome === 'started') return start.run;
    if (outcome === 'none') return null;
    if (outcome === 'taken') start = await newStart(client, before);
  }
  return null;
}

/** A start whose run is none that there is. */
async function newStart(client: Client, before: ScheduleDescription): Promise<Start> {
  const { scheduleId, action, info } = before;
  const now = Math.floor(Date.now() / 1_000);
  const seconds = Array.from({ length: WINDOW_S }, (_, back) => now - back);
  const range = { from: new Date((now - WINDOW_S) * 1_000), until: new Date(now * 1_000) };
  const times = await matchingTimes(client, scheduleId, range);
  const due = new Set(times.map((time) => Math.floor(time.getTime() / 1_000)));
  const ordered = [
    ...seconds.filter((second) => !due.has(second)),
    ...seconds.filter((second) => due.has(second)),
  ];
  // A start that waits for another run shows nothing of whose it is, so its second is a rare one.
  const from = info.runningActions.length > 0 ? randomInt(WINDOW_S) : 0;
  for (const second of [...ordered.slice(from), ...ordered.slice(0, from)]) {
    const key = `${keyOf(client, scheduleId)}/${second}`;
    if (taken.has(key)) continue;
    taken.set(key, true);
    const run = `${action.workflowId}-${timeText(second)}`;
    if (!(await hasRun(client, run))) return { second, nanos: randomInt(1_000_000_000), run };
  }
  throw new UsageError(
    'schedule_busy',
    `Expected fewer than ${WINDOW_S} starts of schedule \`${scheduleId}\` within a minute, got as many. Start the runs without the schedule.`,
  );
}

/** As the service writes it in the id of a run. */
function timeText(second: number): string {
  return new Date(second * 1_000).toISOString().replace('.000Z', 'Z');
}

async function hasRun(client: Client, workflowId: string): Promise<boolean> {
  const { namespace } = client.options;
  try {
    await client.workflowService.describeWorkflowExecution({
      namespace,
      execution: { workflowId },
    });
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

async function send(
  client: Client,
  scheduleId: string,
  { start, overlap }: { readonly start: Start; readonly overlap: ScheduleOverlap },
): Promise<void> {
  const { namespace, identity } = client.options;
  const scheduledTime = optionalDateToTs(new Date(start.second * 1_000));
  await client.workflowService.patchSchedule({
    namespace,
    identity,
    scheduleId,
    requestId: randomUUID(),
    patch: {
      triggerImmediately: {
        overlapPolicy: encodeScheduleOverlapPolicy(OVERLAPS[overlap]) ?? 0,
        scheduledTime: { ...scheduledTime, nanos: start.nanos },
      },
    },
  });
}

/** `taken`: the second is that of another process. `dropped`: the request has left no trace. */
type Outcome = 'started' | 'taken' | 'none' | 'dropped';

async function outcomeOf(
  client: Client,
  before: ScheduleDescription,
  order: { readonly start: Start; readonly overlap: ScheduleOverlap; readonly until: number },
): Promise<Outcome> {
  const { start, overlap, until } = order;
  const sentAt = Date.now();
  while (Date.now() < until) {
    const now = await describeSchedule(client, before.scheduleId);
    const action = now.raw.info?.recentActions?.find(
      ({ startWorkflowResult }) => startWorkflowResult?.workflowId === start.run,
    );
    if (action !== undefined) {
      return action.scheduleTime?.nanos === start.nanos ? 'started' : 'taken';
    }
    const waiting = Number(now.raw.info?.bufferSize ?? 0);
    const skipped = now.info.numActionsSkippedOverlap - before.info.numActionsSkippedOverlap;
    const gaveWay = skipped > 0 || (overlap.startsWith('buffer') && waiting > 0);
    if (gaveWay && overlap !== 'allow-all' && now.info.runningActions.length > 0) return 'none';
    if (waiting === 0 && Date.now() - sentAt > DROPPED_MS) {
      if (!(await hasRun(client, start.run))) return 'dropped';
      // The list has the last ten; after ten others it no longer has this one.
      if (isFullSince(before, now)) return 'started';
    }
    await sleep(POLL_MS);
  }
  return 'none';
}

/** Starts that a description has. */
const LISTED = 10;

/** Whether all starts that `now` has are younger than `before`. */
function isFullSince(before: ScheduleDescription, now: ScheduleDescription): boolean {
  const runIdOf = ({ action }: (typeof now.info.recentActions)[number]): string =>
    action.workflow.firstExecutionRunId;
  const known = new Set(before.info.recentActions.map(runIdOf));
  const { recentActions: recent } = now.info;
  return recent.length >= LISTED && !recent.some((start) => known.has(runIdOf(start)));
}
