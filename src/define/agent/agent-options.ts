import type { CallSettings, Mode, ToolChoice } from '../../core/contract/model.ts';
import type {
  LispSpec,
  OnUnparsed,
  ProgramSizes,
  ProgramSpec,
  OwnName,
  QueueSpec,
} from '../../core/contract/spec.ts';
import type { OnEventInput } from '../../core/contract/callback.ts';
import type { LimitsInput } from '../../core/contract/input.ts';
import type { Message } from '../../core/base/message.ts';
import type { CompactionOptions } from './define-compaction.ts';
import type {
  AnswerDefinition,
  FormatDefinition,
  Guard,
  PrepareFunction,
  PromptFunction,
  RedactText,
  SectionDefinition,
  TextFunction,
  ToolchainDefinition,
  ValidatorDefinition,
} from '../definition/definitions.ts';
import type { AgentModel, StreamPolicy } from '../model/model-entry.ts';
import type { AgentTool } from '../tool/listed-tools.ts';
import type { SignatureInput } from '../schema/define-signature.ts';
import type { ModelMiddleware, ToolMiddleware } from '../definition/middleware.ts';
import type { ToolSearchOptions } from '../definition/tool-search-options.ts';

/** The defaults of {@link AgentOptions}. */
export const AGENT_DEFAULTS = {
  /** Providers train their models on native tool calls. */
  mode: 'chat',
  thinking: 'Think about what you know, what is missing and what to do next.',
  /** An answer next to an action was written before the result of the action was known. */
  precedence: 'action',
  /** A model that forgot the format can repair its reply; prose that it insists on is its answer. */
  onUnparsed: 'answer-after-two',
  /** The same where the answer has a schema, which prose cannot fit. */
  onUnparsedWithSchema: 'retry',
  parallel: true,
  /** More calls than this in one turn mean that the model is in a loop. */
  maxCallsPerTurn: 64,
  /** Some providers refuse a request whose last message is not the user's. */
  markers: ['Begin.', 'Continue.'],
  timeZone: 'UTC',
  /** Turns that only repair a rejected `return`. */
  retryTurns: 0,
  /**
   * With `maxTurns: 1`, the plain value of the program is the answer. With more turns, the newest
   * plain value becomes the answer when turns run out.
   */
  completion: 'implicit',
  transport: 'content',
  memoryLimitBytes: 1_048_576,
  memoryStrategy: 'strict',
  /** Short enough for each turn; a program prints more when the model needs more. */
  sizes: { feedbackChars: 512, resultChars: 250, sampleItems: 3, sampleChars: 80 },
} as const;

/** The modes by their current names. */
export const AVAILABLE_MODES = ['react', 'chat', 'json', 'text', 'lisp'] as const;

/** One of {@link AVAILABLE_MODES}. */
export type AvailableMode = (typeof AVAILABLE_MODES)[number];

/** What `mode` takes: a current name, or an alias. */
export type ModeName = AvailableMode | 'ptc_lisp';

/** The default of `maxTurns` by mode. In the other modes the default limits bound the turns. */
export const MODE_TURNS: { readonly [mode in Mode]?: number } & { readonly lisp: number } = {
  json: 5,
  text: 1,
  lisp: 5,
};

/** The options of `defineAgent`. Those marked react belong to mode `react` only. */
export interface AgentOptions<
  Signature extends SignatureInput = SignatureInput,
  Answer extends AnswerDefinition | OwnName = AnswerDefinition | OwnName,
  Named extends ModeName = ModeName,
> {
  /** 1 to 64 letters, digits, `_` or `-`, a letter first; unique on a worker. */
  readonly name: string;
  /** What the agent does, for people and for agents that use it as a tool. Default: none. */
  readonly description?: string;
  /**
   * `chat` (default): native tool calls of the provider. `react`: sections in text, with every
   * model. `json`: one JSON value that fits the signature. `text`: any text. `lisp`: programs that
   * call the tools; `ptc_lisp` is an alias.
   */
  readonly mode?: Named;
  /** The id of a model entry, an entry, a model of the AI SDK, or a function. */
  readonly model: AgentModel;
  /**
   * Of its model calls, as the AI SDK names them: `temperature`, `reasoning`, `maxOutputTokens`,
   * `providerOptions` and so on. They replace those of the model's entry; those of a start replace
   * these. They are recorded: no keys. Default: none.
   */
  readonly settings?: CallSettings;
  /**
   * chat: `required` or `{ tool: name }` makes the model call a tool first; after that it is free.
   * `none`: it may not call any. Default `auto`.
   */
  readonly toolChoice?: ToolChoice;
  /**
   * Inputs and output: `(review :string) -> {score :int}`, or schemas. Mode `json` needs an
   * output, `text` ignores it, and `react` and `chat` answer with JSON when there is one.
   */
  readonly signature?: Signature;
  /**
   * Template of the task, filled in with the context. Default `{{task}}`. In mode react it may be
   * a function on the worker that writes, for each request, what replaces the system message.
   */
  readonly prompt?: string | PromptFunction;
  /** What fields of the output mean, by name; shown in prompts and schemas. */
  readonly fieldDescriptions?: { readonly [name: string]: string };
  /** What keys of the context mean; shown in prompts. */
  readonly contextDescriptions?: { readonly [name: string]: string };
  /** Digits after the decimal point that floats of the answer keep, 0 to 15. Default: all. */
  readonly floatPrecision?: number;
  /**
   * Called on the worker for each request of a reply: which tools are offered, which choice and which
   * settings it has. What it gives is recorded with the reply. Default: as the agent says.
   */
  readonly prepare?: PrepareFunction;
  /** System text, or a function on the worker that writes it for each request. Default: none. */
  readonly instructions?: string | TextFunction;
  /** Rules that always apply; they follow the instructions in the prompt. Default: none. */
  readonly rules?: string | TextFunction;
  /**
   * Tools, servers of the Model Context Protocol whose tools it has as well, and tools of the AI SDK that
   * providers run, such as `openai.tools.webSearch({})`. By name it also takes tools of the AI SDK that
   * have an `execute`, as `fromAiTool` with the effect `once`. Default: none.
   */
  readonly tools?: readonly AgentTool[] | { readonly [name: string]: AgentTool };
  /** The prompt explains how to search the tools. Default: it lists all tools. */
  readonly toolSearch?: ToolSearchOptions;
  /** True adds the tool `ask_user`: the model asks a person and waits. Default false. */
  readonly askUser?: boolean;
  /** True adds the tool `llm_query`: the model asks another model a question. Default false. */
  readonly llmQuery?: boolean;
  /**
   * `auto`: a model is asked to stream only while somebody reads the run when the call begins; see
   * Streaming. Default: as the entry of the model says.
   */
  readonly stream?: StreamPolicy;
  /** Functions around each model call, the first outermost. */
  readonly modelMiddleware?: readonly ModelMiddleware[];
  /** Functions around each tool call, the first outermost. */
  readonly toolMiddleware?: readonly ToolMiddleware[];
  /**
   * Returns a text as models may read it: called for each text of a request before it is sent, also
   * of summaries and of questions to other models. The transcript keeps the text as it is. It must
   * be quick and depend on the text alone: all texts of a request together have a second.
   *
   * @example redact: (text) => text.replaceAll(/\b\d{16}\b/g, '[card]')
   */
  readonly redact?: RedactText;
  /**
   * They look at the task before any model sees it, in order: each lets it pass, ends the run as `blocked`,
   * or writes the text that models see in its place. Default: none.
   */
  readonly guards?: readonly Guard[];
  /** Validators of answers; they run after those of `answer`. Default: none. */
  readonly validators?: readonly ValidatorDefinition[];
  /** Limits of the run. Default limits apply unless this is `'unlimited'`. */
  readonly limits?: LimitsInput;
  /**
   * Calls back to addresses on the web when a run asks a person, reaches a limit or ends: see
   * docs/callbacks.md. Default: none.
   */
  readonly onEvent?: OnEventInput;
  /**
   * Maximum number of turns, from 1; the smaller of it and the limit `iterations` applies. In
   * `json` it counts the first attempt and its repairs, default 5. In `lisp` it counts programs,
   * but not `retryTurns`; default 5. In `text` it is always 1. Default in the other modes: only the
   * limit.
   */
  readonly maxTurns?: number;
  /** True: the calls of a turn start together. Default true. */
  readonly parallel?: boolean;
  /** Maximum number of calls in one turn, from 1. Default 64. */
  readonly maxCallsPerTurn?: number;
  /**
   * How often the model is asked to go on with an answer that was cut off by its length, from 0. Each
   * time is a model call. Then the run ends as `answer_cut`. Default 2.
   */
  readonly maxContinuations?: number;
  /**
   * `ask`: when every model has refused, a person is asked under `pending` to try again, name another
   * model or end the run, which waits within its limits on time. Default `fail`: the run ends.
   */
  readonly onRefusal?: 'fail' | 'ask';
  /** Messages between the system text and the task. Default: none. */
  readonly examples?: readonly Message[];
  /** IANA name of the time zone for dates in instructions. Default `UTC`. */
  readonly timeZone?: string;
  /** How long runs wait for a worker that has what they need; default: that of the worker. */
  readonly elsewhereMs?: number;
  /** Task queues of model and tool activities; default: the queue of the run. */
  readonly queues?: QueueSpec;
  /**
   * When and how the conversation is shortened; false for never. Default for a model with a
   * `contextWindow`: at `context(0.8)`, by `mask()`, then `summarize({ keepRecent: 3 })`. Default
   * for others: never.
   */
  readonly compaction?: CompactionOptions | false;
  /**
   * react: false for no thinking section, a guidance text, or a section; default true. lisp:
   * whether the model reasons before its program; default false.
   */
  readonly thinking?: boolean | string | SectionDefinition;
  /** react: further sections, between thinking and action. */
  readonly sections?: readonly SectionDefinition[];
  /**
   * react: `xml`, `markdown`, `own:name` of one that `extend` adds, or a format with options such as
   * `xmlFormat()`. Default `xml`.
   */
  readonly format?: FormatDefinition | FormatDefinition['kind'];
  /**
   * react: `yaml`, `json`, `own:name` of one that `extend` adds, or a toolchain with options such as
   * `yamlToolchain()`. Default `yaml`.
   */
  readonly toolchain?: ToolchainDefinition | ToolchainDefinition['kind'];
  /** react: the kind of answer, or `own:name` of one that `extend` adds. Default `textAnswer()`. */
  readonly answer?: Answer;
  /** react: which one counts when a reply has an action and an answer. Default `action`. */
  readonly precedence?: 'action' | 'answer';
  /**
   * react: what happens to a reply without sections. `answer-after-two`: the second in a row is
   * judged as the answer. `answer`, `answer-or-fail`: the first is; if it is not accepted, the model
   * is asked again, or the run ends as `unparsable_reply`. `retry`: the model is asked again.
   * `fail`: the run ends. Default `answer-after-two`; with a schema of the answer, `retry`.
   */
  readonly onUnparsed?: OnUnparsed;
  /** react: the last user message of the first and of later requests; false for none. */
  readonly markers?: readonly [string, string] | false;
  /** lisp: further turns, only to repair a rejected `return`. Default 0. */
  readonly retryTurns?: number;
  /** lisp: `explicit` means that only `return` ends the run. Default `implicit`. */
  readonly completion?: LispSpec['completion'];
  /** lisp: `tool_call`: programs as native calls of `lisp_eval`. Default `content`: in text. */
  readonly transport?: LispSpec['transport'];
  /** lisp: steps of a checklist that programs tick off with `step-done`. Default none. */
  readonly plan?: readonly string[];
  /** lisp: true explains to the model that `task` keeps values across failures. Default false. */
  readonly journal?: boolean;
  /** react, chat: true lets the model write programs as well as calls. Default false. */
  readonly programs?: boolean;
  /** lisp, programs: limits of each program; see docs/programs.md. */
  readonly program?: ProgramSpec['limits'];
  /** lisp, programs: maximum size of definitions in UTF-8 bytes. Default 1,048,576. */
  readonly memoryLimitBytes?: number;
  /**
   * lisp, programs: whether definitions that are too large end the run (`strict`, the default) or
   * undo the program (`rollback`).
   */
  readonly memoryStrategy?: ProgramSpec['memoryStrategy'];
  /** lisp, programs: how much of feedback, results and data the model reads. */
  readonly sizes?: Partial<ProgramSizes>;
}

/** The options once its tools are a list. */
export interface ListedOptions extends Omit<AgentOptions, 'tools'> {
  readonly tools?: readonly AgentTool[];
}

/** Options of every mode, though a mode may refuse some of their values. */
export const COMMON_OPTIONS: readonly (keyof AgentOptions)[] = [
  'name',
  'description',
  'mode',
  'model',
  'settings',
  'prepare',
  'signature',
  'prompt',
  'fieldDescriptions',
  'contextDescriptions',
  'floatPrecision',
  'instructions',
  'rules',
  'tools',
  'askUser',
  'stream',
  'modelMiddleware',
  'toolMiddleware',
  'redact',
  'guards',
  'validators',
  'limits',
  'onEvent',
  'maxTurns',
  'onRefusal',
  'timeZone',
  'elsewhereMs',
  'queues',
  'compaction',
];

/** The modes of options that only some modes have. */
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
  maxContinuations: ['react', 'chat', 'text'],
  toolChoice: ['chat'],
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

/** Options about programs, for mode `lisp` and for agents with `programs: true`. */
export const PROGRAM_OPTIONS: readonly (keyof AgentOptions)[] = [
  'program',
  'memoryLimitBytes',
  'memoryStrategy',
  'sizes',
];

/** Our names for options that other products name differently. */
export const OTHER_NAMES: { readonly [name: string]: string } = {
  output: 'mode',
  max_turns: 'maxTurns',
  compression: 'compaction',
  llm: 'model',
};
