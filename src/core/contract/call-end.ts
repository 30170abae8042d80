import type { JsonObject } from '../base/json.ts';
import type { CallOutcome, ToolResult } from './outcome.ts';

/** What a call came to, whoever ended it: a tool, a person, a limit. */
export interface CallEnd {
  readonly result: Omit<ToolResult, 'outcome'> & { readonly outcome: CallOutcome };
  /** Milliseconds since 1970; results wait until those before them are recorded. */
  readonly endedAt: number;
  /** When the tool began, if that is later than the call: a person was asked first. */
  readonly startedAt?: number;
  /** The arguments that a person put in place of the model's. */
  readonly edited?: JsonObject;
  /** A breach kept it from starting: it leaves no event. */
  readonly isLeftOut?: true;
}

/** The end of a call that did not start. */
export function unstarted(
  outcome: CallEnd['result']['outcome'],
  error: string,
  endedAt: number,
): CallEnd {
  return { result: { outcome, error, attempts: 0, started: false }, endedAt };
}
