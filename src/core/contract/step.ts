/** The one record in which every run ends, whatever its mode and its ending. */
import type { ProgramMemory } from '../../lisp.ts';
import type { Json, JsonObject } from '../base/json.ts';
import type { Breach } from './limit.ts';
import type { ForkOrigin } from '../base/fork.ts';
import type { EstimatedUsage, Mode } from './model.ts';

/** How a run ended. */
export type StepStatus = 'success' | 'limit_exceeded' | 'canceled' | 'error' | 'compaction_failed';

/** Totals of the subtree; tokens and money as in `TokenUsage`. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly cachedInputTokens: number;
  readonly reasoningTokens: number;
  readonly costMicroUsd: number;
  readonly modelCalls: number;
  readonly modelCallRetries: number;
  readonly toolCalls: number;
  readonly durationMs: number;
  /**
   * What nobody reported: of attempts that died with their worker, and of replies without usage
   * where a limit needs it. In no other sum. Absent: nothing.
   */
  readonly estimated?: EstimatedUsage;
  /** Calls of tools that providers ran, which are in no price: the cost is at least what it says. */
  readonly unpricedCalls?: number;
  /** The provider was asked for output that fits a schema. */
  readonly schemaUsed?: true;
  /** The plain value of a program became the answer, because no turn was left. */
  readonly fallbackUsed?: true;
}

/** A short record of a child run. */
export interface ChildSummary {
  readonly childId: string;
  readonly agent: string;
  readonly status: StepStatus;
  readonly reason: string;
  readonly usage: Usage;
}

/** How long the chain of a run became. */
export interface ChainLength {
  readonly links: number;
  /** Number of events: the `seq` of the last. */
  readonly events: number;
  /** Number of entries of the transcript. */
  readonly entries: number;
  /** Number of inputs that were accepted. */
  readonly inputs: number;
}

/** The schedule that started a run. */
export interface StepSchedule {
  /** The id of the schedule. */
  readonly id: string;
  /** When the run was due, in ISO form and UTC; not when it began. */
  readonly time: string;
  /** When the run ended, in ISO form and UTC. */
  readonly endedAt: string;
}

/** Where a run took place. */
export interface StepTrace {
  readonly workflowId: string;
  /** The service's run id of the last link of the chain. */
  readonly executionId: string;
  /** The service's run id of the first link; equal over the whole chain. */
  readonly firstExecutionId: string;
  /** Run id of the root of the tree; absent for a root. */
  readonly rootRunId?: string;
  /** The traceparent that the tree was started with; absent: none. */
  readonly traceparent?: string;
  /**
   * The id of the trace with the spans of its tree, 32 hexadecimal digits. Set in Steps that a client
   * returns, whether spans are sent or not.
   */
  readonly traceId?: string;
  /** Ids of inputs that came too late to be read. */
  readonly unreadInputs: readonly string[];
  /** How long the chain became. */
  readonly chain: ChainLength;
  /** The moment of another run that this one began from; absent: it is no fork. */
  readonly forkedFrom?: ForkOrigin;
  /** The schedule that started the run; absent for any other run. */
  readonly schedule?: StepSchedule;
  /** The parent, and the call whose result this run is; absent for a root. */
  readonly parent?: {
    readonly workflowId: string;
    readonly runId: string;
    readonly agent: string;
    readonly callId: string;
  };
}

/** The definitions that programs left; empty for a run without programs. */
export type StepMemory = ProgramMemory | { readonly [name: string]: never };

/** What a model named as the origin of what it wrote: a page, or a document. */
export interface StepSource {
  readonly url?: string;
  readonly title?: string;
  readonly filename?: string;
  readonly mediaType?: string;
}

/** A call that was interrupted and may have taken effect. */
export interface UnknownCall {
  readonly callId: string;
  readonly tool: string;
}

/** How a run ended, as plain JSON. `Value` is what its agent says about the answer. */
export interface Step<Value = Json> {
  readonly v: 1;
  readonly runId: string;
  readonly agent: string;
  readonly mode: Mode;
  readonly status: StepStatus;
  /** The answer; null unless `status` is `success`. */
  readonly value: Value | null;
  /** `answered`, `canceled`, `parent_canceled`, the key of a limit, or an error code. */
  readonly reason: string;
  /** One sentence for people. */
  readonly message?: string;
  readonly details?: Json;
  readonly signature: string | null;
  readonly fieldDescriptions: JsonObject;
  readonly usage: Usage;
  readonly stats: {
    readonly counters: { readonly [key: string]: number };
    readonly gauges: { readonly [key: string]: number };
  };
  /** The first limit that was crossed; also on `success`. */
  readonly exceededLimit?: Breach;
  /** The definitions that programs left; `{}` if there are none. */
  readonly memory: StepMemory;
  /** What the last program printed. */
  readonly notes: readonly string[];
  readonly iterations: number;
  readonly children: readonly ChildSummary[];
  /**
   * Calls that were interrupted and may have taken effect, the first 100; absent: none. Those of
   * children are in their own Steps.
   */
  readonly unknownCalls?: readonly UnknownCall[];
  /** What models of the run named as sources, the first 100, each once; absent: none. */
  readonly sources?: readonly StepSource[];
  readonly trace: StepTrace;
}
