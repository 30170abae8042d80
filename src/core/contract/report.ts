/** Programs as modes, people and a hand-over see them: reports, views, and the kept state. */
import type { ProgramMemory, ProgramStatus } from '../../lisp.ts';
import type { Json } from '../base/json.ts';

export type {
  EffectStatus,
  FormState,
  FormStatus,
  ProgramMemory,
  ProgramStatus,
} from '../../lisp.ts';

/** How a program ended: a last value, `return`, `fail`, or an error before or during its run. */
export type ProgramOutcome = 'value' | 'returned' | 'failed' | 'error';

/** Why a program ended as `error`. */
export interface ProgramError {
  /** A reason of the language, or `memory_limit_exceeded`. */
  readonly reason: string;
  /** `end`: the program completed, but its result cannot be kept. */
  readonly phase: 'read' | 'check' | 'run' | 'end';
  /** The text for a model, with place and excerpt. */
  readonly message: string;
  readonly details?: Json;
}

/** The result of one program. */
export interface ProgramReport {
  /** `{iteration}.p`; the calls of its effects are `{iteration}.p{effect id}`. */
  readonly programId: string;
  readonly outcome: ProgramOutcome;
  /** The value, with `_` for `-` in its keys; absent for an `error` and if it has no JSON form. */
  readonly value?: Json;
  /** Why it has no JSON form: the path and the value there. */
  readonly notJson?: { readonly path: string; readonly message: string };
  /** The value as the language prints it, at most `resultChars`; `` when `isEmpty`. */
  readonly preview: string;
  /** Whether the value is nil or the mark of a definition, so there is nothing to show. */
  readonly isEmpty: boolean;
  /** Set exactly when `outcome` is `error`. */
  readonly error?: ProgramError;
  /** What it printed, in the order of the program's text. */
  readonly notes: readonly string[];
  /** Warnings of the checks, with place and excerpt. */
  readonly warnings: readonly string[];
  /** Names that are new or whose value changed; ordered by name. */
  readonly changed: readonly { readonly name: string; readonly preview: string }[];
  /** All names that are defined after it; in order. */
  readonly stored: readonly string[];
  /** If the program failed: its successful calls, by tool, in order of first call. */
  readonly done: readonly { readonly tool: string; readonly count: number }[];
  /** Steps of the plan that are done, by id, with their summaries. */
  readonly plan: { readonly [id: string]: string };
  /** Texts of hidden fields that children passed to the run's programs; no model may see them. */
  readonly hidden: readonly string[];
  readonly fuel: number;
  /** Calls of tools and questions that it made. */
  readonly calls: number;
}

/** A program as people see it, while it runs and after. */
export interface ProgramView {
  readonly programId: string;
  readonly source: string;
  /** True: the run no longer has the rest of `source`. */
  readonly isCut?: true;
  /** When it began, in milliseconds since 1970. */
  readonly since: number;
  /**
   * Absent if it did not begin. Of a program that is read from events it has no `effects`; it is absent
   * if `source` is cut.
   */
  readonly status?: ProgramStatus;
  /** Absent while it runs. */
  readonly outcome?: ProgramOutcome | 'canceled';
  readonly error?: { readonly reason: string; readonly message: string };
}

/** How far a program came, for people. */
export interface ProgramProgress {
  /** How many of its top-level forms have finished. */
  readonly finished: number;
  /** The values of these forms in order, the first that fit into 2 KB. */
  readonly previews: readonly string[];
  readonly fuelLimit: number;
  /** Number of its notes, and of its effects that are done and that failed. */
  readonly notes: number;
  readonly done: number;
  readonly failed: number;
}

/**
 * The part of a run's state about programs. Only `agent:program:after` changes it, through `apply`.
 */
export interface ProgramState {
  readonly memory: ProgramMemory;
  /** What the last program printed. */
  readonly notes: readonly string[];
  /** Set if the last program failed; the next program reads it as `data/fail`. */
  readonly failure?: { readonly reason: string; readonly message: string };
  /** Texts of hidden fields from children, newest last; absent: none. */
  readonly hidden?: readonly string[];
  /** The last program, for people; absent while none has ended. */
  readonly last?: ProgramView;
}
