/** A limit is a predicate on statistics: it trips when a value is greater than `max`. */

/** One limit. `exact` watches one key, `prefix` every key that starts with the text. */
export interface Limit {
  readonly kind: 'exact' | 'prefix';
  readonly key: string;
  /** From 0; whole for counters. */
  readonly max: number;
  /** What happens at the limit: the run ends (default), or only that piece of work is refused. */
  readonly onReach?: 'end' | 'refuse';
  /**
   * Of a limit on tokens or cost: what a reply does whose provider reports no usage. Absent: what
   * the specification says.
   */
  readonly onUnknownUsage?: UnknownUsage;
  /** True: the limit on cost that a run has because nobody set or lifted one. */
  readonly byDefault?: true;
}

/**
 * What a reply without usage does to a run with a limit on tokens or cost: it is counted by an
 * estimate, the run is warned once, or the run ends.
 */
export type UnknownUsage = 'estimate' | 'warn' | 'end';

/** Whose limit tripped: the run's own or an ancestor's. */
export type BreachOrigin = 'self' | { readonly runId: string; readonly agent: string };

/** A limit that was crossed, or would have been by the next piece of work. */
export interface Breach {
  readonly limit: Limit;
  /** The key that tripped; differs from `limit.key` for prefix limits. */
  readonly key: string;
  readonly value: number;
  /** Set if work was not started: the value that the key would have reached. */
  readonly attempted?: number;
  /** Set if the limit cannot be kept: the model entry whose reply reported no usage. */
  readonly unreportedBy?: string;
  readonly origin: BreachOrigin;
}
