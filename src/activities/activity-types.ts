/**
 * The activities that workflows call. Types only, so that no code of activities enters a workflow.
 */
import type { ForkInput, RunMoment } from '../core/base/fork.ts';
import type { Digest } from '../core/base/digest.ts';
import type { AgentInput } from '../core/contract/input.ts';
import type { StateView } from '../core/fork/state-view.ts';
import type { RunIdentity, RunState } from '../core/run/run-state.ts';
import type { Refusal, RunMaterial } from '../core/start/prepare-input.ts';
import type { CallbackMessage } from '../core/contract/callback.ts';
import type { ModelOrder, RateTicket } from '../core/contract/host-order.ts';
import type { AttemptFacts, UnfailedOutcome } from '../core/contract/host-outcome.ts';
import type { Day } from '../core/tenant/ledger.ts';
import type {
  JudgeOrder,
  JudgeResult,
  LiteralsOrder,
  LiteralFindings,
  LiteralVerdict,
  ToolOrder,
  ToolResult,
} from '../core/contract/outcome.ts';
import type { AgentSpec } from '../core/contract/spec.ts';
import type { EstimatedUsage, TokenUsage } from '../core/contract/model.ts';
import type { KeyRefusal } from '../registry/required-keys.ts';

/** The queues and the heartbeat time-out of activities; recorded when the run starts. */
export interface ActivityRuntime {
  /** Task queue of model activities; absent: that of the workflow. */
  readonly modelQueue?: string;
  /** Task queue of tool activities; absent: that of the workflow. */
  readonly toolQueue?: string;
  /** A worker without a heartbeat for this time counts as lost: 15 s; 5 s on the embedded server. */
  readonly heartbeatMs: number;
  /** How long a call waits for a worker that has what it needs; null: for ever; absent: the default. */
  readonly elsewhereMs?: number | null;
  /**
   * The mark of the file with loops of your own that the run began with: `loops@4f2a9c01`. Absent:
   * Everloop's loops. For replays.
   */
  readonly workflows?: string;
  /** Whether the run began on a worker with a blob store; see `SizeLimits`. Absent: it did not. */
  readonly blobs?: true;
}

/** The recorded result of `loadAgent`: the agent as it was when the run began. */
export interface LoadedAgent {
  readonly spec: AgentSpec;
  readonly runtime: ActivityRuntime;
  /** Warnings about the input, for the event log. */
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
  /** Task, context and memory after templates and checks; absent: as they were given. */
  readonly material?: RunMaterial;
  /** Its tenant has a ledger: the run waits for its turn. */
  readonly awaitsTurn?: true;
  /** Why the run ends before its first iteration. */
  readonly refusal?: Refusal | KeyRefusal;
}

/** The recorded result of `loadTurn`: the agent for a further turn of a conversation. */
export interface LoadedTurnAgent extends Omit<LoadedAgent, 'spec'> {
  /** Absent: the definition is as the conversation knows it. */
  readonly spec?: AgentSpec;
}

/** What a fork begins from. */
export interface ForkOrder {
  readonly input: AgentInput;
  readonly identity: Pick<RunIdentity, 'runId' | 'startedAt' | 'parent' | 'trace'>;
  /** True: one worker after another is asked, until one has what the fork needs. */
  readonly isElsewhere?: true;
}

/** The recorded result of `loadFork`: the state that the run begins with. */
export interface LoadedFork extends Pick<LoadedAgent, 'runtime' | 'warnings' | 'awaitsTurn'> {
  readonly state: RunState;
  /** What it reads first, as if it had been sent. */
  readonly inputs: readonly string[];
}

/** Which moment of which run is asked for. */
export interface MomentOrder {
  readonly source: ForkInput['source'];
  readonly at: RunMoment;
}

/** The first detail of a failed model activity: the usage of its attempts. */
export interface ModelFailureDetails extends AttemptFacts {
  readonly usage: TokenUsage;
  readonly usageKnown: boolean;
  /**
   * Set when the call is to be retried after this time. An attempt that cost tokens ends its
   * activity: a retry by Temporal records nothing in the history, so a cancel before the next
   * attempt would lose the cost.
   */
  readonly retryAfterMs?: number;
  /** The HTTP status, if there was one. */
  readonly status?: number;
}

/** The first detail of a failure of type `not_here`: what the worker lacks. */
export interface NotHereDetails extends Partial<ModelFailureDetails> {
  /** In words: `tool refund`, `agent clerk`, `model gpt-5`, `validator polite`. */
  readonly what: string;
  readonly agent: string;
  /** Of a model call: how it failed. */
  readonly code?: string;
}

/** The first detail of a failure of type `rate_wait`: with what the next try is to know. */
export interface RateWaitDetails extends Omit<RateTicket, 'at'> {
  /** When the run is to try again, in milliseconds since 1970. */
  readonly at: number;
  /** The moment that is kept for its request; absent: none is. */
  readonly moment?: number;
  /** What it waits for; absent: its moment. */
  readonly for?: 'permit';
}

/** What heartbeats say, of which a workflow still gets the last one when the worker is lost. */
export interface HeartbeatDetails {
  /** The number of this attempt of the provider or tool, from 1. */
  readonly attempts: number;
  /** Of a model call: attempts of this activity before this one that were lost; absent: none. */
  readonly losses?: number;
  /** The code of a `once` tool may have begun; see `begin-once.ts`. */
  readonly began?: true;
  /** Attempts of this activity that workers gave back which stopped in order; absent: none. */
  readonly givenBack?: number;
  /** What this attempt of a model call has used so far; absent until the provider is asked. */
  readonly asked?: EstimatedUsage;
  /** What earlier attempts of the activity of a model call lost. */
  readonly lost?: EstimatedUsage;
  /** True: nothing had begun, so the attempt may have asked since. Its prompt is charged. */
  readonly isEntry?: true;
  /** The whole reply, once only reads beside it are open. */
  readonly kept?: UnfailedOutcome;
}

/** The first detail of a failure of type `agent_not_found` or `extension_not_found`. */
export interface NoAgentDetails {
  /** How long the run is to wait for a worker that has the agent; null: for ever. */
  readonly elsewhereMs?: number | null;
  /** The nearest name that the worker has; absent: none is near. */
  readonly near?: string;
  /** What the worker lacks besides agents, in words such as `format own:toml`. */
  readonly what?: string;
}

/** The link of a chain to archive. */
export interface ArchiveOrder {
  readonly runId: string;
  readonly link: number;
  /** Index in the chain of the first event and the first entry of the link. */
  readonly firstEvent: number;
  readonly firstEntry: number;
}

/** A message to the ledger of a tenant, which is started if it is not there. */
export interface TenantOrder {
  readonly tenant: string;
  /** Where the ledger is served, if it is started: the queue of the run that asks. */
  readonly taskQueue: string;
  readonly signal: string;
  readonly message: object;
}

/** The activities around ledgers of tenants. */
export interface TenantActivities {
  askTenant(order: TenantOrder): Promise<void>;
  /** Local: the day of a moment in a time zone. */
  tenantDay(asked: { readonly timeZone: string; readonly at: number }): Promise<Day>;
  /** Those of some runs that have ended. */
  endedRuns(asked: { readonly runs: readonly string[] }): Promise<readonly string[]>;
}

/** The activities that a worker registers. */
export interface EverloopActivities extends TenantActivities {
  loadAgent(input: AgentInput): Promise<LoadedAgent>;
  /** As `loadAgent`; the specification only if its digest is another than `known`. */
  loadTurn(input: AgentInput, known: Digest): Promise<LoadedTurnAgent>;
  /** Replays the source of a fork, and makes the state of the fork. */
  loadFork(order: ForkOrder): Promise<LoadedFork>;
  /** Replays a run to one of its moments. */
  viewMoment(order: MomentOrder): Promise<StateView>;
  /** Throws failures, with {@link ModelFailureDetails}. */
  callModel(order: ModelOrder): Promise<UnfailedOutcome>;
  callTool(order: ToolOrder): Promise<ToolResult>;
  /** A call of a `once` tool, which says when the tool begins. */
  callToolOnce(order: ToolOrder): Promise<ToolResult>;
  /** A call of the built-in search tool; returns a page of names. */
  searchTools(order: ToolOrder): Promise<ToolResult>;
  /** Local: whether a person must approve a call, as decided by the function of its tool. */
  needsApproval(order: ToolOrder): Promise<boolean>;
  /** Local: checks literals of programs, and the arguments of calls that no tool activity runs. */
  checkLiterals(order: LiteralsOrder): Promise<readonly (LiteralVerdict | LiteralFindings)[]>;
  judgeAnswer(order: JudgeOrder): Promise<JudgeResult>;
  /** Local and empty: lets queries and messages in between two slices of a program. */
  readClock(): Promise<void>;
  /** Delivers a callback of a run once; fails until it is delivered. */
  deliverCallback(message: CallbackMessage): Promise<void>;
  archiveTranscript(order: ArchiveOrder): Promise<void>;
}
