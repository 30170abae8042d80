/** A run in memory, as tests and callers see it, and what one is started with. */
import type { SizeLimits } from '../core/base/size-limits.ts';
import type { ListedServers } from './listed-servers.ts';
import type { ForkSource } from '../registry/fork-agent.ts';
import type { Registry } from '../define/definition/definitions.ts';
import type { AgentEvent, InputKind } from '../core/contract/events.ts';
import type { AgentInput, LimitsInput } from '../core/contract/input.ts';
import type { PendingItem } from '../core/contract/messages.ts';
import type { AnswerOptions, Decision } from '../core/contract/pending.ts';
import type { ProgramView } from '../core/contract/report.ts';
import { type RunState } from '../core/run/run-state.ts';
import type { ForkOptions, RunMoment } from '../core/base/fork.ts';
import type { Step } from '../core/contract/step.ts';
import type { StateView } from '../core/fork/state-view.ts';
import type { StartParts } from '../core/start/start-input.ts';
import type { Next } from '../core/loop/work.ts';
import type { Json } from '../core/base/json.ts';
import type { ChunkPublisher } from '../core/streaming/chunk-stream.ts';
import type { Entry } from '../core/contract/entry.ts';
import type { ChildMessage, ParentMessage } from '../core/contract/tree-messages.ts';
import type { FakeClock } from './fake-clock.ts';

/** Where a run may hand itself over. */
export type HandoverPlace = 'boundary' | 'waiting' | 'program';

/** A run in memory, while it goes on and after. */
export interface MemoryRun<Value = Json> {
  /** Unique in its tree: `run-1` for a root, `run-1/1.2` for the child of its call `1.2`. */
  readonly address: string;
  readonly events: readonly AgentEvent[];
  /** The history: everything that was said. */
  readonly entries: readonly Entry[];
  readonly state: RunState;
  readonly result: Promise<Step<Value>>;
  /** The runs that this one has started, in order. */
  readonly children: readonly MemoryRun[];
  /** Ends the run and all below it without a Step, like a termination through the service. */
  terminate(): void;
  /** Sends input; returns its place in the order of arrival. */
  send(text: string, options?: { readonly kind?: InputKind; readonly id?: string }): number;
  cancel(message?: string): void;
  adjust(limits: LimitsInput): void;
  pause(): void;
  resume(): void;
  /** What waits for people and outside work, in this run and below it. */
  pending(): readonly PendingItem[];
  /** The program that runs, else the last one; null when there was none. */
  program(): ProgramView | null;
  /**
   * Answers a question or ends outside work, here or below. Throws a UsageError if it is refused.
   */
  answer(id: string, value: Json, options?: AnswerOptions): void;
  /** Approves, denies or edits a call, here or below. Throws a UsageError if it is refused. */
  decide(id: string, decision: Decision, options?: AnswerOptions): void;
  /** Ends an approval of this run that was given with `remember`. Throws a UsageError if none has the id. */
  revoke(id: string): void;
  /**
   * The run as it stood at a moment: before an iteration began. Throws a UsageError `fork_moment` if
   * it has no such moment.
   */
  at(moment: RunMoment): StateView;
  /**
   * A run that begins from a moment of this one, as `everloop.fork` makes it, with the same agents.
   * Throws a UsageError as that does.
   */
  fork(at: RunMoment, options?: MemoryForkOptions): MemoryRun;
  /** The Step, or what is pending as soon as the run waits only for people. */
  resultOrPending(): Promise<StepOrPending<Value>>;
}

/** How a fork in memory differs from its source. */
export interface MemoryForkOptions
  extends ForkOptions, Pick<StartParts, 'task' | 'context' | 'limits' | 'model'> {
  /** Another agent than the source's, with `definition: 'current'`. */
  readonly agent?: string;
  /** The agents and models of the fork, in place of the source's: a definition of today. */
  readonly registry?: Registry;
}

/** The end of a run, or what keeps it waiting. */
export type StepOrPending<Value = Json> =
  | { readonly kind: 'step'; readonly step: Step<Value> }
  | { readonly kind: 'pending'; readonly pending: readonly PendingItem[] };

/** A message between two runs of a tree. */
export type TreeMessage = ParentMessage | ChildMessage;

/** What all runs of a tree share. */
export interface MemoryTreeParts {
  readonly registry: Registry;
  readonly clock: FakeClock;
  readonly chunks: ChunkPublisher;
  readonly onEvent: (event: AgentEvent, run: MemoryRun) => void;
  /** Called for each message between two runs; it arrives each time `deliver` is called. */
  readonly carry: (message: TreeMessage, deliver: () => void) => void;
  /** How large the parts of the runs may be. */
  readonly sizes: SizeLimits;
  /** The servers of the agents. Default: none. */
  readonly mcp?: ListedServers | undefined;
  /** Asked of each run below the root where it could hand over. */
  readonly childHandoverDue: (address: string, iteration: number, place: HandoverPlace) => boolean;
}

/** What one run is started with. */
export interface MemoryStart {
  readonly input: AgentInput;
  /** The moment that a fork begins from. */
  readonly source?: ForkSource | undefined;
  readonly address: string;
  readonly next?: Next | undefined;
  readonly handoverDue?: ((iteration: number, place: HandoverPlace) => boolean) | undefined;
  readonly isFull?: (() => boolean) | undefined;
  readonly fitsHandover?: ((state: RunState) => boolean) | undefined;
  readonly sendToParent?: ((message: ParentMessage) => void) | undefined;
}
