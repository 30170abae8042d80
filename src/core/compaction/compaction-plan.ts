/** What strategies look at and what they answer; a leaf, so that each can be a file of its own. */
import type { Entry } from '../contract/entry.ts';
import type { MessageRange } from '../contract/compaction.ts';

/** What strategies look at. */
export interface PlanInput {
  readonly entries: readonly Entry[];
  /** The epoch that begins when something changes; numbers the entries that are made up. */
  readonly nextEpoch: number;
  readonly iteration: number;
  /** Names of the agent's tools: sections of an observation are called like them. */
  readonly tools: readonly string[];
}

/** What a strategy would do. */
export type CompactionPlan =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'replace'; readonly entries: readonly Entry[] }
  /** A model is to be asked first; `conclude` gives the scratchpad with its summary. */
  | {
      readonly kind: 'ask';
      /** Ids of model entries; empty: those of the agent. */
      readonly models: readonly string[];
      readonly earlier: readonly MessageRange[];
      readonly activity: readonly MessageRange[];
      readonly conclude: (summary: string) => readonly Entry[];
    };
