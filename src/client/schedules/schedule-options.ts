/** What a schedule is made of, and the checks of it that need no service. */
import type { CalendarSpec } from '@temporalio/client';
import type { StartParts } from '../../core/start/start-input.ts';

/** When a schedule starts runs; several times are a union. At least one of the first three is given. */
export interface ScheduleTimes {
  /** Fields of 5 to 7 words, such as `0 6 * * MON-FRI`. */
  readonly cron?: string | readonly string[];
  /** `90s`, `30m`, `6h`, `1d`, or milliseconds; counted from 1970 on. */
  readonly every?: string | number;
  /** Calendars of Temporal. */
  readonly calendars?: readonly CalendarSpec[];
  /** Moves `every`; less than it. */
  readonly offset?: string | number;
  /** Times that are left out. */
  readonly skip?: readonly CalendarSpec[];
  /** Each start is late by a random part of this. */
  readonly jitter?: string | number;
  /** No start before it. A text is an ISO time, a number milliseconds since 1970. */
  readonly startAt?: Date | string | number;
  /** No start after it. */
  readonly endAt?: Date | string | number;
  /** IANA name; default `UTC`. Days on which clocks change are as in Temporal. */
  readonly timeZone?: string;
}

/** What happens when a start is due while a run of the schedule goes on; it also waits for people. */
export type ScheduleOverlap =
  'skip' | 'buffer-one' | 'buffer-all' | 'cancel-other' | 'terminate-other' | 'allow-all';

/** What a schedule does beside starting runs. */
export interface SchedulePolicies {
  /** Default `skip`: nothing is started until the run has ended. */
  readonly overlap?: ScheduleOverlap;
  /** Starts that are late by more, because the service was down, are missed; default 1 h, at least 10 s. */
  readonly catchupWindow?: string | number;
  /** True: pauses when a run fails. A run at a limit, or cancelled, has not failed. Default false. */
  readonly pauseOnFailure?: boolean;
}

/** What each run of a schedule is started with: at most 1 MB, fixed when the schedule is written. */
export interface ScheduledRun extends Pick<
  StartParts,
  | 'tenant'
  | 'context'
  | 'history'
  | 'limits'
  | 'model'
  | 'settings'
  | 'toolChoice'
  | 'onEvent'
  | 'compiled'
> {
  readonly agent: string;
  /**
   * What to do. Its placeholders are filled in for each run: `{{schedule.id}}`, `{{schedule.time}}`,
   * `{{schedule.date}}`, keys of `context`, and with `previous` `{{previous.value}}` and others.
   */
  readonly task?: StartParts['task'];
  /** True: the context key `previous` says how the run before ended. Default false. */
  readonly previous?: boolean;
}

/** Options of a new schedule. */
export interface ScheduleOptions extends ScheduleTimes, SchedulePolicies, ScheduledRun {
  /** True: it starts nothing until it is resumed. Default false. */
  readonly paused?: boolean;
}

/** Options to change: null takes the default again, and what is absent stays; so does the tenant. */
export type ScheduleChanges = {
  readonly [Name in Exclude<keyof ScheduleOptions, 'paused' | 'tenant'>]?:
    ScheduleOptions[Name] | null;
};

/** The overlap policies, as options and the service name them. */
export const OVERLAPS: Readonly<Record<ScheduleOverlap, ServiceOverlap>> = {
  skip: 'SKIP',
  'buffer-one': 'BUFFER_ONE',
  'buffer-all': 'BUFFER_ALL',
  'cancel-other': 'CANCEL_OTHER',
  'terminate-other': 'TERMINATE_OTHER',
  'allow-all': 'ALLOW_ALL',
};

type ServiceOverlap =
  'SKIP' | 'BUFFER_ONE' | 'BUFFER_ALL' | 'CANCEL_OTHER' | 'TERMINATE_OTHER' | 'ALLOW_ALL';

/** What the options of a schedule are, if they are left out. */
export const SCHEDULE_DEFAULTS = {
  timeZone: 'UTC',
  overlap: 'skip',
  catchupMs: 3_600_000,
} as const;
