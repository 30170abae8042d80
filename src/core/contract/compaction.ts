/**
 * Compaction as plain data: when and how the scratchpad is made shorter. Part of the specification.
 * `trigger.ts` and `plan.ts` define the meaning of each kind.
 */
import type { Numbers } from './stats.ts';

/** When a compaction is due; any trigger that fires is enough. */
export type TriggerSpec =
  /** A counter has risen by `step` (1 or more) since the last compaction. */
  | { readonly kind: 'counter'; readonly key: string; readonly step: number }
  /** One of the counters whose keys start with `prefix` has risen by `step`. */
  | { readonly kind: 'counter_prefix'; readonly prefix: string; readonly step: number }
  /** A gauge is at `at` or above. */
  | { readonly kind: 'gauge'; readonly key: string; readonly at: number }
  /** One of the gauges whose keys start with `prefix` is at `at` or above. */
  | { readonly kind: 'gauge_prefix'; readonly prefix: string; readonly at: number }
  /** The next request is estimated at `share` of the model's context window or above. */
  | { readonly kind: 'context'; readonly share: number };

/** How the scratchpad is made shorter; strategies are tried in order. */
export type StrategySpec =
  /** Keeps the last `keep` entries, and all pinned ones. */
  | { readonly kind: 'sliding_window'; readonly keep: number }
  /** Replaces call results of at least `minBytes`, except in the last `keepRecent` entries. */
  | {
      readonly kind: 'mask';
      readonly keepRecent: number;
      readonly minBytes: number;
      /** Names of the tools whose results may be replaced; null: all. */
      readonly tools: readonly string[] | null;
    }
  /** A model summarises all but the last `keepRecent` entries. */
  | {
      readonly kind: 'summarize';
      readonly keepRecent: number;
      /** Ids of model entries in the order in which they are tried; empty: those of the agent. */
      readonly models: readonly string[];
      /** The user message, with `{summary}` and `{activity}` to fill in; null: the default. */
      readonly prompt: string | null;
      /** The system message; null: the default, or none if the author set `prompt`. */
      readonly system: string | null;
    };

/** When and how an agent's scratchpad is compacted. At least one trigger and one strategy. */
export interface CompactionSpec {
  readonly triggers: readonly TriggerSpec[];
  readonly strategies: readonly StrategySpec[];
}

/** The size of the conversation when the model last replied. */
export interface ReplyMark {
  readonly epoch: number;
  /** Messages of the epoch that the model had read. */
  readonly messages: number;
  /** Input and output tokens of the call. */
  readonly tokens: number;
  /** Its output tokens. */
  readonly output?: number;
}

/** What a run keeps for its triggers. */
export interface CompactionState {
  /** Values of watched counters at the last compaction; a missing one is 0. */
  readonly snapshots: Numbers;
  /** Null before the first reply whose usage is known. */
  readonly lastReply: ReplyMark | null;
}

/** The state of a new run. */
export const EMPTY_COMPACTION: CompactionState = { snapshots: {}, lastReply: null };

/** Indexes of messages in the scratchpad: `from` is included, `until` is not. */
export type MessageRange = readonly [from: number, until: number];

/** What a model is to summarise, by reference: the worker finds the texts in the transcript. */
export interface SummaryOrder {
  /** Index of the strategy in the specification, which has the prompts. */
  readonly strategy: number;
  /** Messages of earlier summaries. */
  readonly earlier: readonly MessageRange[];
  /** Messages to summarise. */
  readonly activity: readonly MessageRange[];
}
