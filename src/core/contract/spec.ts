/**
 * An agent as plain data: the parts of an agent definition that a run needs. It is recorded once,
 * when the run starts, so a live run keeps it. Functions (tools, validators, dynamic
 * instructions) stay on the worker and are called by name through activities.
 */
import type { Limits } from '../../lisp.ts';
import type { CallbackSpec } from './callback.ts';
import type { CompactionSpec } from './compaction.ts';
import type { Json, JsonObject } from '../base/json.ts';
import type { Limit, UnknownUsage } from './limit.ts';
import type { Message } from '../base/message.ts';
import type { CallSettings, HostedTool, Mode, OutputStrategy, Price, ToolChoice } from './model.ts';
import type { SignatureField, SignatureType } from './signature.ts';

/** Text, or a mark that a function on the worker writes the text for each request. */
export type TextSource =
  { readonly kind: 'text'; readonly text: string } | { readonly kind: 'function' };

/** A tool's effect on the world, which decides whether it may run again. */
export type ToolEffect = 'read' | 'idempotent' | 'once';

/** How failed tool calls are retried. */
export interface RetrySpec {
  /** Attempts, including the first. */
  readonly attempts: number;
  readonly initialMs: number;
  readonly factor: number;
}

/** The place of a tool in the overview of an agent with tool search. */
export interface ToolArea {
  readonly domain?: string;
  readonly categories?: readonly string[];
}

/** The agent that a tool starts as a child run. */
export interface AgentToolSpec {
  readonly agent: string;
  /** Id of a model entry that replaces the agent's own. */
  readonly model?: string;
}

/**
 * A tool that asks a model within the calling run, by the rules of mode `json`, or of `text` if it
 * has no `output`.
 */
export interface LlmToolSpec {
  /** Template for the arguments. Absent: prompt, signature and model are arguments. */
  readonly prompt?: string;
  /** The types of the arguments, for coercion. */
  readonly params: readonly SignatureField[];
  /** The requested type and its full JSON Schema; absent: text. */
  readonly output?: { readonly type: SignatureType; readonly schema: JsonObject };
  /** Id of a model entry; absent: that of the run. */
  readonly model?: string;
  /** Replies that it may take: the first one and its repairs. */
  readonly maxTurns: number;
}

/** A tool as plain data. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly policy?: string;
  /** JSON Schema of an object, keys in the author's order; null when the tool takes nothing. */
  readonly parameters: JsonObject | null;
  readonly effect: ToolEffect;
  /** True: each call runs as a local activity. */
  readonly local: boolean;
  /** True: calls run as local activities once the worker's figures say that the tool is quick. */
  readonly auto?: true;
  readonly timeoutMs: number;
  readonly retry: RetrySpec;
  readonly sequential: boolean;
  readonly maxResultBytes: number;
  /**
   * Where calls run, if not in the worker's own thread. Such a call may wait for a free thread or
   * process, as long as it may run.
   */
  readonly isolate?: 'thread' | 'process';
  /** JSON Schema of the output, for programs; not checked. */
  readonly output?: JsonObject;
  /** True: successful results are kept for equal calls of the run. */
  readonly cache?: true;
  /** True: equal calls with equal results are no sign that the model goes in circles. */
  readonly repeatable?: true;
  /** True: the result of a call is the answer of the run. */
  readonly final?: true;
  /** True: calls get the context of the run. */
  readonly readsContext?: true;
  /** True: before a call begins, a function of the tool says what people must be asked first. */
  readonly asks?: true;
  /** Which calls a person must approve: all, or those a function picks. Absent: none. */
  readonly approval?: 'always' | 'function';
  /** The time to decide, after which the call is denied. Absent: no deadline. */
  readonly approvalTimeoutMs?: number;
  /** Set if calls are child runs; then no tool activity runs them. */
  readonly agent?: AgentToolSpec;
  /** The overview is made from this; keywords and queries stay on the worker. */
  readonly area?: ToolArea;
  /** Set if a model does the work; then no tool activity runs it. */
  readonly llm?: LlmToolSpec;
  /** Set if a server of the Model Context Protocol does the work. */
  readonly mcp?: McpBinding;
}

/**
 * A tool of a server as a run knows it before a search has found it: its binding, and what of its
 * settings is not the default. `description` has at most 120 characters.
 */
export interface ToolStub
  extends
    Pick<ToolSpec, 'name' | 'description' | 'effect'>,
    Partial<
      Pick<
        ToolSpec,
        | 'local'
        | 'timeoutMs'
        | 'retry'
        | 'sequential'
        | 'maxResultBytes'
        | 'cache'
        | 'approval'
        | 'approvalTimeoutMs'
        | 'area'
      >
    > {
  readonly mcp: McpBinding;
}

/** How the model finds tools that its prompt does not show. */
export interface ToolSearchSpec {
  readonly hint: 'domains' | 'names';
  readonly pageSize: number;
  /** Names of tools that are always shown in full, in this order. */
  readonly pins: readonly string[];
  /** At least one; the first is the default. */
  readonly engines: readonly { readonly id: string; readonly guidance: string }[];
  /** What the model reads when nothing matches. */
  readonly noResults: string;
}

/** A model entry as plain data: id, prices, context window. The model stays on the worker. */
export interface ModelSpec {
  readonly id: string;
  readonly contextWindow?: number;
  readonly maxOutputTokens?: number;
  readonly price?: Price;
  /** How an output is asked for; set when the agent's mode is `json`, and for LLM tools. */
  readonly structuredOutput?: OutputStrategy;
}

/** A model that LLM tools may ask. */
export interface ToolModelSpec extends ModelSpec {
  /** Ids of its fallbacks, in order; all of them are tool models too. */
  readonly fallbacks?: readonly string[];
}

/** A part that the author added with `extend`, under its name. */
export type OwnName = `own:${string}`;

/** A section of a react reply as plain data. */
export interface SectionSpec {
  readonly name: string;
  readonly kind: 'text' | 'json' | 'yaml' | OwnName;
  /** The author's text; absent: the default of the kind. */
  readonly guidance?: string;
  readonly schema?: JsonObject;
  readonly example?: Json;
}

/** How the run ends: what counts as an answer, and what validates it. */
export interface AnswerSpec {
  readonly kind: 'text' | 'json' | OwnName;
  /** Name of the section in react. */
  readonly section: string;
  readonly guidance?: string;
  readonly schema?: JsonObject;
  readonly example?: Json;
  /** The output of the agent's signature: how the answer is asked for and read. */
  readonly output?: SignatureType;
  /** False: no example that is made from the schema fits it, so none is shown. */
  readonly hasExample?: false;
  /** Names of validators, in order. */
  readonly validators: readonly string[];
}

/** The text format of a react agent. */
export interface FormatSpec {
  readonly kind: 'xml' | 'markdown' | OwnName;
  readonly strict: boolean;
}

/** How a react agent writes its calls. */
export interface ToolchainSpec {
  readonly kind: 'yaml' | 'json' | 'native' | OwnName;
  /** Name of the section; unused by `native`. */
  readonly section: string;
}

/**
 * What happens to a reply without any section: the model is asked again (`retry`), the reply is
 * judged as the answer (`answer`; `answer-or-fail` ends the run if it is not accepted), the same for
 * the second such reply in a row (`answer-after-two`), or the run ends (`fail`).
 */
export type OnUnparsed = 'answer-after-two' | 'retry' | 'answer' | 'answer-or-fail' | 'fail';

/** Options that only react agents have. */
export interface ReactSpec {
  /** A function on the worker writes the messages before examples and task. */
  readonly prompt?: true;
  readonly format: FormatSpec;
  /** The thinking section, or null when the agent has none. */
  readonly thinking: SectionSpec | null;
  /** Further sections, between thinking and action. */
  readonly sections: readonly SectionSpec[];
  readonly precedence: 'action' | 'answer';
  readonly onUnparsed: OnUnparsed;
  /** Last user message of the first request and of later ones; null: none. */
  readonly markers: readonly [string, string] | null;
}

/** The signature except its output, which is in the answer's specification. */
export interface SignatureSpec {
  /** The signature as text. */
  readonly text: string;
  readonly params: readonly SignatureField[];
}

/** What one stage of a pipeline does. */
export type StageSpec =
  | { readonly kind: 'agent'; readonly agent: string }
  /** All run on the same context; their values are joined by name. */
  | { readonly kind: 'parallel'; readonly agents: readonly string[] }
  | {
      readonly kind: 'human';
      /** A template over the context. */
      readonly question: string;
      readonly options?: readonly string[];
      readonly timeoutMs?: number;
    };

/** What runs instead of a model. */
export interface PipelineSpec {
  /** At least one. */
  readonly stages: readonly StageSpec[];
  /** `carry`: programs of a stage begin with the definitions that earlier stages left. */
  readonly memory: 'none' | 'carry';
  /** New names for fields that one stage passes to the next. */
  readonly map: { readonly [field: string]: string };
  /** Id of a model entry that replaces those of the stages. */
  readonly model?: string;
}

/** What runs instead of a model: an agent, once for each item of a list. */
export interface FanOutSpec {
  readonly agent: string;
  /** The most children of one run; for more items, each child is a fan-out over a part of them. */
  readonly batch: number;
  /** When an item fails: the fan-out ends, or the item's place in the value is null. */
  readonly onFailure: 'end' | 'null';
  /** Id of a model entry that replaces the agent's own. */
  readonly model?: string;
}

/** What runs instead of a model: the tries of an eval, some at a time. */
export interface EvaluationSpec {
  /** The most tries that run at once. */
  readonly batch: number;
}

/** How much of a program's output a model reads. */
export interface ProgramSizes {
  /** Characters of the notes. */
  readonly feedbackChars: number;
  /** Characters of the preview of a value. */
  readonly resultChars: number;
  /** Elements and characters of the sample of a key of the context. */
  readonly sampleItems: number;
  readonly sampleChars: number;
}

/** Options of the mode `lisp`. */
export interface LispSpec {
  /** Turns in which programs are written. */
  readonly maxTurns: number;
  /** Extra turns to repair a rejected `return`. */
  readonly retryTurns: number;
  /** `explicit`: only `return` ends the run. */
  readonly completion: 'implicit' | 'explicit';
  /** `tool_call`: programs are calls of `lisp_eval`. */
  readonly transport: 'content' | 'tool_call';
  readonly thinking: boolean;
  /** Steps of a checklist; empty: no plan. */
  readonly plan: readonly string[];
  /** Whether the prompt describes `task`. */
  readonly journal: boolean;
}

/** How an agent runs programs. */
export interface ProgramSpec {
  /** For each program; absent fields take the language's defaults. */
  readonly limits: Partial<Limits>;
  /** UTF-8 bytes of the encoded definitions. */
  readonly memoryLimitBytes: number;
  /** When the limit is exceeded: `strict` ends the run, `rollback` undoes the program. */
  readonly memoryStrategy: 'strict' | 'rollback';
  readonly sizes: ProgramSizes;
  /** Set exactly when `mode` is `lisp`. */
  readonly lisp?: LispSpec;
}

/** Task queues of the activities; absent: the queue of the workflow. */
export interface QueueSpec {
  readonly model?: string;
  readonly tool?: string;
}

/** An agent as plain data, version 1. */
export interface AgentSpec {
  readonly v: 1;
  readonly name: string;
  readonly description?: string;
  readonly mode: Mode;
  /** Template of the task; absent: the task as given. */
  readonly prompt?: string;
  readonly signature?: SignatureSpec;
  /** Descriptions of fields of the output, by name; passed on when a Step is piped. */
  readonly fieldDescriptions?: { readonly [name: string]: string };
  /** Descriptions of keys of the context. */
  readonly contextDescriptions?: { readonly [name: string]: string };
  /** Decimal places that floats of the answer keep. */
  readonly floatPrecision?: number;
  /** Set when a compiled agent runs: the text of its program. No model is called. */
  readonly compiled?: string;
  readonly instructions: TextSource | null;
  readonly rules: TextSource | null;
  /** What follows rules that a function writes: what servers say of themselves, framed. */
  readonly serverNotes?: string;
  /** The model and its fallbacks, in order. Empty exactly for a pipeline and a fan-out. */
  readonly models: readonly ModelSpec[];
  /** True: a function on the worker chooses among several models for each request. Absent: none does. */
  readonly choosesModel?: true;
  /** All that may be called; with tool search, the search tool is last. */
  readonly tools: readonly ToolSpec[];
  /** Of replies; they replace those of the model's entry. Absent: none. */
  readonly settings?: CallSettings;
  /** Whether the model must call a tool first; absent: `auto`. */
  readonly toolChoice?: ToolChoice;
  /**
   * Tools of servers for which `tools` has no room; at least one, only with tool search. Absent: none.
   */
  readonly stubs?: readonly ToolStub[];
  /** The tools that providers run themselves; at least one. Absent: none. */
  readonly hosted?: readonly HostedTool[];
  /** The models that LLM tools may ask; set exactly when there are such tools. */
  readonly toolModels?: readonly ToolModelSpec[];
  /** Absent: the prompt shows all tools. */
  readonly toolSearch?: ToolSearchSpec;
  readonly toolchain: ToolchainSpec;
  readonly answer: AnswerSpec;
  /** Set exactly when `mode` is `react`. */
  readonly react: ReactSpec | null;
  /** Set exactly when the agent is a pipeline, which itself calls no model. */
  readonly pipeline?: PipelineSpec;
  /** Set exactly when the agent is a fan-out, which itself calls no model. */
  readonly fanOut?: FanOutSpec;
  /** Set exactly when the agent runs evals; it calls no model. */
  readonly evaluation?: EvaluationSpec;
  /** Set exactly when the model may write programs. */
  readonly program?: ProgramSpec;
  readonly examples: readonly Message[];
  readonly parallel: boolean;
  readonly maxCallsPerTurn: number;
  /** How often the model is asked to go on with an answer that was cut off; absent: twice. */
  readonly maxContinuations?: number;
  /** The guards of its task, in the order in which they are asked; at least one. Absent: none. */
  readonly guards?: readonly string[];
  /** `ask`: a person is asked when every model has refused; absent: the run ends. */
  readonly onRefusal?: 'ask';
  /** In the order in which they are checked. */
  readonly limits: readonly Limit[];
  /** What replies without usage do where a limit does not say it; absent: nothing. */
  readonly onUnknownUsage?: UnknownUsage;
  /**
   * Without strategies the scratchpad is never compacted. Absent: only when no link could hand it
   * over.
   */
  readonly compaction?: CompactionSpec;
  readonly timeZone: string;
  readonly queues: QueueSpec;
  /** Whom the run calls back, at least one; absent: nobody. */
  readonly onEvent?: readonly CallbackSpec[];
}

/** The tool of a server as a run began with it; at most 200 bytes. */
export interface McpBinding {
  /** The name of the server's definition. */
  readonly server: string;
  /** The server's own name of the tool. */
  readonly tool: string;
  /** 16 hex digits over name, description, schema and annotations of the tool. */
  readonly hash: string;
}
