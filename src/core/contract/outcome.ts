/** What became of a tool call, as plain data between the tool activity, the loop and the model. */
import type { Json, JsonObject } from '../base/json.ts';
import type { FormattedSection, MediaPart } from '../base/message.ts';
import type { TokenUsage } from './model.ts';

/**
 * How a call ended. `ok` · `error`: the tool failed · `rejected`: unknown tool or unfit arguments,
 * it did not run · `denied`: by a person · `refused`: by a limit · `unknown`: a `once` tool was cut
 * off and may have taken effect · `canceled`: stopped while it ran.
 */
export type CallOutcome =
  'ok' | 'error' | 'rejected' | 'denied' | 'refused' | 'unknown' | 'canceled';

/** A model call that a tool or a validator made by itself. */
export interface ReportedModelCall {
  /** Id of an entry, or another name of a model; a key of statistics. */
  readonly model: string;
  readonly usage: TokenUsage;
  readonly usageKnown: boolean;
}

/** Statistics and events of a user's own that a tool, a validator or a loop reported. */
export interface Reports {
  /** Steps of counters, ≥ 0, by key; keys contain `:` and start with neither `agent:` nor `$self:`. */
  readonly counts?: { readonly [key: string]: number };
  /** New values of gauges by key. */
  readonly gauges?: { readonly [key: string]: number };
  readonly events?: readonly { readonly type: string; readonly data: Json }[];
  /** Model calls of its own, in order; counted like those of the loop. */
  readonly modelCalls?: readonly ReportedModelCall[];
}

/** What the tool activity returns. */
export interface ToolResult extends Reports {
  readonly outcome: 'ok' | 'error' | 'rejected' | 'unknown' | 'canceled';
  /** Of an `ok` call; absent when the tool returned nothing. A cut result is its cut text. */
  readonly output?: Json;
  /** Of any other outcome: what the model reads, beginning with `Error: `. */
  readonly error?: string;
  /** Of an `error` in a program: more than the outcome says. */
  readonly reason?: 'result_too_large';
  readonly media?: readonly MediaPart[];
  readonly instructions?: string;
  /** -10 to 10. */
  readonly importance?: number;
  /** Set when the text of the result was longer than the tool's `maxResultBytes`. */
  readonly cut?: { readonly shown: number; readonly total: number };
  /** Tries of the activity, from 1. */
  readonly attempts: number;
  /** Whether `execute` began: a call that was canceled before is not counted. */
  readonly started: boolean;
  /** Of an `ok` call: the tool has begun work outside, whose end somebody else will tell. */
  readonly external?: ExternalWork;
}

/** Work outside: a phone call, a build. */
export interface ExternalWork {
  /** For the one who ends it. */
  readonly details?: Json;
  /** Absent: it may take as long as it takes. */
  readonly timeoutMs?: number;
}

/** An argument that stands in a program as it is: `path` leads to it in the arguments of `tool`. */
export interface ProgramLiteral {
  readonly tool: string;
  readonly path: readonly (string | number)[];
  readonly value: Json;
}

/** Which arguments are to be checked: those of calls that no tool activity runs, and those of a program. */
export interface LiteralsOrder {
  readonly agent: string;
  readonly calls: readonly { readonly tool: string; readonly args: JsonObject }[];
  readonly literals?: readonly ProgramLiteral[];
}

/** What the check says of the arguments of one call: as they arrive, or what the model reads. */
export type LiteralVerdict =
  | { readonly kind: 'fits'; readonly args: JsonObject }
  | { readonly kind: 'unfit'; readonly text: string };

/** What the check says of one literal of a program; nothing: it fits. */
export interface LiteralFindings {
  readonly kind: 'literal';
  /** `path` leads from the literal on; `message` follows on the words `expects {path}`. */
  readonly findings: readonly {
    readonly path: readonly (string | number)[];
    readonly message: string;
  }[];
}

/** What the tool activity is asked to do. */
export interface ToolOrder {
  readonly agent: string;
  readonly runId: string;
  readonly agentPath: string;
  readonly callId: string;
  readonly tool: string;
  readonly args: JsonObject;
  /** A program makes the call: half a JSON value is none, so one that is too large is refused. */
  readonly inProgram?: true;
}

/** What `judgeAnswer` is asked to look at: the candidates of one reply, at most one order a reply. */
export interface JudgeOrder {
  readonly agent: string;
  readonly runId: string;
  readonly agentPath: string;
  readonly iteration: number;
  /** Names of the validators that the run began with: a worker of a changed fleet lacks none unheard. */
  readonly validators: readonly string[];
  /** Set when the answer of an LLM tool is judged: its schema stands in for that of the agent's answer. */
  readonly output?: { readonly tool: string; readonly schema: JsonObject };
  /** Texts, or values that were read from JSON, in the order of the answer blocks. */
  readonly answers: readonly Json[];
  /** Values of structured sections that carry a schema, in order of appearance. */
  readonly sections: readonly { readonly name: string; readonly value: Json }[];
}

/** What one candidate came to. Judging stops at the first that is not `unfit`. */
export type Verdict =
  | { readonly kind: 'unfit'; readonly problems: readonly string[] }
  | {
      readonly kind: 'rejected';
      readonly validator: string;
      /** Empty when the validator gave none. */
      readonly feedback: readonly FormattedSection[];
      /** What validators saw; absent when the check left the candidate as it was. */
      readonly value?: Json;
    }
  /** `value` is absent when the check left the candidate as it was. */
  | { readonly kind: 'accepted'; readonly value?: Json };

/** What `judgeAnswer` returns. */
export interface JudgeResult extends Reports {
  /** One for each candidate looked at; candidates behind a decisive one are not. */
  readonly verdicts: readonly Verdict[];
  /** One for each section value: its problem lines (none: it fits) and its value after coercion. */
  readonly sections: readonly { readonly problems: readonly string[]; readonly value?: Json }[];
  /** The validators that ran, in order, over all candidates. */
  readonly validators: readonly { readonly validator: string; readonly accepted: boolean }[];
  readonly attempts: number;
}
