/**
 * What the modes, people and a hand-over see of programs: what a program is run with, what became of it,
 * and what of programs stays in the state of a run. Plain JSON throughout.
 */
import type { ProgramMemory, ProgramStatus } from '../../lisp.ts';
import type { Json } from '../base/json.ts';

export type {
  EffectStatus,
  FormState,
  FormStatus,
  ProgramMemory,
  ProgramStatus,
} from '../../lisp.ts';

/** How a program ended: a last value, `return`, `fail`, or an error, found before it ran or while it did. */
export type ProgramOutcome = 'value' | 'returned' | 'failed' | 'error';

/** Why a program ended as `error`. */
export interface ProgramError {
  /** A reason of the language, or `memory_limit_exceeded`. */
  readonly reason: string;
  /** `end`: the program ran to its end, but what it leaves cannot be kept. */
  readonly phase: 'read' | 'check' | 'run' | 'end';
  /** As a model reads it, with place and excerpt. */
  readonly message: string;
  readonly details?: Json;
}

/** What became of one program. */
export interface ProgramReport {
  /** `{iteration}.p`; the calls of its effects are `{iteration}.p{effect id}`. */
  readonly programId: string;
  readonly outcome: ProgramOutcome;
  /** Of `value`, `returned` and `failed`, with `_` for `-` in keys; absent when it has no JSON form. */
  readonly value?: Json;
  /** Why it has no JSON form: where in the value, and what stands there. */
  readonly notJson?: { readonly path: string; readonly message: string };
  /** The value as the language prints it, at most `resultChars`; `` when `isEmpty`. */
  readonly preview: string;
  /** Whether the value is nil or the mark of a definition, so that there is nothing to show. */
  readonly isEmpty: boolean;
  /** Set exactly when `outcome` is `error`. */
  readonly error?: ProgramError;
  /** What it printed, in the order of its text. */
  readonly notes: readonly string[];
  /** Found by the checks, with place and excerpt. */
  readonly warnings: readonly string[];
  /** Names that are new or have another value than before; in order of name. */
  readonly changed: readonly { readonly name: string; readonly preview: string }[];
  /** All names that are defined after it; in order. */
  readonly stored: readonly string[];
  /** Of a program that did not end well: its calls that succeeded, by tool, in order of first call. */
  readonly done: readonly { readonly tool: string; readonly count: number }[];
  /** Steps of the plan that are done, by id, with their summaries. */
  readonly plan: { readonly [id: string]: string };
  /** Texts of hidden fields that children gave to programs of the run, which no model may see. */
  readonly hidden: readonly string[];
  readonly fuel: number;
  /** Calls of tools and questions that it made. */
  readonly calls: number;
}

/** A program as people see it, while it runs and after. */
export interface ProgramView {
  readonly programId: string;
  /** Cut to 64 KB once the program has ended. */
  readonly source: string;
  /** Since when it runs, or ran, in milliseconds since 1970. */
  readonly since: number;
  /** Absent when it was refused before it was started. */
  readonly status?: ProgramStatus;
  /** Absent while it runs. */
  readonly outcome?: ProgramOutcome | 'canceled';
  readonly error?: { readonly reason: string; readonly message: string };
}

/** What of programs stays with a run. Changed by `agent:program:after` alone, through `apply`. */
export interface ProgramState {
  readonly memory: ProgramMemory;
  /** Of the last program. */
  readonly notes: readonly string[];
  /** Of the last program, when it failed: `data/fail` of the next. */
  readonly failure?: { readonly reason: string; readonly message: string };
  /** Texts of hidden fields that children gave, newest last; absent: none. */
  readonly hidden?: readonly string[];
  /** The last program, for people; absent while none has ended. */
  readonly last?: ProgramView;
}
