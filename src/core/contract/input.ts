/** The payload that starts the workflow `agent`. */
import type { ForkInput } from '../base/fork.ts';
import type { Json, JsonObject } from '../base/json.ts';
import type { OnEventInput } from './callback.ts';
import type { Limit, UnknownUsage } from './limit.ts';
import type { CallSettings, ToolChoice } from './model.ts';
import type { Message, Task } from '../base/message.ts';
import type { Step, StepMemory, StepSchedule, StepStatus, Usage } from './step.ts';
import type { ParentLink } from './lease.ts';
import type { TraceInput } from '../base/traceparent.ts';

/** One turn of an earlier conversation. */
export interface HistoryTurn {
  readonly role: 'user' | 'assistant';
  readonly text: string;
}

/**
 * Limits as a user writes them. `'unlimited'` or null lifts the limit, also a default one;
 * `'unlimited'` in place of the object lifts all.
 */
export type LimitsInput =
  | 'unlimited'
  | {
      readonly iterations?: number | 'unlimited' | null;
      readonly inputTokens?: number | 'unlimited' | null;
      readonly outputTokens?: number | 'unlimited' | null;
      readonly totalTokens?: number | 'unlimited' | null;
      readonly modelCalls?: number | 'unlimited' | null;
      readonly toolCalls?: number | 'unlimited' | null;
      readonly programSteps?: number | 'unlimited' | null;
      readonly children?: number | 'unlimited' | null;
      readonly questions?: number | 'unlimited' | null;
      /** US dollars; kept as integer micro-dollars. */
      readonly costUsd?: number | 'unlimited' | null;
      /** Milliseconds since the run began, waits included. */
      readonly wallClockMs?: number | 'unlimited' | null;
      /** Milliseconds without pauses and waits for people. */
      readonly activeMs?: number | 'unlimited' | null;
      readonly depth?: number | 'unlimited' | null;
      readonly custom?: readonly Limit[];
      /**
       * What a reply does whose provider reports no usage, for all limits on tokens and cost:
       * `estimate` (default) counts bytes over 4, `warn` counts nothing and warns once, `end` ends
       * the run as `limit_exceeded`.
       */
      readonly onUnknownUsage?: UnknownUsage;
    };

/** What a schedule writes into the starts of its runs. */
export interface ScheduleMark {
  /** IANA name; the date that the agent reads is that of this zone. */
  readonly timeZone: string;
  /** True: the run learns how the one before it ended. */
  readonly previous?: true;
  /** New with each change of the schedule, so that its writer sees whether the change was kept. */
  readonly revision: string;
}

/** How the run before ended, as the agent reads it. */
export interface PreviousRun {
  readonly status: StepStatus;
  /** Its answer; null unless `status` is `success`. */
  readonly value: Json;
  readonly reason: string;
  /** ISO time; null if the run did not say it. */
  readonly endedAt: string | null;
}

/** What the service says of a scheduled run. */
export interface ScheduledStart extends Pick<StepSchedule, 'id' | 'time'> {
  readonly timeZone: string;
  /** Null: no run before it has ended. Absent: the schedule does not ask for it. */
  readonly previous?: PreviousRun | null;
}

/** Set in the start of a conversation. */
export interface ConversationStart {
  /** How long it waits for a message, in milliseconds. Default 30 days. */
  readonly idleMs?: number;
  /** The execution of the same conversation that ended before, and from whose end this one goes on. */
  readonly after?: string;
  /** What was said elsewhere before; the transcript begins with it. */
  readonly messages?: readonly Message[];
}

/** The payload that starts a run. */
export interface AgentInput {
  readonly v: 1;
  readonly agent: string;
  /** Whose run it is; its id begins with `{tenant}:`. A child run has its parent's. */
  readonly tenant?: string;
  readonly task: Task;
  /** Named data, or the Step of an earlier run. */
  readonly context?: JsonObject | Step;
  /** Descriptions of keys of the context; those that come with a Step take precedence. */
  readonly contextDescriptions?: { readonly [name: string]: string };
  /** Earlier conversation, oldest first. Only the modes `react` and `chat` show it to the model. */
  readonly history?: readonly HistoryTurn[];
  /** The id of the conversation that the run is a turn of, at most 1,000 bytes; for its tools. */
  readonly conversation?: string;
  /**
   * The id of the message that began this turn of a conversation, at most 1,000 bytes: the same
   * message, sent again, finds its turn by it.
   */
  readonly messageId?: string;
  /** Who starts the run, 1 to 200 characters: a statement of the sender, for functions of the agent. */
  readonly by?: string;
  /** Where the trace of the run belongs, and what its spans carry; at most 1 KB as JSON. */
  readonly trace?: TraceInput;
  /** Replaces the agent's limits on the same keys. */
  readonly limits?: LimitsInput;
  /** Id of a model entry that replaces the agent's own. */
  readonly model?: string;
  /** Of its model calls; they replace those of the agent. At most 16 KB, without keys. */
  readonly settings?: CallSettings;
  /** Replaces the agent's. */
  readonly toolChoice?: ToolChoice;
  /** The definitions that the programs of an earlier run left: its Step's `memory`. */
  readonly memory?: StepMemory;
  /** Callbacks beside those of the definition; a child run gets its parent's. */
  readonly onEvent?: OnEventInput;
  /** Set by a parent run; ignored in any other start. */
  readonly parent?: ParentLink;
  /** Set by a schedule that starts the run; it has no effect in any other start. */
  readonly schedule?: ScheduleMark;
  /** Set by the workflow of a scheduled run; removed from any start. */
  readonly scheduled?: ScheduledStart;
  /** The program to run instead of those of a model. */
  readonly compiled?: CompiledAgent;
  /** Set for a fork: the moment of another run at which it begins, and how it differs. */
  readonly fork?: ForkInput;
  /** True: the run is started to get its program, so an agent without programs is refused. */
  readonly compiles?: true;
  /** Set for a conversation: its messages, which come apart, say what to do. */
  readonly converses?: ConversationStart;
}

/** A program that answered once, version 1. Plain JSON, to be kept in a file. */
export interface CompiledAgent {
  readonly v: 1;
  readonly agent: string;
  /** The program whose answer was accepted. */
  readonly source: string;
  /** Id of the whole text that runs: the definitions, then `source`. */
  readonly codeId: string;
  /** The printed signature of the agent; null if it has none. */
  readonly signature: string | null;
  /** Names of the tools that it calls, with `_` for `-`, in order of first mention. */
  readonly tools: readonly string[];
  /** Forms of earlier programs whose names it uses, in the order in which they ran. */
  readonly definitions: readonly { readonly name: string; readonly source: string }[];
  /** Id of the model that wrote it. */
  readonly model: string;
  /** The cost of writing it. */
  readonly usage: Usage;
}
