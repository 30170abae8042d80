/** Forks: the moments that they begin from, and how two runs differ. */
import type { PartialAnswer } from './api.ts';
import type { DiffView } from './view/forks/diff.ts';
import type { EditableEntry } from './view/forks/moments.ts';

/** GET `/runs/:id/moment?iteration`: needs the token that may act, because a worker is asked. */
export interface MomentAnswer extends PartialAnswer {
  /** The fork would begin before it. */
  readonly iteration: number;
  /** Id of the model; null: the agent calls none itself. */
  readonly model: string | null;
  /** The last 200. */
  readonly entries: readonly EditableEntry[];
  readonly moreEntries: number;
  /** Calls from there on that are not `read`: `refund (once) ×1`; empty: none. */
  readonly mayRepeat: string;
}

/** GET `/diff?a&b` */
export interface DiffAnswer extends PartialAnswer {
  readonly diff: DiffView;
}
