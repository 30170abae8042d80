/** What a schedule is and has done, from the description of the service. Needs no worker. */
import type { Client, ScheduleDescription } from '@temporalio/client';
import { isPlainObject } from '../core/base/json.ts';
import { isUsageError } from '../core/base/usage-error.ts';
import type { AgentInput } from '../core/contract/input.ts';
import { pendingQuery } from '../workflows/messages.ts';
import { askOpen } from './reading/ended-run.ts';
import { readSummary, UNREADABLE_AGENT } from './run-list.ts';
import { matchingTimes, overlapOf } from './schedules/describe-schedule.ts';
import type { ScheduleOverlap } from './schedules/schedule-options.ts';
import { wordsOf, type ScheduleWords } from './schedules/schedule-times.ts';

/** A start that a schedule has made. */
export interface ScheduleStart {
  /** When the run was due. */
  readonly time: Date;
  /** When it was started. */
  readonly startedAt: Date;
  /** Id of the run. */
  readonly run: string;
}

/** One schedule in a list. */
export interface ScheduleSummary {
  readonly id: string;
  /** `(encrypted)`: this process lacks the key, and `task` is empty. */
  readonly agent: string;
  readonly task: string;
  /** When runs begin, in the words in which it was written. */
  readonly times: ScheduleWords;
  readonly timeZone: string;
  readonly overlap: ScheduleOverlap;
  readonly catchupWindowMs: number;
  readonly pauseOnFailure: boolean;
  readonly previous: boolean;
  readonly paused: boolean;
  /** Why it is paused, or was resumed; null: nobody said. */
  readonly note: string | null;
  /** The next ten times, in order; of a paused schedule, those that pass without a start. */
  readonly next: readonly Date[];
  /** The last ten starts, oldest first. */
  readonly recent: readonly ScheduleStart[];
  /** Ids of its runs that go on; with `allow-all` the service does not say it. */
  readonly running: readonly string[];
  /** How many runs it has started. */
  readonly started: number;
  /** How many starts were left out because a run went on. */
  readonly skipped: number;
  /** How many starts were late by more than `catchupWindow`. */
  readonly missed: number;
  readonly createdAt: Date;
  readonly updatedAt: Date | null;
}

/** A schedule in a list that could not be looked at, and why. */
export interface UnreadSchedule {
  readonly id: string;
  readonly problem: string;
}

/** A run on account of which starts are skipped. */
export interface HoldingRun {
  readonly run: string;
  /** How many starts were skipped since it began; from 1,000 on, at least so many. */
  readonly skipped: number;
  /** True: it waits for a person. */
  readonly waits: boolean;
  /** Since when it waits, else since when it runs; null if no worker says it. */
  readonly since: Date | null;
}

/** One schedule. */
export interface ScheduleView extends ScheduleSummary {
  /** The run that holds up starts now; null: none. */
  readonly heldBy: HoldingRun | null;
}

/** The start that a schedule keeps; undefined if this process cannot decrypt it. */
export function inputIn({ action }: ScheduleDescription): AgentInput | undefined {
  const [input] = (action.args ?? []) as readonly unknown[];
  return isPlainObject(input) ? (input as unknown as AgentInput) : undefined;
}

/** What the description of a schedule says. */
export function summaryOfSchedule(description: ScheduleDescription): ScheduleSummary {
  const { scheduleId: id, spec, policies, state, info } = description;
  const input = inputIn(description);
  return {
    id,
    agent: textOr(input?.agent, UNREADABLE_AGENT),
    task: textOr(input?.task?.text, ''),
    times: wordsOf(spec),
    timeZone: spec.timezone || 'UTC',
    overlap: overlapOf(policies.overlap),
    catchupWindowMs: policies.catchupWindow,
    pauseOnFailure: policies.pauseOnFailure,
    previous: input?.schedule?.previous === true,
    paused: state.paused,
    note: state.note || null,
    next: info.nextActionTimes,
    recent: info.recentActions.map(({ scheduledAt, takenAt, action }) => ({
      time: scheduledAt,
      startedAt: takenAt,
      run: action.workflow.workflowId,
    })),
    running: info.runningActions.map(({ workflow }) => workflow.workflowId),
    started: info.numActionsTaken,
    skipped: info.numActionsSkippedOverlap,
    missed: info.numActionsMissedCatchupWindow,
    createdAt: info.createdAt,
    updatedAt: info.lastUpdatedAt ?? null,
  };
}

/** Any client may have written the start of a schedule, and one that is none must not hide the others. */
function textOr(value: unknown, other: string): string {
  return typeof value === 'string' ? value : other;
}

/** The run that holds up the starts of a schedule; null if there is none. */
export async function readHoldingRun(
  client: Client,
  { id, overlap, running, recent, skipped: total }: ScheduleSummary,
): Promise<HoldingRun | null> {
  const [run] = running;
  if (run === undefined || overlap !== 'skip' || total === 0) return null;
  const begun = recent.findLast((start) => start.run === run) ?? recent.at(-1);
  if (begun === undefined) return null;
  const from = new Date(begun.time.getTime() + SECOND_MS);
  const due = await matchingTimes(client, id, { from, until: new Date() });
  const skipped = Math.min(due.length, total);
  if (skipped === 0) return null;
  const { state, startedAt } = await readSummary(client, run);
  if (state !== 'waiting') return { run, skipped, waits: false, since: startedAt };
  return { run, skipped, waits: true, since: await waitingSince(client, run) };
}

const SECOND_MS = 1_000;

/** A view of a schedule should not wait for a fleet that is down. */
const ASK_MS = 3_000;

/** Since when run `id` waits for a person; null if no worker says it in time. */
async function waitingSince(client: Client, id: string): Promise<Date | null> {
  try {
    const open = await askOpen(client, id, (handle) => handle.query(pendingQuery), {
      withinMs: ASK_MS,
    });
    const times = (open?.answer ?? []).map(({ since }) => since);
    return times.length === 0 ? null : new Date(Math.min(...times));
  } catch (error) {
    if (isUsageError(error)) return null;
    throw error;
  }
}
