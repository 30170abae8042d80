/** An attempt to judge answers or to ask guards: what it needs, and how it ended. */
import type { JsonObject } from '../core/base/json.ts';
import type { JudgeResult } from '../core/contract/outcome.ts';
import type { AttemptOptions } from './attempt.ts';

/** The result of an attempt. */
export type JudgeRun =
  | { readonly kind: 'judged'; readonly result: JudgeResult }
  /** A validator or a schema library threw: to be retried. `message` names it and has its error. */
  | { readonly kind: 'threw'; readonly message: string }
  /** This worker lacks a validator, which `what` names in words. No validator was asked. */
  | { readonly kind: 'not_here'; readonly what: string; readonly message: string }
  | { readonly kind: 'stopped' };

/** What an attempt needs besides the order. */
export interface JudgeOptions extends AttemptOptions {
  /** The id of the run. */
  readonly run: string;
  /** Gives the context of the run to validators that read it. Default: the run has none. */
  readonly readContext?: () => Promise<JsonObject | undefined>;
}
