/**
 * What an attempt of a tool needs from the place that runs isolated tools. `isolate/` implements
 * it.
 */
import type { IsolatedTool, ToolContext } from '../define/definition/definitions.ts';
import type { KnownGauges } from './reporter.ts';

/** One call of an isolated tool. */
export interface IsolatedCall {
  readonly name: string;
  readonly tool: IsolatedTool;
  readonly args: unknown;
  /** Its functions are called for what the code reports. */
  readonly context: ToolContext;
  /** The gauges that the code may read. */
  readonly known: KnownGauges;
  /** How long the code may go on after `context.signal` was aborted, in ms; then it is killed. */
  readonly graceMs: (reason: unknown) => number;
}

/** A place in which one call runs. */
export interface IsolatedPlace {
  /** Runs the code. Rejects with what it threw, or with a {@link LostIsolateError}. */
  run(call: IsolatedCall): Promise<unknown>;
  /** Gives the place back, once its thread or process has ended. */
  leave(): void;
}

/** The threads and processes of a worker. Made when they are first used. */
export interface Isolation {
  /** Waits for a free place: at most `waitMs`, and until `signal` is aborted. */
  enter(signal: AbortSignal, waitMs: number): Promise<IsolatedPlace | 'busy' | 'stopped'>;
  /** Ends all threads and processes. */
  close(): Promise<void>;
}

/** Where calls run that may have ended their workers: one at a time. */
export interface Apart {
  /** A single place. */
  readonly isolation: Isolation;
  /** URL of the worker's agent file; absent: such calls run here. */
  readonly agentsModule?: string;
}

/** Where a worker runs the code of tools. */
export interface ToolPlaces {
  readonly isolation: Isolation;
  readonly apart: Apart;
}

/** The thread or process of a call ended before the call did. Its message is for the model. */
export class LostIsolateError extends Error {
  override readonly name = 'LostIsolateError';
  /** Whether the code may have begun. */
  readonly started: boolean;

  constructor(message: string, started: boolean) {
    super(message);
    this.started = started;
  }
}
