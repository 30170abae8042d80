/**
 * What activities return to workflows: their result, and what the workflow may decide by. A workflow
 * task can be split or joined on replay, so the clock and the flags of the service that the first
 * execution saw are not those that a replay sees. A result is the same in both.
 */
import { isPlainObject } from './json.ts';

/** A flag of the service, or a size near its limits. */
export type LinkFact =
  /** The service suggests to continue as new. */
  | 'suggested'
  /** The workers of new runs have another version than this execution is pinned to. */
  | 'upgrade'
  /** The history is so long that there is only room left to end the run. */
  | 'full';

/**
 * How an activity ended, as history has it: its result is this, and the last detail of its failure.
 */
export interface RecordedEnd {
  /** When the activity ended, in milliseconds since 1970, by the clock of its worker. */
  readonly recordedAt: number;
  /** The result. Absent: it returned nothing, or failed. */
  readonly value?: unknown;
  /** What held as the activity was ordered. Absent: nothing. */
  readonly facts?: readonly LinkFact[];
}

/** The header in which a workflow names facts, which the activity echoes. */
export const FACTS_HEADER = 'everloop-facts';

/** `payload` as what an activity of Everloop has returned or failed with; null: it is something else. */
export function readRecorded(payload: unknown): RecordedEnd | null {
  if (!isPlainObject(payload) || typeof payload['recordedAt'] !== 'number') return null;
  return payload as unknown as RecordedEnd;
}
