/**
 * The one port: all that the loop asks of the world. Two implementations: `workflows/temporal-host.ts`
 * over activities, and `testing/memory-host.ts` in one process. Everything else is a pure function.
 *
 * Contract of every implementation
 * H1  Each call settles: with its outcome, or, after `abort`, with `aborted` or `canceled` within
 *     30 s. None rejects, but with a failure that means a bug of the host.
 * H2  Retries, deadlines and heartbeats of a call are the host's; fallbacks, counting and limits
 *     are the loop's. What an attempt had cost counts: the loop is asked before the next one.
 * H3  What `now` returns never falls, and is the same on every replay at the same place.
 * H4  `publish` never waits and never throws.
 */
import type { SummaryOrder } from '../contract/compaction.ts';
import type {
  ModelPurpose,
  ModelRequest,
  OutputStrategy,
  Reply,
  TokenUsage,
} from '../contract/model.ts';
import type {
  JudgeOrder,
  JudgeResult,
  LiteralFindings,
  LiteralsOrder,
  LiteralVerdict,
  ToolOrder,
  ToolResult,
} from '../contract/outcome.ts';
import type { ToolSpec } from '../contract/spec.ts';
import type { AgentEvent } from '../contract/events.ts';
import type { Mailbox } from './inbox.ts';
import type { RunState } from './run-state.ts';
import type { TranscriptHead } from '../contract/transcript.ts';
import type { Message } from '../base/message.ts';
import type { Entry } from '../contract/entry.ts';
import type { ChildCancel, ChildMessage, ParentMessage } from '../contract/tree-messages.ts';
import type { AgentInput } from '../contract/input.ts';
import type { Step } from '../contract/step.ts';

/** A question that a loop of a user's own puts in its own words, beside those of the agent. */
export interface OwnRequest {
  /** What the model reads; at least one, together at most 1 MB. They are not kept. */
  readonly messages: readonly Message[];
  /** True: behind the agent's prompt and conversation. Default: alone, without prompt and tools. */
  readonly conversation?: boolean;
  /** Ids of model entries of the worker in the order in which they are tried; default: the agent's. */
  readonly models?: readonly string[];
}

/**
 * A request that travels whole: the question of an LLM tool. Nothing of the conversation belongs to it,
 * so no transcript is read. At most 1 MB.
 */
export type InlineRequest = Pick<
  ModelRequest,
  'mode' | 'messages' | 'schema' | 'tools' | 'toolChoice' | 'cacheUpTo'
>;

/** A model call by reference: who, which part of the transcript, and what only this call has. */
export interface ModelOrder {
  readonly agent: string;
  readonly runId: string;
  /** Of the tree; absent: the run is the root. */
  readonly rootRunId?: string;
  readonly agentPath: string;
  /** Id of the model entry. */
  readonly model: string;
  readonly purpose: ModelPurpose;
  readonly iteration: number;
  /** Tries of this iteration before this call, over fallbacks and repeated questions. */
  readonly triesBefore: number;
  /** Attempts of this very call that are over: set by a host that begins a call anew. */
  readonly attemptsBefore?: number;
  /** True when the model must answer without calls. */
  readonly lastTurn: boolean;
  /** Milliseconds since 1970, for instructions that name the date. */
  readonly time: number;
  readonly transcript: TranscriptReference;
  /** How the output is asked for; set when an output is asked for as JSON. */
  readonly structuredOutput?: OutputStrategy;
  /** Set when a loop asks in its own words. */
  readonly own?: OwnRequest;
  /** Set when an LLM tool asks. */
  readonly inline?: InlineRequest;
  /** Set when `purpose` is `compaction`: what of the transcript is to be summed up. */
  readonly summary?: SummaryOrder;
}

/** Names a state of the transcript; the digest proves that a reader found the same. */
export interface TranscriptReference {
  readonly epoch: number;
  /** Messages of the epoch that belong to the request; later ones are ignored. */
  readonly length: number;
  readonly digest: string;
}

/** What an order's reference names. */
export interface TranscriptView {
  readonly head: TranscriptHead;
  readonly messages: readonly Message[];
}

/** How a model call ended. */
export type ModelOutcome =
  | { readonly kind: 'reply'; readonly reply: Reply; readonly attempts: number }
  /** The provider has stopped; what it had reported by then is counted. */
  | {
      readonly kind: 'aborted';
      readonly usage: TokenUsage;
      readonly usageKnown: boolean;
      readonly attempts: number;
    }
  | {
      readonly kind: 'failed';
      /** `model_error`, `model_auth`, `model_request_refused` or `context_too_long`. */
      readonly code: string;
      readonly message: string;
      /** The status of HTTP, where there was one. */
      readonly status?: number;
      readonly usage: TokenUsage;
      readonly usageKnown: boolean;
      readonly attempts: number;
    };

/** A model call that gave no reply. */
export type ModelLoss = Exclude<ModelOutcome, { readonly kind: 'reply' }>;

/**
 * Whether the limits leave room for another attempt at a call that came to `lost` so far. A host asks
 * before each attempt behind one that had cost; on no, the call ends as `lost`.
 */
export type MayTryAgain = (lost: ModelLoss) => boolean;

/** A call that is over: results wait until those before them are recorded, so it says when. */
export interface ToolEnd {
  readonly result: ToolResult;
  /** Milliseconds since 1970. */
  readonly endedAt: number;
}

/** How judging ended; `failed` when a validator threw on every try. */
export type JudgeOutcome =
  | { readonly kind: 'judged'; readonly result: JudgeResult }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'failed'; readonly message: string };

/** Whether a person must approve a call; `failed` when the agent's own function threw on every try. */
export type ApprovalOutcome =
  | { readonly kind: 'known'; readonly needed: boolean }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'failed'; readonly message: string };

/** How a check of arguments ended: a verdict for each call of the order, findings for each literal. */
export type LiteralsOutcome =
  | {
      readonly kind: 'checked';
      readonly verdicts: readonly LiteralVerdict[];
      readonly literals: readonly LiteralFindings[];
    }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'failed'; readonly message: string };

/** A child run that is to be started. */
export interface ChildOrder {
  /** Its address, free by construction: the parent's, a slash and the id of the call. */
  readonly childId: string;
  readonly callId: string;
  readonly input: AgentInput;
}

/** How a child run ended. */
export type ChildEnd =
  | { readonly kind: 'ended'; readonly step: Step }
  /** It ended without a Step: terminated, timed out, or `canceled` through the service. */
  | { readonly kind: 'lost'; readonly message: string; readonly canceled?: true }
  | { readonly kind: 'unstarted'; readonly message: string };

/** The world, as the loop sees it. */
export interface Host {
  /** Where other runs reach this one: its workflow id. */
  readonly address: string;
  /** Milliseconds since 1970. */
  now(): number;
  /**
   * Asks a model for the next reply. `state` holds the transcript that the order only names: a host
   * that kept what it saw before takes the new messages alone. With `separateId` the call can be ended
   * alone, by `abortCall`.
   */
  callModel(
    order: ModelOrder,
    state: RunState,
    mayTryAgain: MayTryAgain,
    separateId?: string,
  ): Promise<ModelOutcome>;
  /**
   * Runs a tool. `tool` is the tool's specification: it says how to retry. With `isSeparate` the call
   * can be ended alone, by `abortCall`.
   */
  callTool(order: ToolOrder, tool: ToolSpec, isSeparate?: boolean): Promise<ToolEnd>;
  /**
   * Runs a call of the built-in search tool: an ordinary call, whose result is a page of names. The
   * text for the model is made in the loop.
   */
  searchTools(order: ToolOrder, tool: ToolSpec, isSeparate?: boolean): Promise<ToolEnd>;
  /** Checks answers against schema and validators. */
  judgeAnswer(order: JudgeOrder): Promise<JudgeOutcome>;
  /** Asks the function of a tool whether a person must approve this call. */
  needsApproval(order: ToolOrder, tool: ToolSpec): Promise<ApprovalOutcome>;
  /** Checks arguments of calls that no tool activity runs, against the schemas of their tools. */
  checkLiterals(order: LiteralsOrder): Promise<LiteralsOutcome>;
  /**
   * Runs a child to its end. An abort tells it to end for the reason that `cancel` gives then, and it is
   * awaited all the same; one that does not end in time is lost.
   */
  runChild(order: ChildOrder, cancel: () => ChildCancel): Promise<ChildEnd>;
  /** Tells the parent something. It may be lost, come twice or late; nobody hears whether it came. */
  tellParent(message: ParentMessage): void;
  /** Tells a child something, as `tellParent`. */
  tellChild(childId: string, message: ChildMessage): void;
  /** Ends what is in flight early. Harmless when nothing is. */
  abort(): void;
  /** Ends one separate call early. Harmless when it has ended, or was never begun. */
  abortCall(callId: string): void;
  /** Where inputs and a cancel wait until the loop takes them in. */
  readonly mailbox: Mailbox;
  /**
   * Settles when `until` holds; looked at again at each event, each message and when something in
   * flight ends. At `deadline` it settles at the latest. Any number of waits at a time.
   */
  waitUntil(until: () => boolean, deadline?: number): Promise<void>;
  /** Looks at once at what is waited for: something that the host cannot see has changed. */
  wake(): void;
  /** Whether nothing is in flight; waits do not count. */
  isIdle(): boolean;
  /** Arms the one deadline of the run, replacing the last; null disarms. `onDue` runs at its time. */
  setDeadline(at: number | null, onDue: () => void): void;
  /** Whether the run should hand itself over at the next boundary. */
  handoverDue(): boolean;
  /**
   * Whether the run has nearly no room left for anything but its end: a hand-over has been due for long,
   * and whatever goes on could not make it.
   */
  isFull(): boolean;
  /** Whether a hand-over could carry `state`; one that does not fit is compacted first. */
  fitsHandover(state: RunState): boolean;
  /** Tells the world of an event, after state and limits know it; `entry` is what it added to history. */
  publish(event: AgentEvent, entry: Entry | undefined): void;
}
