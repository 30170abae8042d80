import type { Mode } from '../../core/contract/model.ts';
import type { LispSpec, ProgramSizes, ProgramSpec, QueueSpec } from '../../core/contract/spec.ts';
import type { LimitsInput } from '../../core/contract/input.ts';
import type { Message } from '../../core/base/message.ts';
import type { CompactionOptions } from './define-compaction.ts';
import type {
  AnswerDefinition,
  FormatDefinition,
  PromptFunction,
  SectionDefinition,
  TextFunction,
  ToolchainDefinition,
  ToolDefinition,
  ValidatorDefinition,
} from '../definition/definitions.ts';
import type { AgentModel } from '../model/model-entry.ts';
import type { SignatureInput } from '../schema/define-signature.ts';
import type { ModelMiddleware, ToolMiddleware } from '../definition/middleware.ts';
import type { ToolSearchOptions } from '../definition/tool-search-options.ts';

/** What an agent does that does not say otherwise. */
export const AGENT_DEFAULTS = {
  /** Works with every model and shows its thinking. */
  mode: 'react',
  thinking: 'Think about what you know, what is missing and what to do next.',
  /** What an answer beside an action says was written before the action's result was known. */
  precedence: 'action',
  /** A model that forgot the format can repair its reply; the streak limit bounds the tries. */
  onUnparsed: 'retry',
  parallel: true,
  /** More calls than this in one turn are a model gone astray. */
  maxCallsPerTurn: 64,
  /** Some providers refuse a request whose last message is not the user's. */
  markers: ['Begin.', 'Continue.'],
  timeZone: 'UTC',
  /** Turns that only repair a rejected `return`. */
  retryTurns: 0,
  /** A plain value of the only program is its answer, and the newest one stands in when turns run out. */
  completion: 'implicit',
  transport: 'content',
  memoryLimitBytes: 1_048_576,
  memoryStrategy: 'strict',
  /** What a model can take in at a glance; it prints more when it needs more. */
  sizes: { feedbackChars: 512, resultChars: 250, sampleItems: 3, sampleChars: 80 },
} as const;

/** The modes by their names of today. */
export const AVAILABLE_MODES = ['react', 'chat', 'json', 'text', 'lisp'] as const;

/** A mode. */
export type AvailableMode = (typeof AVAILABLE_MODES)[number];

/** Turns of an agent that does not say how many; the others are bounded by the default limits. */
export const MODE_TURNS: { readonly [mode in Mode]?: number } & { readonly lisp: number } = {
  json: 5,
  text: 1,
  lisp: 5,
};

/** The options of `defineAgent`. Those marked react belong to mode `react` only. */
export interface AgentOptions {
  /** 1 to 64 letters, digits, `_` or `-`, a letter first; unique on a worker. */
  readonly name: string;
  /** What it is good for, for people and for agents that use it as a tool. */
  readonly description?: string;
  /**
   * `react` (default): sections in text. `chat`: native tool calls of the provider. `json`: one JSON value
   * that fits the signature. `text`: text. `lisp`: programs that call the tools; `ptc_lisp` is its other name.
   */
  readonly mode?: AvailableMode | 'ptc_lisp';
  /** The id of a model entry, an entry, a model of the AI SDK, or a function. */
  readonly model: AgentModel;
  /**
   * What goes in and what comes out: `(review :string) -> {score :int}`, or schemas. `json` needs one with an
   * output, `text` ignores it, `react` and `chat` answer with JSON when there is one.
   */
  readonly signature?: SignatureInput;
  /**
   * Template of the task; default `{{task}}`. It is filled in with the context. react: a function instead
   * writes the messages before examples and task, in place of the one system message of the built-in
   * prompt. Called on the worker for each request.
   */
  readonly prompt?: string | PromptFunction;
  /** What fields of the output mean, by name; shown in prompts and schemas. */
  readonly fieldDescriptions?: { readonly [name: string]: string };
  /** What keys of the context mean; shown in prompts. */
  readonly contextDescriptions?: { readonly [name: string]: string };
  /** Digits behind the point that floats of the answer keep, 0 to 15. Default: all. */
  readonly floatPrecision?: number;
  /** System text, or a function on the worker that writes it for each request. */
  readonly instructions?: string | TextFunction;
  /** What must always hold; stands behind the instructions. */
  readonly rules?: string | TextFunction;
  readonly tools?: readonly ToolDefinition[];
  /** The prompt says how to search the tools instead of showing all of them. Default: it shows all. */
  readonly toolSearch?: ToolSearchOptions;
  /** True adds the tool `ask_user`, by which the model asks a person and waits. Default false. */
  readonly askUser?: boolean;
  /** True adds the tool `llm_query`, by which the model asks a model a question. Default false. */
  readonly llmQuery?: boolean;
  /** Functions around each model call, the first outermost. */
  readonly modelMiddleware?: readonly ModelMiddleware[];
  /** Functions around each tool call, the first outermost. */
  readonly toolMiddleware?: readonly ToolMiddleware[];
  /** Judges of answers, behind those of `answer`. */
  readonly validators?: readonly ValidatorDefinition[];
  /** Bounds of the run; default limits are on, and dropped by `'unlimited'` only. */
  readonly limits?: LimitsInput;
  /**
   * From 1; of it and the limit `iterations` the smaller holds. In `json` it counts attempts: the first and
   * its repairs, default 5. In `lisp` it counts programs, `retryTurns` not included, default 5. In `text` it is
   * always 1.
   */
  readonly maxTurns?: number;
  /** Default true: the calls of a turn start together. */
  readonly parallel?: boolean;
  /** Default 64, from 1. */
  readonly maxCallsPerTurn?: number;
  /** Messages between the system text and the task. */
  readonly examples?: readonly Message[];
  /** IANA name for dates in instructions; default `UTC`. */
  readonly timeZone?: string;
  /** Task queues of model and tool activities; default: the queue of the run. */
  readonly queues?: QueueSpec;
  /**
   * When and how the conversation is made shorter, or false for never. Default: with a
   * `contextWindow` on the model, `context(0.8)` with `mask()`, then `summarize({ keepRecent: 3 })`;
   * without one, never.
   */
  readonly compaction?: CompactionOptions | false;
  /**
   * react: false for no thinking section, a guidance text, or a section; default true. lisp: whether the
   * model reasons before its program; default false.
   */
  readonly thinking?: boolean | string | SectionDefinition;
  /** react: further sections, between thinking and action. */
  readonly sections?: readonly SectionDefinition[];
  /** react: `xml`, `markdown`, or with options `xmlFormat()` and its like. Default `xml`. */
  readonly format?: FormatDefinition | FormatDefinition['kind'];
  /** react: `yaml`, `json`, or with options `yamlToolchain()` and its like. Default `yaml`. */
  readonly toolchain?: ToolchainDefinition | ToolchainDefinition['kind'];
  /** react: default `textAnswer()`. */
  readonly answer?: AnswerDefinition;
  /** react: what counts in a reply with an action and an answer. Default `action`. */
  readonly precedence?: 'action' | 'answer';
  /** react: what happens to a reply without sections. Default `retry`. */
  readonly onUnparsed?: 'retry' | 'answer' | 'fail';
  /** react: last user message of the first and of later requests, or false for none. */
  readonly markers?: readonly [string, string] | false;
  /** lisp: further turns, only to repair a rejected `return`. Default 0. */
  readonly retryTurns?: number;
  /** lisp: `explicit`: only `return` ends the run. Default `implicit`. */
  readonly completion?: LispSpec['completion'];
  /** lisp: `tool_call`: programs are native calls of `lisp_eval`. Default `content`: blocks in text. */
  readonly transport?: LispSpec['transport'];
  /** lisp: steps of a checklist that programs tick off with `step-done`. Default none. */
  readonly plan?: readonly string[];
  /** lisp: tells the model of `task`, which keeps values over failures. Default false. */
  readonly journal?: boolean;
  /** react, chat: the model may write programs beside calls. Default false. */
  readonly programs?: boolean;
  /** lisp, programs: limits of each program; see docs/programs.md. */
  readonly program?: ProgramSpec['limits'];
  /** lisp, programs: UTF-8 bytes that definitions may take. Default 1,048,576. */
  readonly memoryLimitBytes?: number;
  /** lisp, programs: too large definitions end the run, or undo the program. Default `strict`. */
  readonly memoryStrategy?: ProgramSpec['memoryStrategy'];
  /** lisp, programs: how much of notes, values and data a model reads. */
  readonly sizes?: Partial<ProgramSizes>;
}

/** Options that no mode refuses as such; what they may be is another question. */
export const COMMON_OPTIONS: readonly (keyof AgentOptions)[] = [
  'name',
  'description',
  'mode',
  'model',
  'signature',
  'prompt',
  'fieldDescriptions',
  'contextDescriptions',
  'floatPrecision',
  'instructions',
  'rules',
  'tools',
  'askUser',
  'modelMiddleware',
  'toolMiddleware',
  'validators',
  'limits',
  'maxTurns',
  'timeZone',
  'queues',
  'compaction',
];

/** Options that belong to some modes only, and to which. */
export const MODE_OPTIONS: { readonly [name: string]: readonly Mode[] } = {
  thinking: ['react', 'lisp'],
  sections: ['react'],
  format: ['react'],
  toolchain: ['react'],
  answer: ['react'],
  precedence: ['react'],
  onUnparsed: ['react'],
  markers: ['react'],
  examples: ['react', 'chat'],
  parallel: ['react', 'chat'],
  maxCallsPerTurn: ['react', 'chat'],
  toolSearch: ['react', 'chat'],
  programs: ['react', 'chat'],
  llmQuery: ['react', 'chat', 'lisp'],
  retryTurns: ['lisp'],
  completion: ['lisp'],
  transport: ['lisp'],
  plan: ['lisp'],
  journal: ['lisp'],
  program: ['react', 'chat', 'lisp'],
  memoryLimitBytes: ['react', 'chat', 'lisp'],
  memoryStrategy: ['react', 'chat', 'lisp'],
  sizes: ['react', 'chat', 'lisp'],
};

/** Options that say how programs run; beside `lisp` only agents with `programs: true` have them. */
export const PROGRAM_OPTIONS: readonly (keyof AgentOptions)[] = [
  'program',
  'memoryLimitBytes',
  'memoryStrategy',
  'sizes',
];

/** Names of options in other products and older versions, and ours. */
export const OLD_NAMES: { readonly [name: string]: string } = {
  output: 'mode',
  max_turns: 'maxTurns',
  compression: 'compaction',
  llm: 'model',
};
