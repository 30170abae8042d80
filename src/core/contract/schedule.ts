/** What a run knows of the schedule that started it. */
import type { Json } from '../base/json.ts';
import type { StepStatus } from './step.ts';

/** What a schedule writes into the starts of its runs. */
export interface ScheduleMark {
  /** IANA name; the date that the agent reads is that of this zone. */
  readonly timeZone: string;
  /** True: the run learns how the one before it ended. */
  readonly previous?: true;
  /** New with each change of the schedule, so that its writer sees whether the change was kept. */
  readonly revision: string;
}

/** How the run before ended, as the agent reads it. */
export interface PreviousRun {
  readonly status: StepStatus;
  /** Its answer; null unless `status` is `success`. */
  readonly value: Json;
  readonly reason: string;
  /** ISO time; null if the run did not say it. */
  readonly endedAt: string | null;
}

/** What the service says of a scheduled run. */
export interface ScheduledStart {
  /** The id of the schedule. */
  readonly id: string;
  /** When the run was due, in ISO form and UTC; not when it began. */
  readonly time: string;
  readonly timeZone: string;
  /** Null: no run before it has ended. Absent: the schedule does not ask for it. */
  readonly previous?: PreviousRun | null;
}

/** The schedule of a run, as its Step names it. */
export interface StepSchedule extends Pick<ScheduledStart, 'id' | 'time'> {
  /** When the run ended, in ISO form and UTC. */
  readonly endedAt: string;
}
