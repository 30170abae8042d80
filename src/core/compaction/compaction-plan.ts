/** The input and the result of a strategy, in a file that the file of each strategy can import. */
import type { Entry } from '../contract/entry.ts';
import type { MessageRange } from '../contract/compaction.ts';

/** The input of a strategy. */
export interface PlanInput {
  readonly entries: readonly Entry[];
  /** The epoch that begins if something changes; numbers the new entries. */
  readonly nextEpoch: number;
  readonly iteration: number;
  /** Names of the agent's tools: sections of an observation have the same names. */
  readonly tools: readonly string[];
}

/** What a strategy would do. */
export type CompactionPlan =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'replace'; readonly entries: readonly Entry[] }
  /** A model is asked first; `conclude` gives the scratchpad with its summary. */
  | {
      readonly kind: 'ask';
      /** Ids of model entries; empty: those of the agent. */
      readonly models: readonly string[];
      readonly earlier: readonly MessageRange[];
      readonly activity: readonly MessageRange[];
      readonly conclude: (summary: string) => readonly Entry[];
    };
