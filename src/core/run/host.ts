/**
 * The one port: everything that the loop asks of the world. There are two implementations:
 * `workflows/temporal-host.ts` over activities, and `testing/memory-host.ts` in one process.
 *
 * Every implementation keeps this contract:
 * H1  Each call settles with an outcome; it rejects only for a bug of the host. A call that `abort`
 *     stops ends within 30 s as `aborted` or `canceled`; a `once` tool that does not stop ends as
 *     `unknown`. A child has 90 s to end, then it is `lost`. What ended before keeps its outcome.
 * H2  The host owns retries, deadlines and heartbeats of a call; the loop owns fallbacks, counting
 *     and limits. Before the host retries an attempt that cost tokens, it asks the loop. An attempt
 *     that ended because a worker was lost is none of the provider or tool.
 * H3  What `now` returns never decreases, and is the same on every replay at the same place.
 * H4  `publish` and `send` return at once and never throw.
 */
import type { ModelPolicy } from '../attempt/model-attempts.ts';
import type { CallAfter } from '../base/fork.ts';
import type { JsonObject } from '../base/json.ts';
import type { ToolCall } from '../base/message.ts';
import type { AgentEvent } from '../contract/events.ts';
import type { Entry } from '../contract/entry.ts';
import type { ChildOrder, ModelOrder } from '../contract/host-order.ts';
import type {
  ApprovalOutcome,
  ChildEnd,
  JudgeOutcome,
  LiteralsOutcome,
  ModelOutcome,
} from '../contract/host-outcome.ts';
import type {
  CallEnd,
  JudgeOrder,
  LiteralsOrder,
  ToolOrder,
  ToolResult,
} from '../contract/outcome.ts';
import type { SizeLimits } from '../base/size-limits.ts';
import type { ToolSpec } from '../contract/spec.ts';
import type { ChildCancel, ChildMessage, ParentMessage } from '../contract/tree-messages.ts';
import type { Mailbox } from './inbox.ts';
import type { RunState } from './run-state.ts';
import type { Waits } from './waits.ts';

/** Options of a call. */
export interface CallOptions {
  /** Set when this call can be ended alone, by `abort` with this id. */
  readonly abortId?: string | undefined;
}

/** Options of a tool call. */
export interface ToolCallOptions extends CallOptions {
  /** The call in one line, for those who look at the service. Default: none. */
  readonly summary?: string;
  /** The context that the order says the tool reads; a host may also fetch it from the run. */
  readonly context?: JsonObject | undefined;
}

/** Options of a model call. */
export interface ModelCallOptions extends CallOptions, ModelPolicy {}

/** A message to another run of the tree. It may be lost, delayed or delivered twice. */
export type OutgoingMessage =
  | { readonly to: 'parent'; readonly message: ParentMessage }
  | { readonly to: 'child'; readonly childId: string; readonly message: ChildMessage };

/** A call that began and ended. */
export interface ProbedCall extends Pick<CallAfter, 'effect'> {
  /** As the model or the program made it. */
  readonly call: ToolCall;
  readonly result: ToolResult;
  readonly edited?: CallEnd['edited'];
}

/** What a probe is shown. It changes nothing, and what it does is no command. */
export interface StateProbe {
  /** The run stands before an iteration, where it could hand over. */
  boundary(state: RunState): void;
  /** A call has ended. */
  call(call: ProbedCall): void;
  /** A loop has started a child that no call asked for. */
  child(child: { readonly callId: string; readonly agent: string }): void;
}

/**
 * This link of the run: where it is reached, how it records, how much room its history has left.
 */
export interface Link {
  /** Where other runs reach this one: its workflow id. */
  readonly address: string;
  /** Whether the run should hand itself over at the next boundary. */
  isHandoverDue(): boolean;
  /**
   * Whether there is only room left to end the run: a hand-over has long been due but was not
   * possible.
   */
  isFull(): boolean;
  /** How large the parts of the run may be. */
  readonly sizes: SizeLimits;
  /** Whether a hand-over could carry `state`; a state that does not fit is compacted first. */
  fits(state: RunState): boolean;
  /** Watches the run while it is replayed; absent: nothing does. */
  readonly probe?: StateProbe | undefined;
}

/** Work that may take long: reading a reply, checking a program, running it. */
export type Computation = 'reply' | 'check' | 'program';

/** How the run does work that may take long. */
export interface Computing {
  /** Does the work; null, without doing it, if the host knows that it takes too long. */
  run<Result extends object>(kind: Computation, work: () => Result): Result | null;
  /** Lets messages, cancels and queries in between two slices of a program. */
  endSlice(): Promise<void>;
}

/** The world, as the loop sees it. */
export interface Host {
  readonly link: Link;
  /** Holds the inbox: inputs, answers and a cancel wait there until the loop takes them. */
  readonly mailbox: Mailbox;
  /** Waits of the loop. They are checked at each event, each message and each end of a call. */
  readonly waits: Waits;
  readonly computing: Computing;
  /** Milliseconds since 1970. */
  now(): number;
  /** Asks a model. `state` holds the transcript that the order only names. */
  callModel(order: ModelOrder, state: RunState, options: ModelCallOptions): Promise<ModelOutcome>;
  /** Runs a tool, or the built-in tool search. The specification of the tool says how to retry. */
  callTool(order: ToolOrder, tool: ToolSpec, options?: ToolCallOptions): Promise<CallEnd>;
  /** Checks answers against schema and validators. */
  judgeAnswer(order: JudgeOrder): Promise<JudgeOutcome>;
  /** Asks the function of a tool whether a person must approve this call. */
  needsApproval(order: ToolOrder, tool: ToolSpec): Promise<ApprovalOutcome>;
  /** Checks literals of programs, and arguments of calls that no tool activity runs. */
  checkLiterals(order: LiteralsOrder): Promise<LiteralsOutcome>;
  /**
   * Runs a child to its end. An abort sends it what `cancel` returns and still awaits it; a child
   * that does not end in time is lost. It can be ended alone, by `abort` with the id of its call.
   */
  runChild(order: ChildOrder, cancel: () => ChildCancel): Promise<ChildEnd>;
  /** Sends a message to the parent or to a child. */
  send(outgoing: OutgoingMessage): void;
  /** Aborts everything in flight, or only the call with `abortId`. Harmless when it has ended. */
  abort(abortId?: string): void;
  /** Whether nothing is in flight; waits do not count. */
  isIdle(): boolean;
  /**
   * Replaces the one deadline of the run; null removes it. `onDue` runs at its time and wakes no
   * wait: what it changes, it publishes.
   */
  setDeadline(at: number | null, onDue: () => void): void;
  /** Publishes an event that is already in the state; `entry` is what it added to the history. */
  publish(event: AgentEvent, entry: Entry | undefined): void;
}
