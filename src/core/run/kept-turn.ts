/**
 * A turn that waits for people alone and is handed over in its middle: what the next link needs to go
 * on exactly there. Made when a run hands over, read once, plain JSON.
 */
import type { FormattedSection } from '../base/message.ts';
import type { Reply } from '../contract/model.ts';
import type { CallEnd } from '../contract/outcome.ts';
import type { CallResult } from '../modes/observation.ts';
import type { KeptProgram } from './kept-program.ts';
import type { SettledSections } from '../modes/section-values.ts';

/** The calls of a turn, in request order: first those that are recorded, then those that began. */
export interface KeptCalls {
  readonly results: readonly CallResult[];
  /** What each has come to; null for one that waits: its item stands in the state. */
  readonly begun: readonly (CallEnd | null)[];
}

/** A turn in its middle. */
export interface KeptTurn {
  /** Absent where no model was asked: a turn of a pipeline, or of a loop that first asks a person. */
  readonly reply?: Reply;
  /** When its iteration began. */
  readonly startedAt: number;
  readonly calls: KeptCalls;
  /** The program of a turn that has one instead of calls. */
  readonly program?: KeptProgram;
  /** Of an answer that was judged before the calls beside it: they are not judged again. */
  readonly judged?: {
    readonly feedback: readonly FormattedSection[];
    readonly sections: SettledSections;
  };
}
