/**
 * Forks: runs that begin from the middle of another. A fork is started with a reference to a moment
 * of its source, never with a state: a worker gets the state from the source's own history.
 */

/**
 * A moment of a run: before iteration `iteration` began; the last boundary of iterations at or before
 * event `event`; the first boundary; or the newest.
 */
export type RunMoment =
  'start' | 'latest' | { readonly iteration: number } | { readonly event: number };

/** What the calls of a fork do. */
export const FORK_EFFECTS = ['run', 'approve', 'reuse', 'replay-only'] as const;

/**
 * What the calls of a fork do. `run`: they run · `approve`: each call of a tool that is not `read`
 * waits for a person · `reuse`: a call that the source made after the moment gets its recorded
 * result, others run · `replay-only`: the same, but of the others only those of `read` tools run.
 */
export type ForkEffects = (typeof FORK_EFFECTS)[number];

/** A change of the scratchpad; entries have the numbers that `everloop show --transcript` prints. */
export type ForkEdit =
  /** Replaces the text of the last message of an entry; its role stays. */
  | { readonly entry: number; readonly text: string }
  /** Removes an entry; a call only together with its results. */
  | { readonly drop: number }
  /** An input that the fork reads first. */
  | { readonly append: string };

/** How a fork differs from its source. */
export interface ForkOptions {
  readonly edits?: readonly ForkEdit[];
  /**
   * `recorded` (default): the specification that the source ran with. `current`: that of the worker's
   * agent of today; the modes must be equal.
   */
  readonly definition?: 'recorded' | 'current';
  /** Replaces the text of the instructions. Default: those of the specification. */
  readonly instructions?: string;
  /** Required if the source made calls after the moment that are not `read`. */
  readonly effects?: ForkEffects;
  /**
   * `fresh` (default): counters begin at 0, and limits count what the fork uses. `keep`: they go on
   * from those of the source.
   */
  readonly stats?: 'fresh' | 'keep';
}

/** The part of a start that makes it a fork, version 1. */
export interface ForkInput extends ForkOptions {
  /** The source: its workflow id, and the run id of any of its links; default: its newest chain. */
  readonly source: { readonly workflowId: string; readonly executionId?: string };
  readonly at: RunMoment;
}

/** Where a fork comes from. */
export interface ForkOrigin {
  /** The source. */
  readonly workflowId: string;
  readonly runId: string;
  /** The run id of the link with the moment. */
  readonly executionId: string;
  /** The fork began before this iteration. */
  readonly iteration: number;
}

/** A call that the source made after the moment, as it is listed. */
export interface CallAfter {
  readonly callId: string;
  readonly tool: string;
  /** The effect of the tool; `agent`: it is another agent. */
  readonly effect: 'read' | 'idempotent' | 'once' | 'agent';
}
