/** The results of tool calls and validators, between activities, the loop and the model. */
import type { Numbers } from './stats.ts';
import type { Json, JsonObject } from '../base/json.ts';
import type { ForkEffects, ForkOrigin } from '../base/fork.ts';
import type { FormattedSection, MediaPart } from '../base/message.ts';
import type { CallInput, CallResume } from './call-input.ts';
import type { GuardVerdict } from './judgement.ts';
import type { McpBinding } from './spec.ts';
import type { TokenUsage } from './model.ts';

/**
 * How a call ended. `ok` · `error`: the tool failed · `rejected`: unknown tool or unfit arguments,
 * it did not run · `denied`: by a person · `refused`: by a limit · `unknown`: it was interrupted and
 * may have taken effect · `canceled`: stopped while it ran.
 */
export type CallOutcome =
  'ok' | 'error' | 'rejected' | 'denied' | 'refused' | 'unknown' | 'canceled';

/** A model call that a tool or a validator made itself. */
export interface ReportedModelCall {
  /** Id of an entry, or another name of a model; a key of statistics. */
  readonly model: string;
  readonly usage: TokenUsage;
  readonly usageKnown: boolean;
  /** What of the report cannot be: its field and value. */
  readonly usageProblem?: string;
}

/** Changes of statistics that a user's tool, validator or loop reported. */
export type ReportedStats = Pick<Reports, 'counts' | 'gauges' | 'raised'>;

/** What makes an event a part of a page, and not only news. */
export interface EventPart {
  /** The part that it is: a later event of the same name and id takes its place. */
  readonly id?: string;
  /** The part belongs to the conversation: it is shown again when a page is loaded anew. */
  readonly keep?: true;
}

/** An event that a user's code has emitted. */
export interface ReportedEvent extends EventPart {
  readonly type: string;
  readonly data: Json;
}

/** Statistics and events that a user's tool, validator or loop reported. */
export interface Reports {
  /** Increments of counters, ≥ 0; keys contain `:` and begin with neither `agent:` nor `$self:`. */
  readonly counts?: { readonly [key: string]: number };
  /** New values of gauges by key. */
  readonly gauges?: { readonly [key: string]: number };
  /** What is added to gauges by key, after the new values. */
  readonly raised?: { readonly [key: string]: number };
  readonly events?: readonly ReportedEvent[];
  /** Its own model calls, in order; counted like those of the loop. */
  readonly modelCalls?: readonly ReportedModelCall[];
}

/**
 * How a call ended, from the attempt of its tool to the loop. What a tool ends never has the outcomes
 * `denied` and `refused`.
 */
export interface ToolResult extends Reports {
  readonly outcome: CallOutcome;
  /** Set if `ok` and something was returned: the value, or the shortened text of a long one. */
  readonly output?: Json;
  /** If `ok`: what the model reads in place of `output`. */
  readonly forModel?: Json;
  /** If `ok`: whether the output is the answer; absent: as the tool says. */
  readonly final?: boolean;
  /** Set unless `ok`: what the model reads, beginning with `Error: `. */
  readonly error?: string;
  /** For an `error` in a program: why. */
  readonly reason?: 'result_too_large';
  readonly media?: readonly MediaPart[];
  readonly instructions?: string;
  /** -10 to 10. */
  readonly importance?: number;
  /** Set when the text of the result was longer than the tool's `maxResultBytes`. */
  readonly cut?: { readonly shown: number; readonly total: number };
  /** Attempts of the tool, from 1. Those that ended because a worker was lost do not count. */
  readonly attempts: number;
  /** Attempts that ended because a worker was lost; absent: none. */
  readonly losses?: number;
  /** Whether `execute` began: a call that was canceled before that is not counted. */
  readonly started: boolean;
  /** If `ok`: the tool has begun outside work that is ended from outside. */
  readonly external?: ExternalWork;
  /** If `ok`: the tool, or its server, ends the call only with answers. */
  readonly input?: CallInput;
}

/** Work that ends outside the activity: a phone call, a build. */
export interface ExternalWork {
  /** For the person or system that ends it. */
  readonly details?: Json;
  /** Absent: there is no deadline. */
  readonly timeoutMs?: number;
}

/** A literal argument in a program: `path` leads to it in the arguments of `tool`. */
export interface ProgramLiteral {
  readonly tool: string;
  readonly path: readonly (string | number)[];
  readonly value: Json;
}

/** Arguments to check: those of calls that no tool activity runs, and those of a program. */
export interface LiteralsOrder {
  readonly agent: string;
  readonly calls: readonly { readonly tool: string; readonly args: JsonObject }[];
  readonly literals?: readonly ProgramLiteral[];
}

/** The verdict on the arguments of one call: the coerced arguments, or the text for the model. */
export type LiteralVerdict =
  | { readonly kind: 'fits'; readonly args: JsonObject }
  | { readonly kind: 'unfit'; readonly text: string };

/** The verdict on one literal of a program; empty if it fits. */
export interface LiteralFindings {
  readonly kind: 'literal';
  /** `path` starts at the literal; `message` continues the words `expects {path}`. */
  readonly findings: readonly {
    readonly path: readonly (string | number)[];
    readonly message: string;
  }[];
}

/**
 * What was tried before, in an order of a host that begins each attempt of a call itself. Absent in
 * the first attempt of a call.
 */
export interface EarlierTries {
  /** Attempts that have ended: what the provider, the tool or the validators tried. */
  readonly attemptsBefore?: number;
  /** Attempts that ended because a worker was lost. */
  readonly lossesBefore?: number;
  /** Those of the losses whose worker stopped in order and gave the call back; absent: none. */
  readonly givenBackBefore?: number;
  /** The workers that had died when an operator last had the call tried again; absent: none did. */
  readonly retriedAfter?: number;
}

/** Part of an order whose result may be large. */
export interface SizedOrder {
  /** The run has the limits of one with a blob store; see `SizeLimits`. Absent: it has not. */
  readonly blobs?: true;
}

/** The order to the tool activity. */
export interface ToolOrder extends EarlierTries, SizedOrder {
  readonly agent: string;
  readonly runId: string;
  /** Run id of the root of the tree; absent for a root. */
  readonly rootRunId?: string;
  /** The traceparent that the tree was started with; absent: none. */
  readonly traceparent?: string;
  readonly agentPath: string;
  readonly callId: string;
  readonly tool: string;
  readonly args: JsonObject;
  /** A program makes the call: a result that is too large is refused, not cut. */
  readonly inProgram?: true;
  /** The conversation that the root of the tree is a turn of; absent: none. */
  readonly conversation?: string;
  /** The tenant of the run; absent: it has none. */
  readonly tenant?: string;
  /** Who spoke to the run last; absent: nobody was named. */
  readonly by?: string;
  /** The user's gauges when the call began, at most 8 KB; absent: none. */
  readonly gauges?: { readonly [key: string]: number };
  /** True: the run has more gauges than that. */
  readonly isWithoutGauges?: true;
  /** True: the tool reads the context of the run, which the host has. */
  readonly readsContext?: true;
  /** For the approval of a tool that reads it: no query is answered while a local activity runs. */
  readonly context?: JsonObject;
  /** The tool is one of a server; absent: it is in the agent's definition. */
  readonly mcp?: McpBinding;
  /** True in a search of a run with stubs: its page needs the specifications of what it shows. */
  readonly findsStubs?: true;
  /**
   * Set for an attempt within a workflow task: the bytes of JSON that its result may have there. A call
   * of its own follows if it has more.
   */
  readonly localBytes?: number;
  /** The tool or its server has asked and was answered: the call goes on with this. */
  readonly resume?: CallResume;
  /** The tool only says whether it has a question; see `asks` of `ToolSpec`. */
  readonly asks?: true;
}

/** The order to `judgeAnswer`: the candidates of one reply, at most one order a reply. */
export interface JudgeOrder extends EarlierTries {
  readonly agent: string;
  readonly runId: string;
  /** The conversation that the root of the tree is a turn of; absent: none. */
  readonly conversation?: string;
  /** The tenant of the run; absent: it has none. */
  readonly tenant?: string;
  /** Who spoke to the run last; absent: nobody was named. */
  readonly by?: string;
  readonly agentPath: string;
  readonly iteration: number;
  /** The validators that the run began with, so that a missing one is reported. */
  readonly validators: readonly string[];
  /** Set for the answer of an LLM tool: its schema replaces that of the agent's answer. */
  readonly output?: { readonly tool: string; readonly schema: JsonObject };
  /** Texts, or values that were read from JSON, in the order of the answer blocks. */
  readonly answers: readonly Json[];
  /** Values of structured sections that carry a schema, in order of appearance. */
  readonly sections: readonly { readonly name: string; readonly value: Json }[];
  /** Set where guards look at a text, and nothing is judged: their names, in order. */
  readonly guarded?: { readonly text: string; readonly guards: readonly string[] };
}

/** The verdict on one candidate. Judging stops at the first that is not `unfit`. */
export type Verdict =
  | { readonly kind: 'unfit'; readonly problems: readonly string[] }
  | {
      readonly kind: 'rejected';
      readonly validator: string;
      /** Empty when the validator gave none. */
      readonly feedback: readonly FormattedSection[];
      /** The value that validators saw; absent if the check left the candidate unchanged. */
      readonly value?: Json;
    }
  /** `value` is absent if the check left the candidate unchanged. */
  | { readonly kind: 'accepted'; readonly value?: Json };

/** What `judgeAnswer` returns. */
export interface JudgeResult extends Reports {
  /** What guards said; absent: none was asked. */
  readonly guarded?: GuardVerdict;
  /** One for each candidate that was judged; candidates after a decisive one are not. */
  readonly verdicts: readonly Verdict[];
  /** For each section value: its problem lines (none if it fits) and its value after coercion. */
  readonly sections: readonly { readonly problems: readonly string[]; readonly value?: Json }[];
  /** The validators that ran, in order, over all candidates. */
  readonly validators: readonly { readonly validator: string; readonly accepted: boolean }[];
  readonly attempts: number;
  /** From the order to its end; the loop sets it. */
  readonly durationMs?: number;
}

/** The end of a call, whether by a tool, a person or a limit: its result, with what the loop knows of it. */
export interface CallEnd {
  readonly result: ToolResult;
  /** Milliseconds since 1970. */
  readonly endedAt: number;
  /** When the tool began, if later than the call because a person was asked first. */
  readonly startedAt?: number;
  /** The arguments with which a person replaced the model's. */
  readonly edited?: JsonObject;
  /** The result is that of an equal call of the source of this fork. */
  readonly reused?: true;
  /** A breach kept it from starting, so it has no event. */
  readonly isLeftOut?: true;
  /** Its events are recorded; its result waits for the results before it. */
  readonly isRecorded?: true;
  /** In how many replies in a row it had this result; absent: one, or it is not counted. */
  readonly repeats?: number;
}

/** The end of a call that did not start. */
export function unstarted(outcome: CallOutcome, error: string, endedAt: number): CallEnd {
  return { result: { outcome, error, attempts: 0, started: false }, endedAt };
}

/** What the state of a fork keeps of its source. */
export interface ForkState {
  readonly origin: ForkOrigin;
  /** Events and entries of the source before the moment; the fork's own go on from there. */
  readonly events: number;
  readonly entries: number;
  /**
   * What the source had counted, if the statistics of the fork go on from there. The ledger of its
   * tenant counts without it. Absent: they begin at 0, or the fork is a child.
   */
  readonly kept?: Numbers;
  /** Absent: calls run. */
  readonly effects?: Exclude<ForkEffects, 'run'>;
  /** Calls that the source made after the moment and the fork has not made again, oldest first. */
  readonly recorded?: readonly RecordedResult[];
}

/** A call of the source and how it ended. */
export interface RecordedResult {
  readonly callId: string;
  /** The tool and its arguments, whatever the order of their keys. */
  readonly key: string;
  readonly result: ToolResult;
  /** The arguments with which a person replaced those of the model. */
  readonly edited?: JsonObject;
}

/** What the reads beside one reply may use together. */
export const READ_BOUNDS = {
  calls: 8,
  /** The time in which at least one of them is open. */
  ms: 2_000,
  /** JSON of their results. */
  bytes: 131_072,
} as const;

/** The reads that may run beside a reply, within the limits of the run. */
export interface ReadsOrder extends Pick<ToolOrder, 'conversation' | 'gauges' | 'isWithoutGauges'> {
  /** How many calls in all. */
  readonly calls: number;
  /** How many calls of each tool. */
  readonly tools: { readonly [name: string]: number };
}

/** A read that began beside a reply. */
export interface BesideRead {
  /** Its place among the calls of the reply, from 1. */
  readonly index: number;
  readonly tool: string;
  readonly args: JsonObject;
  /** If `again` is set, how the call counts if its reply is thrown away. */
  readonly result: ToolResult;
  readonly durationMs: number;
  /**
   * Absent: the call has ended. `stopped`: the bounds ended it, which is no attempt. `failed`: the tool
   * threw and has attempts left.
   */
  readonly again?: 'stopped' | 'failed';
}
