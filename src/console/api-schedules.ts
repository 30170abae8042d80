/** Schedules: what the server of the console says of them. Times are milliseconds since 1970. */
import type { PartialAnswer } from './api.ts';
import type { UnreadSchedule } from '../client/schedule-view.ts';
import type { HeldBy, ScheduleRow } from './view/schedules.ts';

/** GET `/schedules`: newest first, at most 100. */
export interface SchedulesAnswer extends PartialAnswer {
  readonly schedules: readonly ScheduleRow[];
  /** Those that could not be looked at, and why. */
  readonly unread: readonly UnreadSchedule[];
  /** Whether there are more than these. */
  readonly hasMore: boolean;
}

/** GET `/schedules/:id` */
export interface ScheduleAnswer extends PartialAnswer {
  readonly schedule: ScheduleRow;
  /** Null: none, or it could not be read. */
  readonly heldBy: HeldBy | null;
}
