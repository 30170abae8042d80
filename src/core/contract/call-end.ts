import type { JsonObject } from '../base/json.ts';
import type { CallOutcome, ToolResult } from './outcome.ts';

/** How a call ended, whether by a tool, a person or a limit. */
export interface CallEnd {
  readonly result: Omit<ToolResult, 'outcome'> & { readonly outcome: CallOutcome };
  /** Milliseconds since 1970; a result waits until the results before it are recorded. */
  readonly endedAt: number;
  /** When the tool began, if later than the call because a person was asked first. */
  readonly startedAt?: number;
  /** The arguments with which a person replaced the model's. */
  readonly edited?: JsonObject;
  /** A breach kept it from starting, so it has no event. */
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
