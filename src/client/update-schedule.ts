/** Changes a schedule: reads it, changes what was asked for, and writes all of it back. */
import type { Client } from '@temporalio/client';
import { UsageError, usageErrorOf } from '../core/base/usage-error.ts';
import type { RunHandle } from './run-handle.ts';
import type { ListOptions, RunSummary } from './run-list.ts';
import { notAnAgent } from './connection/service-calls.ts';
import type { WithRunAttributes } from './connection/search-attributes.ts';
import {
  checkScheduleOptions,
  timelessProblem,
  unorderedProblem,
} from './schedules/check-schedule.ts';
import { scheduling } from './schedules/schedule-errors.ts';
import { scheduledRun, scheduleInput } from './schedules/schedule-input.ts';
import type { ScheduleChanges, ScheduledRun, ScheduleTimes } from './schedules/schedule-options.ts';
import { startsRuns } from './schedules/describe-schedule.ts';
import { inputIn, summaryOfSchedule } from './schedule-view.ts';
import {
  changedSchedule,
  changesTimes,
  replaceSchedule,
  storedAction,
} from './schedules/stored-schedule.ts';

/** What schedules are made of: the client, and its runs. */
export interface ScheduleParts {
  readonly attach: (id: string) => RunHandle;
  readonly list: (options?: ListOptions) => Promise<readonly RunSummary[]>;
  readonly client: Client;
  readonly taskQueue: string;
  readonly attributesOf: WithRunAttributes;
}

/** Other writers are rare; each try reads anew. */
const UPDATE_TRIES = 5;

/** Changes schedule `id`. @throws UsageError as `update` of a ScheduleHandle. */
export async function updateSchedule(
  parts: ScheduleParts,
  id: string,
  changes: ScheduleChanges,
): Promise<void> {
  const given = withoutNulls(changes);
  checkScheduleOptions(given);
  if ('paused' in changes) {
    const message = 'Expected a change of a schedule, got `paused`. Call `pause` or `resume`.';
    throw new UsageError('unknown_option', message);
  }
  if ('tenant' in changes) {
    const message =
      'Expected a change of a schedule, got `tenant`, which its id begins with. Create another schedule.';
    throw new UsageError('unknown_option', message);
  }
  const timeless = changesTimes(changes) ? timelessProblem(given) : undefined;
  if (timeless !== undefined) throw new UsageError(timeless.code, timeless.message);
  for (let attempt = 0; attempt < UPDATE_TRIES; attempt++) {
    const isKept = await scheduling(id, () => tryUpdate(parts, id, changes), given);
    if (isKept) return;
  }
  throw new UsageError(
    'schedule_busy',
    `Expected to change schedule \`${id}\`, got changes of others ${UPDATE_TRIES} times. Look at it, and change it again.`,
  );
}

async function tryUpdate(
  { client, taskQueue, attributesOf }: ScheduleParts,
  id: string,
  changes: ScheduleChanges,
): Promise<boolean> {
  const before = await client.schedule.getHandle(id).describe();
  const kept = startsRuns(before) ? inputIn(before) : undefined;
  const { schedule } = before.raw;
  if (kept === undefined || schedule == null) throw notAnAgent(id);
  const zone = changes.timeZone === undefined ? before.spec.timezone : changes.timeZone;
  const run = changedRun(scheduledRun(kept), changes);
  const overlap =
    changes.overlap === undefined ? summaryOfSchedule(before).overlap : changes.overlap;
  const unordered = unorderedProblem({ previous: run.previous, overlap });
  if (unordered !== undefined) throw usageErrorOf([unordered]);
  const input = scheduleInput(run, zone || undefined);
  return attributesOf(input, async (attributes) => {
    const action = await storedAction({ client, id, taskQueue, attributes }, input);
    return replaceSchedule(client, before, changedSchedule(schedule, changes, action));
  });
}

const RUN_FIELDS = [
  'agent',
  'task',
  'context',
  'history',
  'limits',
  'model',
  'onEvent',
  'compiled',
  'previous',
] as const satisfies readonly (keyof ScheduledRun)[];

function changedRun(before: ScheduledRun, changes: ScheduleChanges): ScheduledRun {
  const given = RUN_FIELDS.filter((name) => changes[name] !== undefined);
  const changed = Object.fromEntries(given.map((name) => [name, changes[name] ?? undefined]));
  return { ...before, ...changed };
}

function withoutNulls(changes: ScheduleChanges): Pick<ScheduleTimes, 'cron' | 'timeZone'> {
  const given = Object.entries(changes).filter(([, value]) => value !== null);
  return Object.fromEntries(given) as Pick<ScheduleTimes, 'cron' | 'timeZone'>;
}
