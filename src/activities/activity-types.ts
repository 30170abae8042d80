/** What workflows may ask of activities: types alone, so that no workflow pulls code in. */
import type { AgentInput } from '../core/contract/input.ts';
import type { Refusal, RunMaterial } from '../core/start/prepare-input.ts';
import type { ModelOrder } from '../core/contract/host-order.ts';
import type { ModelOutcome } from '../core/contract/host-outcome.ts';
import type { AgentSpec } from '../core/contract/spec.ts';
import type { TokenUsage } from '../core/contract/model.ts';
import type {
  JudgeOrder,
  JudgeResult,
  LiteralsOrder,
  LiteralFindings,
  LiteralVerdict,
  ToolOrder,
  ToolResult,
} from '../core/contract/outcome.ts';

/** Where activities run and how soon a lost worker is noticed; recorded when the run starts. */
export interface ActivityRuntime {
  /** Task queue of model activities; absent: that of the workflow. */
  readonly modelQueue?: string;
  /** Task queue of tool activities; absent: that of the workflow. */
  readonly toolQueue?: string;
  /** A worker that is silent for so long is given up. 5 s; 3 s on the embedded server. */
  readonly heartbeatMs: number;
}

/** An agent's definition as it was when the run began. */
export interface LoadedAgent {
  readonly spec: AgentSpec;
  readonly runtime: ActivityRuntime;
  /** What was odd about the input, for the event log. */
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
  /** What the run works with; absent: what it was started with. */
  readonly material?: RunMaterial;
  /** Why the run ends before its first iteration. */
  readonly refusal?: Refusal;
}

/** What `callModel` returns; a failure leaves as a typed failure with {@link ModelFailureDetails}. */
export type ModelActivityResult = Exclude<ModelOutcome, { readonly kind: 'failed' }>;

/** First detail of a failed model call: what its attempts had cost. */
export interface ModelFailureDetails {
  readonly usage: TokenUsage;
  readonly usageKnown: boolean;
  readonly attempts: number;
  /**
   * Set when the call is to be tried again, after so long. An attempt that had cost ends its activity,
   * as what Temporal retries by itself leaves nothing in the history: a cancel before the next attempt
   * would lose the cost.
   */
  readonly retryAfterMs?: number;
  /** Of HTTP, where there was one. */
  readonly status?: number;
}

/** Which link of a chain is to be archived. */
export interface ArchiveOrder {
  readonly runId: string;
  readonly link: number;
  /** Index in the chain of the first event and the first entry of the link. */
  readonly firstEvent: number;
  readonly firstEntry: number;
}

/** The activities that a worker registers. */
export interface EverloopActivities {
  loadAgent(input: AgentInput): Promise<LoadedAgent>;
  callModel(order: ModelOrder): Promise<ModelActivityResult>;
  callTool(order: ToolOrder): Promise<ToolResult>;
  /** A call of the built-in search tool: its output is a page of names. */
  searchTools(order: ToolOrder): Promise<ToolResult>;
  /** Local: whether a person must approve a call, by the function of its tool. */
  needsApproval(order: ToolOrder): Promise<boolean>;
  /** Local: checks arguments of calls that no tool activity runs. */
  checkLiterals(order: LiteralsOrder): Promise<readonly (LiteralVerdict | LiteralFindings)[]>;
  judgeAnswer(order: JudgeOrder): Promise<JudgeResult>;
  archiveTranscript(order: ArchiveOrder): Promise<void>;
}
