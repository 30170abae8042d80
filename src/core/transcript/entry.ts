/** The unit of a transcript: the messages of one iteration, of one input or of one summary. */
import type { JsonObject } from '../json.ts';
import type { Message } from '../message.ts';

/**
 * Where an entry comes from. `original`: an iteration · `input`: sent to the live run ·
 * `compacted_synthetic`: a summary · `compacted_modified`: masked · `retrieved_history`: put back
 * by a strategy of a user.
 */
export type EntryOrigin =
  'original' | 'input' | 'compacted_synthetic' | 'compacted_modified' | 'retrieved_history';

/** One element of history and scratchpad. Has at least one message. */
export interface Entry {
  /** Position in the history of the whole chain, from 0. */
  readonly index: number;
  readonly iteration: number;
  readonly origin: EntryOrigin;
  readonly messages: readonly Message[];
  readonly metadata?: JsonObject;
}

/** Key in the metadata of an entry: how much it matters, -10 to 10; from 10 on it is pinned. */
export const IMPORTANCE_KEY = 'agent:importance_score';
