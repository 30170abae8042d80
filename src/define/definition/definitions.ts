/**
 * What users define: agents, tools and validators as data plus named functions, and the registry
 * that a worker makes of them. The functions never reach a workflow: activities call them by name.
 */
import type { AgentSpec, FormatSpec, SectionSpec, ToolSpec } from '../../core/contract/spec.ts';
import type { LimitsInput } from '../../core/contract/input.ts';
import type { AgentTime } from '../../core/run/time.ts';
import type { CompactionSpec } from '../../core/contract/compaction.ts';
import type { Json, JsonObject } from '../../core/base/json.ts';
import type { TextFormat } from '../../core/format/format.ts';
import type { FormattedSection, Message, Task } from '../../core/base/message.ts';
import type { Price } from '../../core/contract/model.ts';
import type { UsageProblem } from '../../core/base/usage-error.ts';
import type { Middleware } from './middleware.ts';
import type { ModelEntry } from '../model/model-entry.ts';
import type { StandardSchema } from '../schema/standard-schema.ts';
import type { ToolSearchFields, ToolSearchOptions } from './tool-search-options.ts';

/** What validators get beside the answer, and tools beside their arguments. */
export interface ReportContext {
  /** Aborted when the run is canceled or interrupted, or the time of the call is up. */
  readonly signal: AbortSignal;
  readonly runId: string;
  readonly agentPath: string;
  /** Tries of this call, from 1. */
  readonly attempt: number;
  /**
   * Adds `by` (default 1) to a counter of your own. Keys contain `:`, such as `shop:refunds`;
   * steps are whole and not negative. Reports are applied with the result, once.
   */
  readonly count: (key: string, by?: number) => void;
  /** Sets a gauge of your own; keys as for `count`. */
  readonly gauge: (key: string, value: number) => void;
  /** Publishes an event of your own with at most 16 KB of JSON; names as keys of `count`. */
  readonly emit: (name: string, data: Json) => void;
  /**
   * Tells of a model call that this function made by itself, so that it is counted and limited like
   * those of the loop. `model` is the id of an entry, whose price applies, or another name; `usage` is
   * what the provider reported, in any shape. Applied with the result: an attempt that throws loses
   * what it reported.
   */
  readonly reportModelCall: (model: string, usage: unknown) => void;
}

/** What a tool gets beside its arguments. */
export interface ToolContext extends ReportContext {
  readonly callId: string;
  /** `{runId}/{callId}`: the same on every attempt, for services that can tell a repetition. */
  readonly idempotencyKey: string;
}

/** What of a tool that starts child runs is left to its agent. */
export interface ToolChild {
  /** A definition, a name, or null for the very agent that has the tool. */
  readonly agent: AgentDefinition | string | null;
  readonly hasDescription: boolean;
  readonly hasParameters: boolean;
}

/** A tool: what the model and the loop know of it, and the function that does it. */
export interface ToolDefinition<Args = unknown> {
  readonly kind: 'tool';
  readonly spec: ToolSpec;
  /** The check of the schema library, which runs after the JSON Schema. */
  readonly standard: StandardSchema | null;
  /** Of an LLM tool: the check of the schema library for its answer. */
  readonly answer?: StandardSchema | null;
  /** Of an LLM tool: the model that it asks, an id to look up or the entry itself; absent: the run's. */
  readonly model?: string | ModelEntry;
  /** By what tool search finds it. */
  readonly search?: ToolSearchFields;
  /** Set when calls start child runs. */
  readonly child?: ToolChild;
  /** Called in `needsApproval` with checked arguments: whether a person approves this call. */
  approval?(args: Args): boolean | Promise<boolean>;
  /** Called in the tool activity with checked arguments; may run again unless `once`. */
  execute(args: Args, context: ToolContext): unknown;
}

/** What a validator says of an answer. */
export type ValidatorVerdict =
  | { readonly accepted: true }
  | {
      readonly accepted: false;
      /** For the model: a text, or sections of the format. Default: one plain sentence. */
      readonly feedback?: string | readonly FormattedSection[];
    };

/** A judge of answers. */
export interface ValidatorDefinition<Answer = unknown> {
  readonly kind: 'validator';
  readonly name: string;
  /** Called in `judgeAnswer` on the worker; may run again. A throw fails the run at last. */
  validate(answer: Answer, context: ReportContext): ValidatorVerdict | Promise<ValidatorVerdict>;
}

/** What a function that writes instructions or rules is given. */
export interface TextFunctionInput {
  readonly agent: string;
  readonly input: { readonly task: Task; readonly context?: JsonObject };
  readonly iteration: number;
  /** The time of the request in the agent's time zone. */
  readonly time: AgentTime;
}

/** Writes a text of the prompt; called on the worker for each request. */
export type TextFunction = (input: TextFunctionInput) => string | Promise<string>;

/** What a function that writes the whole beginning of a prompt is given. */
export interface PromptInput {
  /** Writes sections, and describes those of a reply, as the agent's format does. */
  readonly format: TextFormat;
  /** Empty when the agent has none; what a function wrote for this request otherwise. */
  readonly instructions: string;
  readonly rules: string;
  /** How to work in steps, as the built-in prompt says it. */
  readonly method: string;
  /** The catalogue of tools; empty without tools. */
  readonly tools: string;
  /** How to lay out a reply: without it a model cannot know. */
  readonly outputFormat: string;
  /** The time of the request in the agent's time zone. */
  readonly time: AgentTime;
}

/** Writes the messages that stand before examples and task; called on the worker for each request. */
export type PromptFunction = (
  input: PromptInput,
) => readonly Message[] | Promise<readonly Message[]>;

/** A section of the agent's own; made by `textSection`, `jsonSection` or `yamlSection`. */
export interface SectionDefinition {
  readonly kind: 'section';
  readonly spec: SectionSpec;
  readonly standard: StandardSchema | null;
  /** What is wrong with it; reported by `defineAgent` together with all else. */
  readonly problems: readonly UsageProblem[];
}

/** How the agent ends; made by `textAnswer` or `jsonAnswer`. */
export interface AnswerDefinition {
  readonly kind: 'answer';
  readonly spec: Omit<AgentSpec['answer'], 'validators'>;
  readonly standard: StandardSchema | null;
  readonly validators: readonly ValidatorDefinition[];
  readonly problems: readonly UsageProblem[];
}

/** How replies are laid out; made by `xmlFormat` or `markdownFormat`. */
export interface FormatDefinition extends FormatSpec {
  readonly type: 'format';
}

/** How calls are written; made by `yamlToolchain` or `jsonToolchain`. */
export interface ToolchainDefinition {
  readonly type: 'toolchain';
  readonly kind: 'yaml' | 'json';
  readonly section: string;
}

/** An agent whose options are checked; all but models and limits are in its specification. */
export interface AgentDefinition {
  readonly kind: 'agent';
  readonly name: string;
  readonly spec: Omit<AgentSpec, 'models' | 'limits' | 'compaction'>;
  /** An id to look up, or the entry itself; null for a pipeline or a fan-out, which asks none. */
  readonly model: string | ModelEntry | null;
  /** Of a pipeline or a fan-out: the definitions that it starts, which the worker then knows. */
  readonly stages?: readonly AgentDefinition[];
  readonly limits?: LimitsInput;
  /** Absent: the default, which depends on the model. */
  readonly compaction?: CompactionSpec | false;
  readonly maxTurns?: number;
  /** Full JSON Schema of the inputs; absent: no signature. */
  readonly inputs?: JsonObject;
  readonly instructions?: TextFunction;
  readonly rules?: TextFunction;
  readonly prompt?: PromptFunction;
  readonly tools: readonly ToolDefinition[];
  /** Absent: the prompt shows all tools. */
  readonly toolSearch?: ToolSearchOptions;
  /** Absent: none. */
  readonly middleware?: Middleware;
  readonly validators: readonly ValidatorDefinition[];
  /** The checks of schema libraries: of the answer, and of sections by name. */
  readonly standards: {
    readonly answer: StandardSchema | null;
    readonly sections: ReadonlyMap<string, StandardSchema | null>;
  };
}

/** An agent as activities find it. */
export interface RegisteredAgent {
  readonly definition: AgentDefinition;
  /** By name; with tool search its tool is one of them. */
  readonly tools: ReadonlyMap<string, ToolDefinition>;
  readonly validators: ReadonlyMap<string, ValidatorDefinition>;
  /** Of the models of the worker, by id; those without a price are left out. */
  readonly prices: ReadonlyMap<string, Price>;
}

/** All that a worker knows by name. */
export interface Registry {
  readonly agents: ReadonlyMap<string, RegisteredAgent>;
  readonly models: ReadonlyMap<string, ModelEntry>;
}
