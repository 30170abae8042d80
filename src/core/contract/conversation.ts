/** Conversations: what is said to one, and what it keeps of its turns. */
import type { MediaPart } from '../base/message.ts';
import type { AgentInput, LimitsInput } from './input.ts';
import type { StatedActor } from './pending.ts';
import type { Stats } from './stats.ts';
import type { StepStatus } from './step.ts';

/** How the turn that a message begins differs from what the agent is defined with. */
export interface TurnSettings extends Pick<
  AgentInput,
  'context' | 'limits' | 'model' | 'settings' | 'toolChoice' | 'onEvent'
> {
  /** Of the whole conversation; a turn may use what they leave. */
  readonly totalLimits?: LimitsInput;
}

/** A message to a conversation, as it travels. */
export interface SaidMessage extends StatedActor {
  /** A repetition with the same id has no effect. */
  readonly id: string;
  readonly text: string;
  readonly media?: readonly MediaPart[];
  /** The agent that the sender believes to speak to. */
  readonly agent: string;
  /** The message that it replaces: the transcript goes back to before the turn which that began. */
  readonly instead?: string;
  readonly turn?: TurnSettings;
}

/** Ends a conversation after its open turn. */
export interface ClosePayload extends StatedActor {
  readonly message?: string;
}

/** A turn as the state of its conversation keeps it. */
export interface TurnRecord extends StatedActor {
  /** From 1. */
  readonly number: number;
  /** The message that began it. */
  readonly messageId: string;
  /** The beginning of its text. */
  readonly text: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** Number of its `agent:turn:before`. */
  readonly seq: number;
  /** Iterations of the conversation before it. */
  readonly iteration: number;
  /** Entries of the history before it. */
  readonly entries: number;
  /** The scratchpad before it: how many entries, and the indexes of the first and the last. */
  readonly scratchpad: readonly [count: number, first: number, last: number];
  /** Its message is the task of the run, with which every request begins. */
  readonly isTask?: true;
  /** Further messages that it has read, the first 100. */
  readonly inputs?: readonly string[];
  /** Calls that took effect, in words, the first 20. */
  readonly effects?: readonly string[];
  /** Set when it has ended. */
  readonly status?: StepStatus;
  readonly reason?: string;
  /** The beginning of its answer. */
  readonly answer?: string;
  readonly costMicroUsd?: number;
  /** A later message replaced it: the transcript no longer has it. */
  readonly replaced?: true;
}

/** The state of a conversation beside that of its newest turn. */
export interface ConversationState {
  readonly id: string;
  readonly idleMs: number;
  /** Turns that have begun. */
  readonly count: number;
  /** Turns, oldest first; of more, or of larger ones, the newest. */
  readonly recent: readonly TurnRecord[];
  /** Whether the newest turn goes on. */
  readonly isOpen: boolean;
  /** Since when it waits for a message, in milliseconds since 1970; null while a turn goes on. */
  readonly idleSince: number | null;
  /** What ended turns have used. */
  readonly ended: Stats;
}

/** What a conversation says of its turns. */
export interface ConversationView extends Pick<ConversationState, 'id' | 'count' | 'isOpen'> {
  /** The newest turns, oldest first. */
  readonly recent: readonly TurnRecord[];
}

/** Where a message went. */
export interface SaidPlace {
  /** The number of the turn; absent: it has not been read, or so long ago that only events know it. */
  readonly turn?: TurnRecord;
  /** Whether the message was accepted: it waits, or it was read. */
  readonly isKnown: boolean;
}
