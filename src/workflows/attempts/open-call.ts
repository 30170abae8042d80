/** A call that a flight schedules, and what it may do until it has ended. */
import type { CancellationScope } from '@temporalio/workflow';

/** A call to schedule. */
export interface FlightCall<Result, Outcome> {
  /** For people: `model gpt-5`, `tool search`. */
  readonly label: string;
  /** Set when the call can be aborted alone, under this id. */
  readonly abortId?: string | undefined;
  readonly schedule: () => Promise<Result>;
  readonly onResult: (result: Result) => Outcome;
  readonly onFailure: (error: unknown, open: OpenCall) => Outcome | Promise<Outcome>;
}

/** A call that goes on after the failure of its activity. */
export interface OpenCall {
  /** The scope in which the call began: an abort cancels it. */
  readonly scope: CancellationScope;
  /** Shows other words for the call; null: its own again. */
  readonly relabel: (label: string | null) => void;
}

/** Schedules a call, and settles with its outcome however it ended. */
export type RunCall = <Result, Outcome>(call: FlightCall<Result, Outcome>) => Promise<Outcome>;
