/**
 * Reads beside a reply: calls of a model that its activity runs while the model still writes. The
 * order says which may run; what ran comes back with the outcome.
 */
import type { JsonObject } from '../base/json.ts';
import type { ToolOrder, ToolResult } from './outcome.ts';

/** What the reads beside one reply may use together. */
export const READ_BOUNDS = {
  calls: 8,
  /** The time in which at least one of them is open. */
  ms: 2_000,
  /** JSON of their results. */
  bytes: 131_072,
} as const;

/** The reads that may run beside a reply, within the limits of the run. */
export interface ReadsOrder extends Pick<ToolOrder, 'conversation' | 'gauges' | 'isWithoutGauges'> {
  /** How many calls in all. */
  readonly calls: number;
  /** How many calls of each tool. */
  readonly tools: { readonly [name: string]: number };
}

/** A read that began beside a reply. */
export interface BesideRead {
  /** Its place among the calls of the reply, from 1. */
  readonly index: number;
  readonly tool: string;
  readonly args: JsonObject;
  /** If `again` is set, how the call counts if its reply is thrown away. */
  readonly result: ToolResult;
  readonly durationMs: number;
  /**
   * Absent: the call has ended. `stopped`: the bounds ended it, which is no attempt. `failed`: the tool
   * threw and has attempts left.
   */
  readonly again?: 'stopped' | 'failed';
}
