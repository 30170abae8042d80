/**
 * The contract of a toolchain: how a model learns to write calls, how they are read, and how values
 * are written for it. Toolchains have no state. Tools are data; the host runs them.
 */
import type { ToolSpec } from '../contract/spec.ts';
import type { Json, JsonObject } from '../base/json.ts';
import type { ToolCall } from '../base/message.ts';
import type { ReplyProblem } from '../base/problem.ts';

/** What a reader needs besides the text. */
export interface CallContext {
  /** Call ids are `{iteration}.{index}`, from 1 over the batch. */
  readonly iteration: number;
  readonly tools: readonly ToolSpec[];
  readonly maxCallsPerTurn: number;
  /** The indexes of ids begin after so many. Default 0. */
  readonly callsBefore?: number;
  /** The reply was cut off, so arguments that are missing were lost. Default: it is whole. */
  readonly isCut?: boolean;
}

/** The calls of a reply: none, all, or all problems. One malformed call rejects the batch. */
export type CallsReading =
  | { readonly kind: 'none' }
  | { readonly kind: 'calls'; readonly calls: readonly ToolCall[] }
  | { readonly kind: 'problems'; readonly problems: readonly ReplyProblem[] };

/** A toolchain. Everything is pure; `readCalls` never throws. */
export interface Toolchain {
  /** How to write calls in a section; empty for native calls, which need no section. */
  guidance(options: { readonly parallel: boolean }): string;
  /** Reads the contents of all action blocks of one reply as one batch. */
  readCalls(contents: readonly string[], context: CallContext): CallsReading;
  /** A value other than a string, as the model reads it. */
  write(value: Json): string;
  /** The text after `Parameters:` in the catalogue, on the same line or on the next ones. */
  writeParameters(schema: JsonObject): string;
}
