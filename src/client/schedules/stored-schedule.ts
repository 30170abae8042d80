/**
 * A schedule in the form of the service. The SDK's client is not used to write it: its `update` sends
 * no conflict token, and it would put arguments into the blobs of a run that never exists.
 */
import type { Client, ScheduleDescription } from '@temporalio/client';
import type { SearchAttributePair } from '@temporalio/common';
import {
  encodeScheduleAction,
  encodeSchedulePolicies,
  encodeScheduleSpec,
} from '@temporalio/client/lib/schedule-helpers.js';
import { randomUUID } from 'node:crypto';
import { defined } from '../../core/base/defined.ts';
import type { AgentInput } from '../../core/contract/input.ts';
import { AGENT_WORKFLOW } from '../../core/contract/messages.ts';
import { summaryLine } from '../../core/text/summary.ts';
import { memoOf } from '../../core/start/start-parts.ts';
import {
  OVERLAPS,
  SCHEDULE_DEFAULTS,
  type SchedulePolicies,
  type ScheduleTimes,
} from './schedule-options.ts';
import { durationMsOf, specOf } from './schedule-times.ts';

type StoredSchedule = NonNullable<ScheduleDescription['raw']['schedule']>;
type StoredAction = NonNullable<StoredSchedule['action']>;

/** Where the runs of a schedule begin, and how they are found. */
export interface ActionPlace {
  readonly client: Client;
  readonly id: string;
  readonly taskQueue: string;
  /** Of each run; none if the namespace lacks them. */
  readonly attributes: SearchAttributePair[];
}

/** What the service does when the schedule is due; encrypted if the client has keys. */
export function storedAction(
  { client, id, taskQueue, attributes }: ActionPlace,
  input: AgentInput,
): Promise<StoredAction> {
  const { loadedDataConverter, namespace } = client.options;
  const { tenant } = input;
  const action = {
    type: 'startWorkflow',
    workflowType: AGENT_WORKFLOW,
    // The service appends the time, so two schedules never share the id of a run.
    workflowId: id,
    taskQueue,
    args: [input],
    memo: memoOf(input),
    staticSummary: summaryLine(`${input.agent}: ${input.task.text}`),
    typedSearchAttributes: attributes,
    ...(tenant === undefined ? undefined : { priority: { fairnessKey: tenant } }),
  } as const;
  return encodeScheduleAction(loadedDataConverter, namespace, { ...action, args: [input] }, {});
}

/** A new schedule with `action`. */
export function newSchedule(
  times: ScheduleTimes,
  { paused = false, ...policies }: SchedulePolicies & { readonly paused?: boolean },
  action: StoredAction,
): StoredSchedule {
  return {
    spec: encodeScheduleSpec({ timezone: SCHEDULE_DEFAULTS.timeZone, ...specOf(times) }),
    action,
    policies: storedPolicies({
      overlap: SCHEDULE_DEFAULTS.overlap,
      catchupWindow: SCHEDULE_DEFAULTS.catchupMs,
      ...defined({ ...policies }),
    }),
    state: { paused },
  };
}

function storedPolicies({
  overlap,
  catchupWindow,
  pauseOnFailure,
}: SchedulePolicies): NonNullable<StoredSchedule['policies']> {
  const encoded = encodeSchedulePolicies(
    defined({
      overlap: overlap && OVERLAPS[overlap],
      catchupWindow: durationMsOf(catchupWindow),
      pauseOnFailure,
    }),
  );
  return defined({ ...encoded });
}

/** The options of a change; null stands for the default, and what is absent stays. */
type Nullable<Options> = { readonly [Name in keyof Options]?: Options[Name] | null };

/** `before` with changed times and policies, and with `action`. Its state stays: it may be paused. */
export function changedSchedule(
  before: StoredSchedule,
  changes: Nullable<ScheduleTimes> & Nullable<SchedulePolicies>,
  action: StoredAction,
): StoredSchedule {
  const { overlap, catchupWindow, pauseOnFailure } = changes;
  const policies = storedPolicies(
    defined({
      overlap: overlap === null ? SCHEDULE_DEFAULTS.overlap : overlap,
      catchupWindow: catchupWindow === null ? SCHEDULE_DEFAULTS.catchupMs : catchupWindow,
      pauseOnFailure: pauseOnFailure === null ? false : pauseOnFailure,
    }),
  );
  return {
    ...before,
    spec: changedSpec(before.spec ?? {}, changes),
    policies: { ...before.policies, ...policies },
    action,
  };
}

/** Whether `changes` name when runs begin, so that they replace all of it. */
export function changesTimes({ cron, every, calendars }: Nullable<ScheduleTimes>): boolean {
  return cron !== undefined || every !== undefined || calendars !== undefined;
}

type StoredSpec = NonNullable<StoredSchedule['spec']>;

function changedSpec(before: StoredSpec, changes: Nullable<ScheduleTimes>): StoredSpec {
  const given = Object.fromEntries(
    Object.entries(changes).filter(([, value]) => value !== null && value !== undefined),
  ) as ScheduleTimes;
  const { structuredCalendar, interval, cronString, excludeStructuredCalendar, ...spec } =
    encodeScheduleSpec(specOf(given));
  const isChanged = (name: keyof ScheduleTimes): boolean => changes[name] !== undefined;
  return {
    ...before,
    ...(changesTimes(changes) ? { structuredCalendar, interval, cronString } : undefined),
    ...(isChanged('skip') ? { excludeStructuredCalendar } : undefined),
    ...(isChanged('jitter') ? { jitter: spec.jitter } : undefined),
    ...(isChanged('startAt') ? { startTime: spec.startTime } : undefined),
    ...(isChanged('endAt') ? { endTime: spec.endTime } : undefined),
    ...(isChanged('timeZone')
      ? { timezoneName: spec.timezoneName ?? SCHEDULE_DEFAULTS.timeZone }
      : undefined),
  };
}

/** Creates schedule `id`. */
export async function writeSchedule(
  client: Client,
  id: string,
  schedule: StoredSchedule,
): Promise<void> {
  const { namespace, identity } = client.options;
  const requestId = randomUUID();
  const request = { namespace, identity, requestId, scheduleId: id, schedule };
  await client.workflowService.createSchedule(request);
}

/**
 * Writes `schedule` in place of the one that was described as `before`; false if another writer was
 * faster. The service does not say so: it drops the change, which is seen by its revision.
 */
export async function replaceSchedule(
  client: Client,
  { scheduleId, raw: { conflictToken } }: Pick<ScheduleDescription, 'scheduleId' | 'raw'>,
  schedule: StoredSchedule,
): Promise<boolean> {
  const { namespace, identity } = client.options;
  const requestId = randomUUID();
  const token = conflictToken ?? null;
  const written = { namespace, identity, requestId, scheduleId, schedule, conflictToken: token };
  await client.workflowService.updateSchedule(written);
  const after = await client.workflowService.describeSchedule({ namespace, scheduleId });
  return sameInput(after.schedule?.action, schedule.action);
}

function sameInput(one: StoredSchedule['action'], other: StoredSchedule['action']): boolean {
  const [a, b] = [one, other].map(
    (action) => action?.startWorkflow?.input?.payloads?.[0]?.data ?? new Uint8Array(),
  );
  return a !== undefined && b !== undefined && Buffer.compare(a, b) === 0;
}
