/** Schedules: Temporal's own, so that no process of ours watches a clock. */
import { defined } from '../core/base/defined.ts';
import { errorText } from '../core/base/error-text.ts';
import { isUsageError, UsageError, usageErrorOf } from '../core/base/usage-error.ts';
import { AGENT_WORKFLOW } from '../core/contract/messages.ts';
import { shown } from '../core/text/shown.ts';
import { warnOfId } from '../protection/warn-of-id.ts';
import { tolerant } from './connection/open-connection.ts';
import { coded } from './connection/service-errors.ts';
import { inTurns } from './connection/in-turns.ts';
import {
  checkedNewScheduleId,
  checkedScheduleId,
  checkScheduleOptions,
  timelessProblem,
  unorderedProblem,
} from './schedules/check-schedule.ts';
import { describeSchedule } from './schedules/describe-schedule.ts';
import { scheduling } from './schedules/schedule-errors.ts';
import { scheduleHandle, type ScheduleHandle } from './schedule-handle.ts';
import { scheduleInput } from './schedules/schedule-input.ts';
import type { ScheduleOptions } from './schedules/schedule-options.ts';
import { durationMsOf } from './schedules/schedule-times.ts';
import { summaryOfSchedule, type ScheduleSummary, type UnreadSchedule } from './schedule-view.ts';
import { newSchedule, storedAction, writeSchedule } from './schedules/stored-schedule.ts';
import { idInTenant } from './tenants/tenant-id.ts';
import type { ScheduleParts } from './update-schedule.ts';

/** The schedules of a client. */
export interface Schedules {
  /**
   * Creates a schedule. Whether workers have the agent is seen when a run begins: they may not be
   * there yet. With `tenant`, the id begins with `{tenant}:`, which is put before an id without a `:`.
   *
   * @throws UsageError `schedule_exists`; `schedule_time` for times that cannot be read;
   * `invalid_input` for more than 1 MB, and for placeholders of unknown names; `unknown_option`.
   */
  create(id: string, options: ScheduleOptions): Promise<ScheduleHandle>;
  /**
   * The handle of an existing schedule. Does not call the service.
   *
   * @throws UsageError `invalid_input` for an id that no schedule can have.
   */
  attach(id: string): ScheduleHandle;
  /**
   * Schedules of agents, newest first, at most `limit`, default 100. Lags by about a second. One that
   * cannot be looked at is named with its `problem`, and hides no other.
   */
  list(options?: {
    readonly limit?: number;
  }): Promise<readonly (ScheduleSummary | UnreadSchedule)[]>;
}

/** A run each few seconds is rarely meant. */
const SHORT_MS = 10_000;

/** The schedules of a client whose runs go to its task queue. */
export function createSchedules(parts: ScheduleParts): Schedules {
  const attach = (id: string): ScheduleHandle =>
    coded(scheduleHandle(parts, checkedScheduleId(id)));
  return coded<Schedules>({
    attach,
    create: async (given, options) => {
      const input = checkedInput(options);
      const id = idOf(given, options);
      warnOfId(options.agent, id);
      warnOfShort(id, options);
      const { client, taskQueue, attributesOf } = parts;
      await scheduling(
        id,
        () =>
          attributesOf(input, async (attributes) => {
            const action = await storedAction({ client, id, taskQueue, attributes }, input);
            const { overlap, catchupWindow, pauseOnFailure, paused } = options;
            const policies = defined({ overlap, catchupWindow, pauseOnFailure, paused });
            await writeSchedule(client, id, newSchedule(options, policies, action));
          }),
        options,
      );
      return attach(id);
    },
    list: async ({ limit = 100 } = {}) => {
      if (!Number.isSafeInteger(limit) || limit < 1) {
        const message = `Expected \`limit\` from 1 up, got ${shown(limit)}. Change it.`;
        throw new UsageError('number', message);
      }
      const found = await inTurns(await idsOf(parts, limit), (id) => listed(parts, id));
      return found.filter((one) => one !== null);
    },
  });
}

/** With a tenant, its runs begin with it, because their ids begin with that of the schedule. */
function idOf(id: string, { tenant }: ScheduleOptions): string {
  const whole = tenant === undefined ? id : idInTenant('schedule', tenant, checkedScheduleId(id));
  return checkedNewScheduleId(whole, tenant);
}

function checkedInput(options: ScheduleOptions): ReturnType<typeof scheduleInput> {
  checkScheduleOptions(options);
  const unfit = timelessProblem(options) ?? unorderedProblem(options);
  if (unfit !== undefined) throw usageErrorOf([unfit]);
  return scheduleInput(options, options.timeZone);
}

function warnOfShort(id: string, { every }: ScheduleOptions): void {
  const ms = durationMsOf(every);
  if (ms === undefined || ms >= SHORT_MS) return;
  process.emitWarning(
    `Schedule ${id} starts a run each ${ms} ms, which is less than 10 s. Give it a longer time unless you mean it.`,
    'EverloopWarning',
  );
}

async function idsOf({ client }: ScheduleParts, limit: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { scheduleId, action } of tolerant(client).schedule.list()) {
    if (action?.workflowType !== AGENT_WORKFLOW) continue;
    ids.push(scheduleId);
    if (ids.length === limit) break;
  }
  return ids;
}

/**
 * Null for a schedule that was deleted meanwhile: the list of the service lags behind. Whatever else
 * fails for one schedule, such as a start that nobody can read, is told in its place.
 */
async function listed(
  parts: ScheduleParts,
  id: string,
): Promise<ScheduleSummary | UnreadSchedule | null> {
  try {
    return summaryOfSchedule(await scheduling(id, () => describeSchedule(parts.client, id)));
  } catch (error) {
    if (isUsageError(error)) {
      // Another application's workflow may have the same type.
      if (['schedule_not_found', 'not_an_agent'].includes(error.code)) return null;
      return { id, problem: error.message };
    }
    // What the SDK throws for all errors of the service says nothing but that there was one.
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    return { id, problem: errorText(cause) };
  }
}
