import type { RetrySpec, ToolEffect } from '../../core/contract/spec.ts';
import type { RunInfo } from '../../core/calls/run-info.ts';
import type { JsonObject } from '../../core/base/json.ts';
import type { ToolContext } from '../definition/definitions.ts';
import type { StandardSchema } from '../schema/standard-schema.ts';
import type { ToolSearchFields } from '../definition/tool-search-options.ts';
import type { SchemaInput } from '../schema/value-schema.ts';

/** The defaults of {@link ToolOptions}. */
export const TOOL_DEFAULTS = {
  /** Most tools only read or can use the idempotency key; others must say `once`. */
  effect: 'idempotent',
  /** A minute: enough for a slow service, and shorter than a person waits in a chat. */
  timeoutMs: 60_000,
  /** A local call blocks a workflow task, so it gets less time. */
  localTimeoutMs: 2_000,
  /** Three attempts, 1 s and 2 s apart, outlast a restart of most services. */
  retry: { attempts: 3, initialMs: 1_000, factor: 2 },
  /** Enough for most work on data; four such heaps still fit on a small machine. */
  heapMb: 256,
  /** 64 KB, about 16,000 tokens; a larger result would crowd out the conversation. */
  maxResultBytes: 65_536,
} as const;

/** The largest values of options. */
export const TOOL_BOUNDS = {
  /** A longer local activity would time out its workflow task. */
  localTimeoutMs: 5_000,
  /** 4 MB; without a blob store 256 KB of them count, because results are recorded in history. */
  maxResultBytes: 4_194_304,
  /** With a smaller heap, Node does not start. */
  minHeapMb: 16,
} as const;

/** A schema of arguments: JSON Schema of an object, or an object schema of zod, valibot, … */
export type ParametersInput = SchemaInput | undefined;

/** The type of the arguments that a schema accepts. */
export type ArgsOf<Parameters extends ParametersInput> =
  Parameters extends StandardSchema<unknown, infer Output> ? Output : JsonObject;

/** What inline and isolated tools have in common. */
export interface CommonToolOptions<Parameters extends ParametersInput> {
  /** 1 to 64 letters, digits, `_` or `-`, a letter first; unique in an agent. */
  readonly name: string;
  /** What it does. */
  readonly description: string;
  /** When and how to use it. */
  readonly policy?: string;
  /** Schema of the arguments. Default: the tool takes none. */
  readonly parameters?: Parameters;
  /** The JSON Schema of a schema object that has none of its own. */
  readonly jsonSchema?: JsonObject;
  /** What a repeated call does. A `once` tool gets one attempt only. Default `idempotent`. */
  readonly effect?: ToolEffect;
  /**
   * True runs a `read` tool of at most 5 s as a local activity: faster, fewer events. With `auto`
   * the worker does so once it has seen that the tool is quick. Default `auto` for `read`, else
   * false.
   */
  readonly local?: boolean | 'auto';
  /**
   * Milliseconds that a call may take; a longer one fails without retry. Default 60,000, for
   * `local` 2,000.
   */
  readonly timeoutMs?: number;
  /** Retries after errors other than `ToolError`. Default: 3 attempts, after 1 s, doubling. */
  readonly retry?: Partial<RetrySpec>;
  /** True: its calls overlap with no other call of the turn. Default false. */
  readonly sequential?: boolean;
  /**
   * Bytes of JSON, at most 262,144, with a blob store 4,194,304; longer results are cut and marked.
   * Default 65,536.
   */
  readonly maxResultBytes?: number;
  /** Schema of the result, shown to models that write programs; results are not checked. */
  readonly output?: SchemaInput;
  /**
   * True: the run keeps the newest 256 KB of results, and an equal call gets the kept result. For
   * tools whose result does not change during a run. Default false.
   */
  readonly cache?: boolean;
  /**
   * True: the model may make the same call again and again with the same result, as when it waits
   * for something. Default false: it is warned after the fifth reply in a row with that call, and the
   * eighth ends the run.
   */
  readonly repeatable?: boolean;
  /**
   * True: the result of a call is the answer of the run, judged by schema and validators like one
   * that the model writes. Other calls of the turn end first; an error is read by the model. Default
   * false; `final` of `toolResult` decides for one result.
   */
  readonly final?: boolean;
  /**
   * True: calls get the context of the run as `context.context`, hidden values included. Not for
   * `local` tools. Default false.
   */
  readonly readsContext?: boolean;
  /**
   * Whether a person approves, denies or edits a call before it runs: every call, or those for
   * which the function returns true. It runs on the worker with checked arguments; if all its
   * attempts throw, the person is asked. Default `never`.
   */
  readonly approval?:
    'always' | 'never' | ((args: ArgsOf<Parameters>, info: RunInfo) => boolean | Promise<boolean>);
  /**
   * Called on the worker for each request of a reply: false leaves the tool out, and a call of it is
   * refused. Default: it is offered.
   */
  readonly enabled?: (info: RunInfo) => boolean | Promise<boolean>;
  /**
   * Returns `ask()`, or nothing once nothing is to be asked: then the call begins, with the last answer.
   * It runs on the worker, again after each answer, and as often as workers are lost; so it must
   * have no effect. For `once` tools, which may not begin before they know all; others may ask in
   * `execute`. Costs each call an activity.
   */
  readonly asks?: (args: ArgsOf<Parameters>, context: ToolContext) => unknown;
  /** Milliseconds until a call without approval is denied. Default: it waits for ever. */
  readonly approvalTimeoutMs?: number;
  /** The texts by which tool search finds it; see `toolSearch` of agents. */
  readonly search?: ToolSearchFields;
}

/** The options of a tool with parameters of any type. */
export interface AnyToolOptions extends Omit<
  CommonToolOptions<ParametersInput>,
  'approval' | 'asks'
> {
  readonly approval?: unknown;
  readonly asks?: unknown;
}

/** The options of {@link defineTool}. */
export interface ToolOptions<
  Parameters extends ParametersInput = undefined,
> extends CommonToolOptions<Parameters> {
  /**
   * Does the work, on the worker. Returns plain JSON data, nothing, a `toolResult()`, `external()` for
   * work that ends elsewhere, or `ask()` to run again with the answer of a person. A thrown `ToolError` is shown to the model; other
   * errors are retried first.
   */
  readonly execute: (args: ArgsOf<Parameters>, context: ToolContext) => unknown;
}

/** The options of {@link defineTool} for code that may block, exhaust or end what it runs in. */
export interface IsolatedToolOptions<
  Parameters extends ParametersInput = undefined,
> extends CommonToolOptions<Parameters> {
  /**
   * `thread`: calls run in worker threads, which are used again. `process`: each call runs in a
   * child process of its own, for native code and for code that blocks in it, such as `execSync`.
   * A call that throws, exits, does not end within `timeoutMs` or needs more than `heapMb` then ends
   * alone.
   */
  readonly isolate: 'thread' | 'process';
  /**
   * The module that exports the function `run`, which takes the place of `execute`: a `file:` URL
   * such as `new URL('./refund-run.ts', import.meta.url)`, or an absolute path.
   */
  readonly module: URL | string;
  /** MB of JavaScript heap of a thread or process, from 16. Default 256. */
  readonly heapMb?: number;
}
