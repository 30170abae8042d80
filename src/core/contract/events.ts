/**
 * The closed union of events. Each event is recorded once: it changes the state and statistics and
 * is published, and then the limits are checked. Events carry counts, never copies of the
 * conversation, because a copy per change would make the history grow quadratically.
 */
import type { StrategySpec } from './compaction.ts';
import type { FailedAttempt } from './host-outcome.ts';
import type { Json } from '../base/json.ts';
import type { Breach, Limit, UnknownUsage } from './limit.ts';
import type { ApprovalScope } from './pending.ts';
import type {
  EstimatedUsage,
  FinishReason,
  Mode,
  ModelPurpose,
  OutputStrategy,
  TokenUsage,
} from './model.ts';
import type { ReplyProblem, ProblemFamily } from '../base/problem.ts';
import type { Numbers } from './stats.ts';
import type { CallOutcome, EventPart, Reports } from './outcome.ts';
import type { ProgramOutcome, ProgramProgress } from './report.ts';
import type { Deadline, LeaseAnswer, LeaseReturn } from './lease.ts';
import type { Step, StepSource, StepStatus } from './step.ts';
import type { TraceInput } from '../base/traceparent.ts';

/** What every event has. */
export interface EventBase {
  /** Counts events from 1 over the whole chain of a run. */
  readonly seq: number;
  readonly runId: string;
  readonly agent: string;
  /** `planner/2/writer`: writer, started in planner's iteration 2. */
  readonly agentPath: string;
  /** Milliseconds since 1970, workflow time. */
  readonly at: number;
  /** 0 before the first iteration. */
  readonly iteration: number;
  /** 0 for a root. */
  readonly depth: number;
}

/** How an iteration ended. */
export type IterationOutcome = 'continue' | 'end' | 'interrupted' | 'failed';

/** How an input reaches a live run. */
export type InputKind = 'queue' | 'steer' | 'interrupt';

/** The types of events and their fields, except user events. */
export type EventBody =
  /** A run begins; the first event of its chain. `defaultLimits`: the limit on cost, if nobody set it. */
  | {
      readonly type: 'agent:execution:before';
      readonly mode: Mode;
      /** All limits that it begins with. */
      readonly limits: readonly Limit[];
      readonly defaultLimits?: readonly Limit[];
    }
  /** A run has ended; the last event of its chain. */
  | {
      readonly type: 'agent:execution:after';
      readonly status: StepStatus;
      readonly reason: string;
      readonly exceededLimit?: Breach;
      /** Who canceled the run, as the sender states it; no proof. */
      readonly by?: string;
    }
  /** A message begins turn `turn` of a conversation; the run goes on until it is closed. */
  | {
      readonly type: 'agent:turn:before';
      readonly turn: number;
      readonly messageId: string;
      /** All limits that it begins with. */
      readonly limits: readonly Limit[];
      /** The message that it replaces: turns from the one on that it began are replaced. */
      readonly instead?: string;
      /** Who says it, as the sender states it; no proof. */
      readonly by?: string;
    }
  /** A turn of a conversation has ended; the conversation waits for the next message. */
  | { readonly type: 'agent:turn:after'; readonly turn: number; readonly step: Step }
  /** Link `run` of the chain hands over to the next. */
  | { readonly type: 'agent:execution:handover'; readonly run: number }
  /** An iteration begins; `iteration` counts it already. */
  | { readonly type: 'agent:iteration:before' }
  /** An iteration has ended. */
  | {
      readonly type: 'agent:iteration:after';
      readonly outcome: IterationOutcome;
      readonly durationMs: number;
    }
  /** A model is asked; `messages` is the length of the transcript that it gets. */
  | {
      readonly type: 'agent:model_call:before';
      readonly model: string;
      readonly purpose: ModelPurpose;
      readonly messages: number;
      /** A custom loop asks with messages of its own. */
      readonly own?: true;
      /** The call of the LLM tool that asks. */
      readonly callId?: string;
    }
  /**
   * An attempt of a model call failed, and another follows. The last failure of a call is in
   * `agent:model_call:after`.
   */
  | ({
      readonly type: 'agent:model_attempt_failed';
      readonly model: string;
      readonly purpose: ModelPurpose;
      /** The call of the LLM tool that asks. */
      readonly callId?: string;
    } & FailedAttempt)
  /** A model call has ended after all its attempts, or a tool or a validator has reported one. */
  | {
      readonly type: 'agent:model_call:after';
      readonly model: string;
      readonly purpose: ModelPurpose;
      /** `seq` of its `agent:model_call:before`; absent in reports of tools and validators. */
      readonly began?: number;
      readonly usage: TokenUsage;
      readonly usageKnown: boolean;
      /**
       * What nobody reported, by estimate: of attempts that died with their worker, and of a reply
       * with `unreported: 'estimate'`.
       */
      readonly estimated?: EstimatedUsage;
      /** Set when the reply has no usage, but a limit needs it: what the limit says. */
      readonly unreported?: UnknownUsage;
      /** How often the provider ran its own tools, by name. Absent: not at all. */
      readonly hosted?: Numbers;
      /** How many of these calls are in no price. Absent: none. */
      readonly unpricedCalls?: number;
      /** What the reply names as sources, the first 50. Absent: none. */
      readonly sources?: readonly StepSource[];
      /** Absent if the call failed or was aborted, and in reports of tools and validators. */
      readonly finishReason?: FinishReason;
      readonly attempts: number;
      /** Attempts that ended because a worker was lost; they are not in `attempts`. */
      readonly losses?: number;
      readonly durationMs: number;
      /**
       * From the request of the last attempt to the first piece of its reply, by the clock of its
       * worker. Absent without a reply.
       */
      readonly firstTokenMs?: number;
      readonly error?: { readonly code: string; readonly message: string };
      readonly own?: true;
      readonly callId?: string;
    }
  /**
   * A provider refused or ignored the way in which output was requested; from now on a simpler way is used.
   */
  | {
      readonly type: 'agent:structured_output_downgraded';
      readonly model: string;
      readonly from: OutputStrategy;
      readonly to: OutputStrategy;
    }
  /** A person chose the model that is asked first from now on. */
  | { readonly type: 'agent:model_changed'; readonly model: string }
  /** A reply was read. */
  | {
      readonly type: 'agent:turn:read';
      readonly kind: 'calls' | 'program' | 'answer' | 'malformed';
      /**
       * Set if the reply is malformed. `format` also if it has no sections and is judged as a
       * whole.
       */
      readonly family?: ProblemFamily;
      /** Number of blocks by section name. */
      readonly blocks: { readonly [name: string]: number };
      readonly discardedAnswer?: true;
      /** The text around a program; at most 2 KB. */
      readonly reasoning?: string;
    }
  /** A structured section of a reply was read and checked. */
  | { readonly type: 'agent:section:read'; readonly name: string }
  /** A reply, or a part of it, could not be read; the model gets feedback. */
  | {
      readonly type: 'agent:parse_error';
      readonly family: ProblemFamily;
      readonly problems: readonly ReplyProblem[];
      /** At most 2 KB of the text that could not be read. */
      readonly raw: string;
    }
  /** A tool is called; arguments are cut. */
  | {
      readonly type: 'agent:tool_call:before';
      readonly callId: string;
      readonly tool: string;
      readonly args: Json;
      /** The server whose tool it is, and the server's name of the tool. */
      readonly mcp?: { readonly server: string; readonly tool: string };
    }
  /** A call has ended, or was not started; arguments and output are cut. */
  | ({
      readonly type: 'agent:tool_call:after';
      readonly callId: string;
      /** `(unknown)` when the agent has no such tool. */
      readonly tool: string;
      readonly args: Json;
      readonly outcome: CallOutcome;
      /** Whether the tool began to run, so that the call counts. */
      readonly started: boolean;
      readonly output?: Json;
      readonly error?: string;
      readonly attempts: number;
      /** Attempts that ended because a worker was lost; they are not in `attempts`. */
      readonly losses?: number;
      readonly durationMs: number;
      readonly cut?: { readonly shown: number; readonly total: number };
      /** The media types of the files that it returned; the entry of the iteration has the files. */
      readonly media?: readonly string[];
      /** The result is that of an earlier, equal call: the tool did not run again. */
      readonly cached?: true;
      /** The result is that of an equal call of the source of this fork: the tool did not run. */
      readonly reused?: true;
      /** A program made the call and handles its failure. */
      readonly inProgram?: true;
      /** In how many replies in a row it came with the same arguments and result; absent: one. */
      readonly repeats?: number;
      /** The server whose tool it is, and the server's name of the tool. */
      readonly mcp?: { readonly server: string; readonly tool: string };
    } & Pick<Reports, 'counts' | 'gauges' | 'raised'>)
  /** A program is read, checked and run; its source is cut to 2 KB. */
  | {
      readonly type: 'agent:program:before';
      readonly programId: string;
      readonly source: string;
    }
  /** A program has ended, or a limit refused it before it began. */
  | {
      readonly type: 'agent:program:after';
      readonly programId: string;
      readonly outcome: ProgramOutcome | 'canceled' | 'refused';
      /** Fuel used. */
      readonly steps: number;
      /** Calls and questions that it made. */
      readonly calls: number;
      /** Since it began, waits included; absent if it was refused. */
      readonly durationMs?: number;
      /** The message is cut to 2 KB. */
      readonly error?: { readonly reason: string; readonly message: string };
      /** Absent if it did not begin. */
      readonly progress?: ProgramProgress;
    }
  /** A run of `childAgent` was started for call `callId`; `childId` is its address. */
  | {
      readonly type: 'agent:child:spawn';
      readonly childId: string;
      readonly childAgent: string;
      readonly callId: string;
    }
  /**
   * A child reports what it and its descendants have spent; the highest `number` counts. `added` is
   * the part that is new.
   */
  | {
      readonly type: 'agent:child:report';
      readonly childId: string;
      readonly number: number;
      readonly totals: Numbers;
      readonly added: Numbers;
      /** What it keeps of recalled leases. */
      readonly returned?: readonly LeaseReturn[];
      /** Its last report: it ends without a Step. */
      readonly final?: true;
    }
  /**
   * A child's request for more budget was answered, or its leases were recalled; `number` is that
   * of its newest request.
   */
  | {
      readonly type: 'agent:child:granted';
      readonly childId: string;
      readonly number: number;
      readonly leases: readonly LeaseAnswer[];
    }
  /**
   * A child has ended; its totals include its descendants. One that died without a last report is
   * charged.
   */
  | {
      readonly type: 'agent:child:complete';
      readonly childId: string;
      readonly status: StepStatus;
      readonly reason: string;
      readonly totals: Numbers;
      readonly added: Numbers;
      readonly durationMs: number;
      /** It ended without a report, so what was reserved for it counts as spent. */
      readonly charged?: true;
    }
  /** The parent was asked for more of these leases. */
  | { readonly type: 'agent:lease:asked'; readonly wants: readonly string[] }
  /** The parent has answered request `number`. */
  | {
      readonly type: 'agent:lease:answered';
      readonly number: number;
      readonly leases: readonly LeaseAnswer[];
    }
  /** A wall-clock limit of an ancestor was changed; `deadlines` lists all that now apply. */
  | {
      readonly type: 'agent:deadlines:changed';
      readonly number: number;
      readonly deadlines: readonly Deadline[];
    }
  /** A person is asked; `text` is the question, cut to 2 KB. */
  | { readonly type: 'agent:question:asked'; readonly questionId: string; readonly text: string }
  /** A person has answered, or the deadline has passed. */
  | {
      readonly type: 'agent:question:answered';
      readonly questionId: string;
      /** The call of `ask_user` that asked; absent if a program or a loop did. */
      readonly callId?: string;
      readonly waitedMs?: number;
      readonly timedOut?: true;
      /** The program that asked no longer needs the answer. */
      readonly withdrawn?: true;
      /** Who answered, as the sender states it; no proof. */
      readonly by?: string;
    }
  /** A person is to decide about a call before it runs; arguments are cut. */
  | {
      readonly type: 'agent:approval:requested';
      readonly callId: string;
      readonly tool: string;
      readonly args: Json;
    }
  /** A person has decided, or the deadline has passed, which is a `deny`. */
  | {
      readonly type: 'agent:approval:decided';
      readonly callId: string;
      readonly decision: 'approve' | 'deny' | 'edit';
      readonly reason?: string;
      /** Absent if nobody was asked. */
      readonly waitedMs?: number;
      /** From now on the approval holds for these calls too. */
      readonly remember?: ApprovalScope;
      /** Nobody was asked: an approval holds that was given for this earlier call. */
      readonly standing?: string;
      /** Who decided, as the sender states it; no proof. */
      readonly by?: string;
    }
  /** The approval that was given for this call holds for no later one any more. */
  | { readonly type: 'agent:approval:revoked'; readonly callId: string; readonly by?: string }
  /** A tool has begun outside work. */
  | { readonly type: 'agent:external:begun'; readonly callId: string; readonly tool: string }
  /** The outside work has ended: `error` if the deadline has passed. */
  | {
      readonly type: 'agent:external:ended';
      readonly callId: string;
      readonly outcome: 'ok' | 'error' | 'canceled';
      readonly waitedMs?: number;
      /** Who ended it, as the sender states it; no proof. */
      readonly by?: string;
    }
  /** From now on the run waits only for people and outside work. */
  | { readonly type: 'agent:waiting' }
  /** A validator judges an answer: the text, or the checked value; cut when it is long. */
  | { readonly type: 'agent:validator:called'; readonly validator: string; readonly answer: Json }
  /** A validator's verdict. */
  | {
      readonly type: 'agent:validator:result';
      readonly validator: string;
      readonly accepted: boolean;
      readonly feedback?: string;
    }
  /** The verdict of schema and validators on an answer. */
  | ({
      readonly type: 'agent:answer:judged';
      readonly outcome: 'unfit' | 'rejected' | 'accepted';
      /** Absent if nothing on a worker was asked. */
      readonly durationMs?: number;
    } & Pick<Reports, 'counts' | 'gauges' | 'raised'>)
  /** An input was accepted. */
  | {
      readonly type: 'agent:input';
      readonly inputId: string;
      readonly kind: InputKind;
      readonly position: number;
      /** Who sent it, as the sender states it; no proof. */
      readonly by?: string;
    }
  /** The limits were changed. */
  | { readonly type: 'agent:adjusted'; readonly limits: readonly Limit[]; readonly by?: string }
  /** The run is paused until it is resumed. */
  | { readonly type: 'agent:paused'; readonly by?: string }
  /** The run continues. */
  | { readonly type: 'agent:resumed'; readonly waitedMs?: number; readonly by?: string }
  /** An entry was appended to the history; `index` is its place in the chain. */
  | { readonly type: 'agent:iteration_history:change'; readonly index: number }
  /** What the next model call sees has changed. */
  | {
      readonly type: 'agent:scratchpad:change';
      readonly epoch: number;
      readonly lengthBefore: number;
      readonly lengthAfter: number;
      readonly added: number;
      readonly removed: number;
    }
  /** A strategy made the scratchpad shorter; tokens are estimates of the next request. */
  | {
      readonly type: 'agent:compaction';
      readonly strategy: StrategySpec['kind'];
      readonly lengthBefore: number;
      readonly lengthAfter: number;
      readonly tokensBefore: number;
      readonly tokensAfter: number;
      /** The epoch that it began. */
      readonly epoch: number;
      readonly durationMs: number;
    }
  /** A custom loop replaced its own data; `bytes` is its size as JSON. */
  | { readonly type: 'agent:data:change'; readonly bytes: number }
  /** A limit was crossed, or would have been by the next piece of work. */
  | ({ readonly type: 'agent:limit_exceeded' } & Breach)
  /** Why the run fails, in the words of its Step; comes before `execution:after`. */
  | { readonly type: 'agent:error'; readonly message: string }
  /** Something is unusual, and the run continues. */
  | { readonly type: 'agent:warning'; readonly code: string; readonly message: string };

/**
 * The type of a user event: its name, which contains `:` and starts with neither `agent:` nor
 * `$self:`. To the compiler it is a member of an enumeration without values. If it were a plain
 * string, `switch (event.type)` could not tell the other events apart.
 */
export declare enum OwnEventType {
  name = '{name}:{of its own}',
}

/** An event or a change of statistics that a user's loop, tool or validator emits. */
export interface OwnEventBody extends EventPart, Pick<Reports, 'counts' | 'gauges' | 'raised'> {
  readonly type: OwnEventType;
  /** At most 16 KB; null if it only moves statistics. */
  readonly data: Json;
  /** The call of the tool that emitted it; absent for a validator and a loop. */
  readonly callId?: string;
}

/** One event as it is published. */
export type AgentEvent = EventBase & (EventBody | OwnEventBody);

/** The `type` of an event, except user events. */
export type EventType = EventBody['type'];

/** One user event as it is published. */
export type OwnEvent = EventBase & OwnEventBody;

/** Whether `event` is a user event and, if `type` is given, has that type. */
export function isOwnEvent(event: AgentEvent, type?: string): event is OwnEvent {
  const name: string = event.type;
  return !name.startsWith('agent:') && (type === undefined || name === type);
}

/** Where a run stands, sent to workers beside its events. It is in no history. */
export interface EventPlace {
  readonly workflowId: string;
  /** Number of the link of the chain, from 1. */
  readonly link: number;
  readonly rootRunId: string;
  /** Workflow id of the root of the tree. */
  readonly rootWorkflowId: string;
  /** The conversation that the root is a turn of; absent: none. */
  readonly conversation?: string;
  /** What the root was started with; absent: nothing. */
  readonly trace?: TraceInput;
  /** Whose run it is; absent: it has no tenant. */
  readonly tenant?: string;
  /** The call or the iteration of the parent that started the run; absent for a root. */
  readonly parent?: {
    readonly runId: string;
    /** Absent: a loop started it in its iteration, without a tool call. */
    readonly callId?: string;
    readonly iteration: number;
  };
  /** A pipeline and a fan-out are workflows of agents. */
  readonly kind: 'agent' | 'workflow';
  /** When the run began, in milliseconds since 1970. */
  readonly startedAt: number;
  /** When the link began. */
  readonly linkStartedAt: number;
  /** Events and bytes of the link's history so far. */
  readonly historyEvents: number;
  readonly historyBytes: number;
}
