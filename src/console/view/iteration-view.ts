/**
 * What a page shows of one iteration, as plain data. The views are also the state of the fold that
 * makes them, so a page of the past continues with live events.
 */
import type { IterationOutcome } from '../../core/contract/events.ts';
import type { FailedAttempt } from '../../core/contract/host-outcome.ts';
import type { ModelPurpose, TokenUsage } from '../../core/contract/model.ts';
import type { CallOutcome } from '../../core/contract/outcome.ts';
import type { Json } from '../../core/base/json.ts';
import type { StepStatus } from '../../core/contract/step.ts';
import type { ReplyView } from './reply.ts';

/** A model call. It is in flight while `to` is absent. */
export interface ModelCallView {
  /** `seq` of the event that began it. */
  readonly seq: number;
  readonly model: string;
  readonly purpose: ModelPurpose;
  /** The call of the LLM tool that asks; absent: the loop asks. */
  readonly callId?: string;
  /** Messages that the model gets. */
  readonly messages?: number;
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly to?: number;
  readonly durationMs?: number;
  /** Until its first token; absent in runs of versions that do not record it. */
  readonly firstTokenMs?: number;
  readonly usage?: TokenUsage;
  /** False: the provider reported no usage. */
  readonly usageKnown?: boolean;
  /** Attempts of the provider. */
  readonly attempts: number;
  /** Attempts that ended because a worker was lost. */
  readonly losses: number;
  readonly finishReason?: string;
  readonly error?: string;
  /** It was canceled or interrupted, which is no failure. */
  readonly isCanceled?: true;
  readonly failures: readonly (FailedAttempt & { readonly at: number })[];
}

/** A child run that a call started. */
export interface ChildView {
  readonly id: string;
  readonly agent: string;
  readonly from: number;
  readonly to?: number;
  readonly status?: StepStatus;
  readonly reason?: string;
  readonly tokens: number;
  readonly costMicroUsd: number;
}

/** A call of a tool. It is in flight while `to` is absent. */
export interface CallView {
  readonly callId: string;
  readonly tool: string;
  /** Cut when they are long. */
  readonly args: Json;
  readonly from: number;
  readonly to?: number;
  /** Without the wait for approval. */
  readonly durationMs?: number;
  readonly outcome?: CallOutcome;
  /** Cut when it is long. */
  readonly output?: Json;
  readonly error?: string;
  readonly attempts: number;
  readonly losses: number;
  readonly cut?: { readonly shown: number; readonly total: number };
  readonly cached?: true;
  /** A program made it. */
  readonly inProgram?: true;
  readonly repeats?: number;
  readonly child?: ChildView;
}

/** A wait for a person or for outside work. It is open while `to` is absent. */
export interface WaitView {
  readonly kind: 'question' | 'approval' | 'external';
  /** As `pending` names it: `q1`, or the id of the call. */
  readonly id: string;
  readonly callId?: string;
  /** The question, or the tool. */
  readonly text: string;
  readonly from: number;
  readonly to?: number;
  /** `answered`, `timed out`, `withdrawn`, `approve`, `deny`, `edit`, `ok`, `error`, `canceled`. */
  readonly result?: string;
  readonly reason?: string;
  /** Who decided, if it is known. */
  readonly by?: string;
}

/** A program, from its events. It runs while `to` is absent. */
export interface ProgramMark {
  readonly programId: string;
  /** At most 2 KB. */
  readonly source: string;
  readonly from: number;
  readonly to?: number;
  readonly outcome?: string;
  readonly fuel?: number;
  readonly calls?: number;
  readonly error?: string;
}

/** Something that happened at a moment. */
export interface MarkView {
  readonly seq: number;
  readonly at: number;
  readonly kind:
    | 'started'
    | 'ended'
    /** A turn of a conversation begins; `detail` is what was said. */
    | 'said'
    /** A turn has ended. */
    | 'turn'
    | 'input'
    | 'paused'
    | 'resumed'
    | 'adjusted'
    | 'handover'
    | 'compaction'
    | 'limit'
    | 'warning'
    | 'error'
    | 'problem'
    | 'verdict'
    | 'own';
  /** One sentence or less, for people. */
  readonly text: string;
  /** Words of a model, a tool or a person, shown apart from `text`. */
  readonly detail?: string;
  /** Set for an input: its id. */
  readonly inputId?: string;
  /** Of `started` and `adjusted`: all limits from then on. */
  readonly limits?: readonly { readonly key: string; readonly max: number }[];
}

/** One iteration; number 0 is what comes before the first. */
export interface IterationView {
  readonly number: number;
  /** `seq` of its first and its last event. */
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly from: number;
  /** Absent while it runs. */
  readonly to?: number;
  readonly outcome?: IterationOutcome;
  readonly models: readonly ModelCallView[];
  readonly calls: readonly CallView[];
  readonly waits: readonly WaitView[];
  readonly programs: readonly ProgramMark[];
  readonly marks: readonly MarkView[];
  /** What the reply was read as. */
  readonly turn?: 'calls' | 'program' | 'answer' | 'malformed';
  /** Names of the sections in the reply. */
  readonly sections: readonly string[];
  /** The text beside a program. */
  readonly reasoning?: string;
  /** What the model wrote, from the transcript; absent: it is not recorded yet. */
  readonly reply?: ReplyView;
}
