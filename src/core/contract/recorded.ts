/**
 * What activities return to workflows: their result, and what the workflow may decide by. A workflow
 * task can be split or joined on replay, so the clock and the flags of the service that the first
 * execution saw are not those that a replay sees. A result is the same in both.
 */
import { isPlainObject } from '../base/json.ts';

/** A flag of the service, or a size near its limits. */
export type LinkFact =
  /** The service suggests to continue as new. */
  | 'suggested'
  /** The workers of new runs have another version than this execution is pinned to. */
  | 'upgrade'
  /** The history is so long that there is only room left to end the run. */
  | 'full';

/** The result of an activity as history has it. */
export interface RecordedResult {
  /** When the activity ended, in milliseconds since 1970, by the clock of its worker. */
  readonly recordedAt: number;
  /** Absent: it returned nothing. */
  readonly value?: unknown;
  /** What held as the activity was ordered. Absent: nothing. */
  readonly facts?: readonly LinkFact[];
}

/** In the last detail of a failure of an activity: as in {@link RecordedResult}. */
export type RecordedFailure = Omit<RecordedResult, 'value'>;

/** The header in which a workflow names facts, which the activity echoes. */
export const FACTS_HEADER = 'everloop-facts';

/** The activity that only returns: it brings the time and the facts. */
export const CLOCK_ACTIVITY = 'readClock';

/** `payload` as what an activity of Everloop has returned or failed with; null: it is something else. */
export function readRecorded(payload: unknown): RecordedResult | null {
  if (!isPlainObject(payload) || typeof payload['recordedAt'] !== 'number') return null;
  return payload as unknown as RecordedResult;
}
