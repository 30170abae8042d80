/** A run in memory, as tests and callers see it, and what one is started with. */
import type { SizeLimits } from '../core/base/size-limits.ts';
import type { ListedServers } from './listed-servers.ts';
import type { Registry } from '../define/definition/definitions.ts';
import type { AgentEvent, InputKind } from '../core/contract/events.ts';
import type { AgentInput, LimitsInput } from '../core/contract/input.ts';
import type { PendingItem } from '../core/contract/messages.ts';
import type { AnswerOptions, Decision } from '../core/contract/pending.ts';
import type { ProgramView } from '../core/contract/report.ts';
import { type RunState } from '../core/run/run-state.ts';
import type { Step } from '../core/contract/step.ts';
import type { Next } from '../core/loop/work.ts';
import type { Json } from '../core/base/json.ts';
import type { ChunkPublisher } from '../core/streaming/chunk-stream.ts';
import type { Entry } from '../core/contract/entry.ts';
import type { ChildMessage, ParentMessage } from '../core/contract/tree-messages.ts';
import type { FakeClock } from './fake-clock.ts';

/** Where a run may hand itself over. */
export type HandoverPlace = 'boundary' | 'waiting' | 'program';

/** A run in memory, while it goes on and after. */
export interface MemoryRun {
  /** Unique in its tree: `run-1` for a root, `run-1/1.2` for the child of its call `1.2`. */
  readonly address: string;
  readonly events: readonly AgentEvent[];
  /** The history: everything that was said. */
  readonly entries: readonly Entry[];
  readonly state: RunState;
  readonly result: Promise<Step>;
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
  /** The Step, or what is pending as soon as the run waits only for people. */
  resultOrPending(): Promise<StepOrPending>;
}

/** The end of a run, or what keeps it waiting. */
export type StepOrPending =
  | { readonly kind: 'step'; readonly step: Step }
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
  readonly address: string;
  readonly next?: Next | undefined;
  readonly handoverDue?: ((iteration: number, place: HandoverPlace) => boolean) | undefined;
  readonly isFull?: (() => boolean) | undefined;
  readonly fitsHandover?: ((state: RunState) => boolean) | undefined;
  readonly sendToParent?: ((message: ParentMessage) => void) | undefined;
}
