/** Judges the answers of one reply, without Temporal: the activity and the memory host share it. */
import type { Json } from '../core/json.ts';
import type { JudgeOrder, JudgeResult, Verdict } from '../core/toolchain/outcome.ts';
import { toJsonResult } from '../core/toolchain/result-json.ts';
import { unreachable } from '../core/unreachable.ts';
import { attempt } from './attempt.ts';
import type { RegisteredAgent, ReportContext, ValidatorDefinition } from './definitions.ts';
import { fitValue } from './fit-value.ts';
import { messageOf } from './message-of.ts';
import { reporter, type Reporter } from './reporter.ts';
import type { ValueSchema } from './value-schema.ts';
import { readVerdict } from './verdict.ts';

/** What an attempt needs beside the order. */
export interface JudgeOptions {
  /** Tries of this order, from 1. */
  readonly attempt: number;
  /** Stops the judging: a cancel, an interrupt, or the worker stops. */
  readonly signal: AbortSignal;
  /** How long a stopped validator may take to settle; see `attempt`. */
  readonly graceMs?: number;
}

/** What came of an attempt. */
export type JudgeRun =
  | { readonly kind: 'judged'; readonly result: JudgeResult }
  /** A validator, or a schema library, threw: to be tried again; `message` says who and what. */
  | { readonly kind: 'threw'; readonly message: string }
  | { readonly kind: 'stopped' };

/** Stops the judging from inside: carries what `runJudge` returns. */
class JudgeStop extends Error {
  readonly run: JudgeRun;

  constructor(run: JudgeRun) {
    super('judging stopped');
    this.run = run;
  }
}
