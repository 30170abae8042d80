/** How the calls of the port ended: what a host returns to the loop. */
import type { EstimatedUsage, Reply, TokenUsage } from './model.ts';
import type { BesideRead, JudgeResult, LiteralFindings, LiteralVerdict } from './outcome.ts';
import type { Step } from './step.ts';

/** How one call of a model ended: what the adapter returns is what the loop gets. */
export type ModelEnd =
  | { readonly kind: 'reply'; readonly reply: Reply }
  /** The call was stopped; usage that the provider has reported is counted. */
  | {
      readonly kind: 'aborted';
      readonly usage: TokenUsage;
      readonly usageKnown: boolean;
    }
  | {
      readonly kind: 'failed';
      /** A `ModelFailureCode`. */
      readonly code: string;
      readonly message: string;
      /** The HTTP status, if there was one. */
      readonly status?: number;
      readonly usage: TokenUsage;
      readonly usageKnown: boolean;
    };

/** What is known of the attempts of a model call, besides its end. Each layer adds what it knows. */
export interface AttemptFacts {
  /** Attempts of the provider, from 1. */
  readonly attempts: number;
  /** Attempts that ended because a worker was lost; absent: none. */
  readonly losses?: number;
  /** What those used that died with their worker; absent: nothing. */
  readonly estimated?: EstimatedUsage;
  /** What ran beside the reply; absent: nothing. */
  readonly reads?: readonly BesideRead[];
  /** What ran beside replies that were thrown away; absent: nothing. */
  readonly lostReads?: readonly BesideRead[];
  /** How long the model took to its first piece, in ms; absent: it is not known. */
  readonly firstTokenMs?: number;
  /** The tools that the worker expects to be quick; absent: none, or it does not say. */
  readonly local?: readonly string[];
  /**
   * Set when the worker took over the call of an attempt that counted as lost: that many of the last
   * losses used nothing that this outcome does not have.
   */
  readonly takenOver?: number;
}

/** How a model call ended, and the facts of its attempts. */
export type ModelOutcome = ModelEnd & AttemptFacts;

/** What a model activity returns: it throws its failures. */
export type UnfailedOutcome = Exclude<ModelOutcome, { readonly kind: 'failed' }>;

/** A model call that gave no reply. */
export type ModelLoss = Exclude<ModelOutcome, { readonly kind: 'reply' }>;

/** An attempt of a provider that failed and is followed by another. */
export interface FailedAttempt {
  /** Its number in the call, from 1. */
  readonly attempt: number;
  /** As in {@link ModelOutcome}. */
  readonly code: string;
  readonly message: string;
  readonly status?: number;
  /** When the next attempt begins, in milliseconds from now. */
  readonly retryInMs: number;
}

/** A judgement or a check that was stopped, or whose functions threw in every attempt. */
export type CheckLoss =
  { readonly kind: 'aborted' } | { readonly kind: 'failed'; readonly message: string };

/** How judging ended. */
export type JudgeOutcome = { readonly kind: 'judged'; readonly result: JudgeResult } | CheckLoss;

/** Whether a person must approve a call. */
export type ApprovalOutcome = { readonly kind: 'known'; readonly needed: boolean } | CheckLoss;

/** How a check of arguments ended: a verdict for each call, findings for each literal. */
export type LiteralsOutcome =
  | {
      readonly kind: 'checked';
      readonly verdicts: readonly LiteralVerdict[];
      readonly literals: readonly LiteralFindings[];
    }
  | CheckLoss;

/** How a child run ended. */
export type ChildEnd =
  | { readonly kind: 'ended'; readonly step: Step }
  /** It ended without a Step: terminated, timed out, or `canceled` through the service. */
  | { readonly kind: 'lost'; readonly message: string; readonly canceled?: true }
  | { readonly kind: 'unstarted'; readonly message: string };
