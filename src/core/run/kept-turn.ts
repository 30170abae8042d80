/**
 * A turn that waits only for people and is handed over before its end: what the next link needs to
 * continue at the same place. Made when a run hands over, read once, plain JSON.
 */
import type { FormattedSection } from '../base/message.ts';
import type { Reply } from '../contract/model.ts';
import type { CallEnd } from '../contract/outcome.ts';
import type { CallResult } from '../modes/observation.ts';
import type { KeptProgram } from './kept-program.ts';
import type { SettledSections } from '../modes/section-values.ts';

/** The calls of a turn, in request order: first those with a result, then those that began. */
export interface KeptCalls {
  readonly results: readonly CallResult[];
  /** The end of each; null for one that waits, whose item is in the state. */
  readonly begun: readonly (CallEnd | null)[];
}

/** A turn that has not ended. */
export interface KeptTurn {
  /** Absent if no model was asked: in a pipeline, or in a loop that first asks a person. */
  readonly reply?: Reply;
  /** When its iteration began. */
  readonly startedAt: number;
  readonly calls: KeptCalls;
  /** The program of a turn that has one instead of calls. */
  readonly program?: KeptProgram;
  /** Set when an answer was judged before the calls beside it, so that it is not judged again. */
  readonly judged?: {
    readonly feedback: readonly FormattedSection[];
    readonly sections: SettledSections;
  };
}
