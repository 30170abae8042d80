import type { RetrySpec, ToolEffect } from '../../core/contract/spec.ts';
import type { JsonObject } from '../../core/base/json.ts';
import type { ToolContext } from '../definition/definitions.ts';
import type { StandardSchema } from '../schema/standard-schema.ts';
import type { ToolSearchFields } from '../definition/tool-search-options.ts';
import type { SchemaInput } from '../schema/value-schema.ts';

/** What a tool does that does not say otherwise. */
export const TOOL_DEFAULTS: {
  readonly effect: ToolEffect;
  readonly timeoutMs: number;
  readonly localTimeoutMs: number;
  readonly retry: RetrySpec;
  readonly maxResultBytes: number;
} = {
  /** Most tools look something up or can use the idempotency key; writers that cannot say `once`. */
  effect: 'idempotent',
  /** A minute: longer than a slow service takes, shorter than a person waits for a chat. */
  timeoutMs: 60_000,
  /** A local call blocks the workflow's own worker, so it gets less. */
  localTimeoutMs: 2_000,
  /** Three tries outlive a restart of most services; 1 s, then 2 s between them. */
  retry: { attempts: 3, initialMs: 1_000, factor: 2 },
  /** 64 KB, about 16,000 tokens: more of one result crowds out the conversation. */
  maxResultBytes: 65_536,
};

/** The bounds of what a tool may ask for. */
export const TOOL_BOUNDS = {
  /** The service's heartbeat of a local activity: longer ones lose their workflow task. */
  localTimeoutMs: 5_000,
  /** 256 KB: results stand in history, whose payloads the service bounds at 2 MB. */
  maxResultBytes: 262_144,
} as const;

/** A schema of arguments: JSON Schema of an object, or an object schema of zod, valibot, … */
export type ParametersInput = SchemaInput | undefined;

/** The type of the arguments that a schema lets through. */
export type ArgsOf<Parameters extends ParametersInput> =
  Parameters extends StandardSchema<unknown, infer Output> ? Output : JsonObject;

/** The options of {@link defineTool}. */
export interface ToolOptions<Parameters extends ParametersInput = undefined> {
  /** 1 to 64 letters, digits, `_` or `-`, a letter first; unique in an agent. */
  readonly name: string;
  /** What it does. */
  readonly description: string;
  /** When and how to use it. */
  readonly policy?: string;
  /** Without it the tool takes nothing. */
  readonly parameters?: Parameters;
  /** The JSON Schema of a schema object that cannot tell its own. */
  readonly jsonSchema?: JsonObject;
  /** Default `idempotent`. A `once` tool is tried once and never repeated blindly. */
  readonly effect?: ToolEffect;
  /** True runs `read` tools of at most 5 s as local activities: faster, fewer events. */
  readonly local?: boolean;
  /** Default 60,000, `local` 2,000. A call that takes longer fails and is not tried again. */
  readonly timeoutMs?: number;
  /** For errors but `ToolError`. Default: 3 attempts, 1 s, doubling. */
  readonly retry?: Partial<RetrySpec>;
  /** True: its calls overlap with no other call of the turn. */
  readonly sequential?: boolean;
  /** Default 65,536, at most 262,144. Longer results are cut, with a marker. */
  readonly maxResultBytes?: number;
  /** What it returns, for programs that call it: a schema that is shown and not checked. */
  readonly output?: SchemaInput;
  /**
   * True: successes are kept per run, the newest 256 KB, and an equal call gets the same result
   * without running again. For tools whose answer does not change while a run lasts.
   */
  readonly cache?: boolean;
  /**
   * Whether a person approves, denies or edits a call before it runs: every call, or those for which a
   * function on the worker, called with checked arguments, gives true. One that throws on every try
   * asks the person too. Default `never`.
   */
  readonly approval?:
    'always' | 'never' | ((args: ArgsOf<Parameters>) => boolean | Promise<boolean>);
  /** How long the person has; then the call is denied. Default: as long as it takes. */
  readonly approvalTimeoutMs?: number;
  /** By what tool search finds it, see `toolSearch` of agents. */
  readonly search?: ToolSearchFields;
  /**
   * Does the work, on the worker. Returns plain JSON data, nothing, a `toolResult`, or `external()`
   * for work that somebody else ends. A thrown
   * `ToolError` is for the model; other errors are retried, then told to the model.
   */
  readonly execute: (args: ArgsOf<Parameters>, context: ToolContext) => unknown;
}
