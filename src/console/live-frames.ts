/** What the live feed of the console takes and sends, as plain JSON. */
import type { Entry } from '../core/contract/entry.ts';
import type { AgentEvent } from '../core/contract/events.ts';
import type { BudgetLine, RunStatus } from '../core/contract/messages.ts';
import type { TreeRun } from '../client/tree-run.ts';
import type { ApiError, InboxRow, RunHeader, RunRow, StepHead } from './api.ts';

/** What a tab wants to hear of. GET `/live` sends nothing else; PUT `/live/:connection` changes it. */
export interface LiveWants {
  /** Id of the open run. */
  readonly run?: string;
  /** Events after this number; default: from now on. */
  readonly after?: number;
  /** The runs below it, as frames `tree`. */
  readonly tree?: boolean;
  /** The list of runs. */
  readonly list?: boolean;
  readonly inbox?: boolean;
}

/** Provisional text of the reply that is being written, so far. */
export interface OpenText {
  readonly iteration: number;
  readonly attempt: number;
  readonly text: string;
  readonly reasoning: string;
  /** Some of it is missing. */
  readonly hasGap: boolean;
  /** Set: nobody read when it began, so it comes whole at its end. */
  readonly comesWhole?: true;
}

/**
 * The frames of GET `/live`, as server-sent events: `event` is the kind, `data` the rest as JSON.
 * `run` is always the id of the run that it concerns.
 */
export type LiveFrame =
  /** First, once: the name of this connection, for PUT. */
  | { readonly kind: 'hello'; readonly connection: string }
  /** The state of the wanted run; again when it answers after a silence, and when `feed` changes. */
  | {
      readonly kind: 'snapshot';
      readonly run: string;
      readonly header: RunHeader;
      readonly open: OpenText | null;
      /** Whether workers push its events, or the console asks for them. */
      readonly feed: 'pushed' | 'polled';
    }
  /** In the order of `seq`, each once, without a gap; but see `rewound`. */
  | { readonly kind: 'event'; readonly run: string; readonly event: AgentEvent }
  /**
   * Of the events of the run, those up to number `last` hold; others follow, under the same numbers.
   * Its worker died before the service had them, and the run went another way.
   */
  | { readonly kind: 'rewound'; readonly run: string; readonly last: number }
  /**
   * What models wrote and people sent, as the transcript has it now, or will have it when the open
   * iteration ends: without calls and results. A tab that misses some reads them from the API.
   */
  | { readonly kind: 'entries'; readonly run: string; readonly entries: readonly Entry[] }
  /** The status or the use of the limits changed. A run that is `silent` stays so until a snapshot. */
  | {
      readonly kind: 'status';
      readonly run: string;
      readonly state: RunHeader['state'];
      readonly status: Omit<RunStatus, 'step'>;
      readonly budgets: readonly BudgetLine[];
    }
  /**
   * Provisional. `restart`: discard the text of this iteration · `gap`: some is missing here ·
   * `end`: the reply is whole, and its record follows.
   */
  | {
      readonly kind: 'text';
      readonly run: string;
      readonly iteration: number;
      readonly attempt: number;
      readonly change: 'text' | 'reasoning' | 'restart' | 'gap' | 'not_streamed' | 'end';
      /** Empty unless `change` is `text` or `reasoning`. */
      readonly delta: string;
    }
  /** The runs of its tree, each before its children; again when one has changed. */
  | { readonly kind: 'tree'; readonly run: string; readonly runs: readonly TreeRun[] }
  /** Something began to wait: in the wanted run or below, or for the inbox. */
  | ({ readonly kind: 'pending' } & InboxRow)
  /** An item waits no more. */
  | { readonly kind: 'settled'; readonly run: string; readonly id: string }
  /** A line of the list that is new or changed. */
  | { readonly kind: 'row'; readonly row: RunRow }
  /** The run has ended. `step` is null if it ended without one. */
  | { readonly kind: 'step'; readonly run: string; readonly step: StepHead | null }
  /** No worker answers for the run since then. The next `snapshot` means that one does again. */
  | {
      readonly kind: 'silent';
      readonly run: string;
      readonly since: number;
      readonly message: string;
    }
  /** What the tab wants cannot be followed, such as a run that the service has forgotten. */
  | { readonly kind: 'failed'; readonly run: string | null; readonly error: ApiError }
  /** Every 5 s. */
  | { readonly kind: 'ping'; readonly at: number };
