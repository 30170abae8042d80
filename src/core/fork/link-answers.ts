/** All that one link of a run answers, at one moment: what a reader gets that replays its history. */
import type { Json } from '../base/json.ts';
import type {
  LinkPage,
  PendingItem,
  RunOverview,
  RunStatus,
  TreeAnswer,
} from '../contract/messages.ts';
import type { ProgramView } from '../contract/report.ts';
import type { Stats } from '../contract/stats.ts';
import type { CurrentIteration } from '../run/view.ts';

/** Items of a list of the run; `first` is the index in the chain of the first of them. */
export interface LinkItems {
  readonly first: number;
  readonly items: readonly Json[];
}

/** What a link answers, by the names of its queries. */
export interface LinkAnswers {
  readonly status: RunStatus;
  readonly stats: Stats;
  readonly pending: readonly PendingItem[];
  readonly tree: TreeAnswer | null;
  readonly view: RunOverview | null;
  readonly program: ProgramView | null;
  readonly iteration: CurrentIteration | null;
  readonly events: LinkItems;
  readonly entries: LinkItems;
  /** The head and the messages that the next model call sees; empty before the agent is loaded. */
  readonly scratchpad: readonly Json[];
  /** See `LinkPage`. */
  readonly previous: string | null;
  readonly forkedFrom?: LinkPage['forkedFrom'];
  /**
   * The mark of the workflows that ran it; null: Everloop's; absent: the agent was not loaded yet. See
   * `ActivityRuntime`.
   */
  readonly workflows?: string | null;
}
