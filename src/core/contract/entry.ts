/** The unit of a transcript: the messages of one iteration, of one input or of one summary. */
import type { JsonObject } from '../base/json.ts';
import type { Message } from '../base/message.ts';

/**
 * Where an entry comes from. `original`: an iteration · `input`: sent to the live run ·
 * `compacted_synthetic`: a summary · `compacted_modified`: masked · `retrieved_history`: put back
 * by a user's strategy.
 */
export type EntryOrigin =
  'original' | 'input' | 'compacted_synthetic' | 'compacted_modified' | 'retrieved_history';

/** One element of history and scratchpad. Has at least one message. */
export interface Entry {
  /** Position in the history of the whole chain, from 0; negative for a summary. */
  readonly index: number;
  readonly iteration: number;
  readonly origin: EntryOrigin;
  readonly messages: readonly Message[];
  readonly metadata?: JsonObject;
}

/** Key in the metadata of an entry: how much it matters, -10 to 10; at 10 it is pinned. */
export const IMPORTANCE_KEY = 'agent:importance_score';

/** An entry of this importance or more is pinned: no compaction changes or drops it. */
const PINNED_IMPORTANCE = 10;

/** How much an entry matters, -10 to 10; undefined if it is not set to a number. */
export function importanceOf(entry: Entry): number | undefined {
  const score = entry.metadata?.[IMPORTANCE_KEY];
  return typeof score === 'number' && Number.isFinite(score) ? score : undefined;
}

/** Whether no compaction may change or drop the entry. */
export function isPinned(entry: Entry): boolean {
  return (importanceOf(entry) ?? -Infinity) >= PINNED_IMPORTANCE;
}
