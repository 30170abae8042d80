/**
 * The definitions of agents, tools and validators, which are data plus functions, and the registry
 * that a worker builds from them. The functions never enter a workflow: activities call them by
 * name.
 */
import type {
  AgentSpec,
  FormatSpec,
  OwnName,
  SectionSpec,
  ToolSpec,
} from '../../core/contract/spec.ts';
import type { Extensions } from '../../core/extension/store.ts';
import type { OnEventInput } from '../../core/contract/callback.ts';
import type { LimitsInput } from '../../core/contract/input.ts';
import type { TypedAgent } from '../../core/start/agent-types.ts';
import type { RunInfo } from '../../core/calls/run-info.ts';
import type { AgentTime } from '../../core/run/time.ts';
import type { CompactionSpec } from '../../core/contract/compaction.ts';
import type { Json, JsonObject } from '../../core/base/json.ts';
import type { TextFormat } from '../../core/format/format.ts';
import type { FormattedSection, Message, Task } from '../../core/base/message.ts';
import type { Prepared, Price } from '../../core/contract/model.ts';
import type { UsageProblem } from '../../core/base/usage-error.ts';
import type { Middleware } from './middleware.ts';
import type { ModelEntry, StreamPolicy } from '../model/model-entry.ts';
import type { StandardSchema } from '../schema/standard-schema.ts';
import type { McpServerDefinition } from './mcp-server.ts';
import type { ToolSearchFields, ToolSearchOptions } from './tool-search-options.ts';

/** What an event is to pages. */
export interface EmitOptions {
  /** The part that it is, 1 to 200 characters: a later event of the same name and id replaces it. */
  readonly id?: string;
  /** True: pages show it again after they were loaded anew. Needs an `id`. Default false. */
  readonly keep?: boolean;
}

/** What validators get besides the answer, and tools besides their arguments. */
export interface ReportContext extends RunInfo {
  /** Aborted when the run is canceled or interrupted, or when the call times out. */
  readonly signal: AbortSignal;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
  /**
   * Adds `by` (a whole number from 0, default 1) to a counter of your own. Keys contain `:`, such
   * as `shop:refunds`. Reports are applied once, with the result.
   *
   * @throws UsageError for a reserved or malformed key, or a wrong step.
   */
  readonly count: (key: string, by?: number) => void;
  /** Sets a gauge of your own; keys as for `count`. */
  readonly gauge: (key: string, value: number) => void;
  /**
   * Adds `by` (any finite number, default 1) to a gauge of your own. What calls add at the same time
   * is summed.
   *
   * @throws UsageError for a reserved or malformed key, or a `by` that is no finite number.
   */
  readonly raise: (key: string, by?: number) => void;
  /** Sets a gauge of your own to 0. */
  readonly reset: (key: string) => void;
  /**
   * Publishes an event: at most 16 KB of JSON, 256 KB per call. Names as for `count`. Those who
   * stream the run get it at once; it is recorded with the result. With `keep`, it is a part of the
   * conversation, which pages show again: the last of each `id`, at most 100 in a call.
   */
  readonly emit: (name: string, data: Json, options?: EmitOptions) => void;
  /**
   * Reports a model call that this function made itself, so that it is counted and limited like
   * those of the loop. `model` is the id of an entry, whose price applies, or another name. `usage`
   * is what the provider reported, in any shape. Applied with the result: an attempt that throws
   * loses its reports.
   */
  readonly reportModelCall: (model: string, usage: unknown) => void;
}

/** What a tool gets besides its arguments. */
export interface ToolContext extends ReportContext {
  readonly callId: string;
  /**
   * The value of a gauge of your own: as it was when the call began, with what this call has done to
   * it since; 0 if it was never set.
   *
   * @throws UsageError for a reserved or malformed key, and for a key that was left out because the
   * run has more than 8 KB of such gauges.
   */
  readonly read: (key: string) => number;
  /** `{runId}/{callId}`, the same on every attempt, for services that detect repeated requests. */
  readonly idempotencyKey: string;
  /** What a person answered to the question of the last run of this call; absent in the first. */
  readonly answer?: Json;
  /** What the last run of this call gave to `ask` as `state`. */
  readonly state?: Json;
}

/** The agent that a tool starts, and what the tool has of its own. */
export interface ToolChild {
  /** An agent definition, a name, or null for the agent that has the tool. */
  readonly agent: AgentDefinition | string | null;
  readonly hasDescription: boolean;
  readonly hasParameters: boolean;
}

/** A tool of an agent that an agent file exports. */
export interface DefinedTool {
  readonly agent: string;
  readonly tool: string;
}

/** Where the calls of a tool run. */
export interface IsolatedTool {
  readonly place: 'thread' | 'process';
  /** URL of the module that exports `run`. */
  readonly module: string;
  /** Maximum size of its JavaScript heap, in MB. */
  readonly heapMb: number;
  /** Set when the module is an agent file: the tool whose `execute` takes the place of `run`. */
  readonly definedAs?: DefinedTool;
}

/** A tool: its specification and the function that does the work. */
export interface ToolDefinition<Args = unknown> {
  readonly kind: 'tool';
  readonly spec: ToolSpec;
  /** The check of the schema library, which runs after the JSON Schema. */
  readonly standard: StandardSchema | null;
  /** Of an LLM tool: the check of the schema library for its answer. */
  readonly answer?: StandardSchema | null;
  /** Of an LLM tool: the model that it asks, as an id or an entry; absent: the run's. */
  readonly model?: string | ModelEntry;
  /** The texts by which tool search finds it. */
  readonly search?: ToolSearchFields;
  /** Set when calls start child runs. */
  readonly child?: ToolChild;
  /** Set when calls run in a thread or process of their own. */
  readonly isolate?: IsolatedTool;
  /** Called in `needsApproval` with checked arguments: whether a person approves this call. */
  approval?(args: Args, info: RunInfo): boolean | Promise<boolean>;
  /** Called before the call begins: what people must be asked. It may run again. Absent: nothing. */
  asks?(args: Args, context: ToolContext): unknown;
  /** Called in the model activity: whether the tool is offered in a request. Absent: it is. */
  enabled?(info: RunInfo): boolean | Promise<boolean>;
  /**
   * Called in the tool activity with checked arguments; may run again unless `once`. Of an isolated
   * tool: runs its code here, as hosts without threads and processes of their own do.
   */
  execute(args: Args, context: ToolContext): unknown;
}

/** A validator's decision about an answer. */
export type ValidatorVerdict =
  | { readonly accepted: true }
  | {
      readonly accepted: false;
      /** For the model: a text, or sections of the format. Default: one plain sentence. */
      readonly feedback?: string | readonly FormattedSection[];
    };

/** A validator: decides whether an answer is accepted. */
export interface ValidatorDefinition<Answer = unknown> {
  readonly kind: 'validator';
  readonly name: string;
  /** True: it gets the context of the run. */
  readonly readsContext?: true;
  /**
   * Called in `judgeAnswer` on the worker; may run again. Errors are retried, then fail the run.
   */
  validate(answer: Answer, context: ReportContext): ValidatorVerdict | Promise<ValidatorVerdict>;
}

/** The input of a function that writes instructions or rules. */
export interface TextFunctionInput extends RunInfo {
  readonly input: { readonly task: Task; readonly context?: JsonObject };
  /** The time of the request in the agent's time zone. */
  readonly time: AgentTime;
}

/** Writes a text of the prompt; called on the worker for each request. */
export type TextFunction = (input: TextFunctionInput) => string | Promise<string>;

/** The input of a function that writes the beginning of a prompt. */
export interface PromptInput {
  readonly info: RunInfo;
  /** The agent's format, which writes sections and describes those of a reply. */
  readonly format: TextFormat;
  /** The instructions of this request; empty when the agent has none. */
  readonly instructions: string;
  readonly rules: string;
  /** How to work in steps, from the built-in prompt. */
  readonly method: string;
  /** The catalogue of tools; empty without tools. */
  readonly tools: string;
  /** How to lay out a reply. The prompt must include it, since the model cannot guess it. */
  readonly outputFormat: string;
  /** The time of the request in the agent's time zone. */
  readonly time: AgentTime;
}

/** Writes the messages before examples and task; called on the worker for each request. */
export type PromptFunction = (
  input: PromptInput,
) => readonly Message[] | Promise<readonly Message[]>;

/** An agent's own section; made by `textSection`, `jsonSection`, `yamlSection` or `ownSection`. */
export interface SectionDefinition {
  readonly kind: 'section';
  readonly spec: SectionSpec;
  readonly standard: StandardSchema | null;
  /** Its problems; `defineAgent` reports them. */
  readonly problems: readonly UsageProblem[];
}

/** The kind of answer; made by `textAnswer`, `jsonAnswer` or `ownAnswer`. */
export interface AnswerDefinition<Value = unknown> {
  readonly kind: 'answer';
  /** For the compiler; never set. */
  readonly types?: { readonly value: Value };
  readonly spec: Omit<AgentSpec['answer'], 'validators'>;
  readonly standard: StandardSchema | null;
  readonly validators: readonly ValidatorDefinition[];
  readonly problems: readonly UsageProblem[];
}

/** The layout of replies; made by `xmlFormat` or `markdownFormat`. */
export interface FormatDefinition extends FormatSpec {
  readonly type: 'format';
}

/** The notation of calls; made by `yamlToolchain`, `jsonToolchain` or `ownToolchain`. */
export interface ToolchainDefinition {
  readonly type: 'toolchain';
  readonly kind: 'yaml' | 'json' | OwnName;
  readonly section: string;
}

/** An agent with checked options. Its specification has everything but models and limits. */
export interface AgentDefinition<Value = unknown, Context = unknown> extends TypedAgent<
  Value,
  Context
> {
  readonly spec: Omit<AgentSpec, 'models' | 'limits' | 'compaction'>;
  /** An id or an entry; null for a pipeline or a fan-out, which has no model. */
  readonly model: string | ModelEntry | null;
  /**
   * Of a pipeline or a fan-out: the agents that it starts; the worker serves these as well.
   */
  readonly stages?: readonly AgentDefinition[];
  readonly limits?: LimitsInput;
  readonly onEvent?: OnEventInput;
  /** Absent: the default for the model. */
  readonly compaction?: CompactionSpec | false;
  readonly maxTurns?: number;
  /** How long runs wait for a worker that has what they need; absent: that of the worker. */
  readonly elsewhereMs?: number;
  /** Full JSON Schema of the inputs; absent: no signature. */
  readonly inputs?: JsonObject;
  readonly instructions?: TextFunction;
  readonly rules?: TextFunction;
  readonly prompt?: PromptFunction;
  readonly tools: readonly ToolDefinition[];
  /** Called in the model activity for each request of a reply. */
  readonly prepare?: PrepareFunction;
  /** The servers whose tools it has as well. Absent: none. */
  readonly servers?: readonly McpServerDefinition[];
  /** Absent: the prompt shows all tools. */
  readonly toolSearch?: ToolSearchOptions;
  /** Absent: as the entry of the model says. Only workers read it: no run depends on it. */
  readonly stream?: StreamPolicy;
  /** Absent: none. */
  readonly middleware?: Middleware;
  /** Absent: models read texts as they are. */
  readonly redact?: RedactText;
  readonly validators: readonly ValidatorDefinition[];
  /** The checks of schema libraries: of the answer, and of sections by name. */
  readonly standards: {
    readonly answer: StandardSchema | null;
    readonly sections: ReadonlyMap<string, StandardSchema | null>;
  };
}

/** Says what one request offers, and with which settings. */
export type PrepareFunction = (
  info: RunInfo,
) => Prepared | undefined | Promise<Prepared | undefined>;

/** Returns a text as a model may read it. */
export type RedactText = (text: string) => string;

/** An agent as activities look it up. */
export interface RegisteredAgent {
  readonly definition: AgentDefinition;
  /** By name, with the built-in tools that the worker runs or checks. */
  readonly tools: ReadonlyMap<string, ToolDefinition>;
  readonly validators: ReadonlyMap<string, ValidatorDefinition>;
  /** The prices of the worker's models, by id; models without a price are left out. */
  readonly prices: ReadonlyMap<string, Price>;
}

/** The agents and models of a worker by name. */
export interface Registry {
  readonly agents: ReadonlyMap<string, RegisteredAgent>;
  readonly models: ReadonlyMap<string, ModelEntry>;
  /** The servers of all agents by name; absent: none. */
  readonly servers?: ReadonlyMap<string, McpServerDefinition>;
  /** Where packages of providers are looked for, in this order. */
  readonly packageFolders: readonly string[];
  /** Own parts of replies, as the worker's sandbox has them. Absent: those of this process. */
  readonly extensions?: Extensions;
}
