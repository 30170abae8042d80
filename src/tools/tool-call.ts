/**
 * One attempt of a tool call, and the ends that it can have. Knows nothing of the code of tools and
 * of what it returns: see `run-tool.ts` and `read-outcome.ts`.
 */
import type { SizeLimits } from '../core/base/size-limits.ts';
import type { Json, JsonObject } from '../core/base/json.ts';
import type { CallOutcome, EventPart, ToolOrder, ToolResult } from '../core/contract/outcome.ts';
import { canceledCallText, toolErrorText } from '../core/toolchain/call-texts.ts';
import type {
  RegisteredAgent,
  ToolContext,
  ToolDefinition,
} from '../define/definition/definitions.ts';
import type { McpProgress, McpTools } from '../define/mcp/mcp-tools.ts';
import type { AttemptOptions } from './attempt.ts';
import type { ToolPlaces } from './isolation.ts';

/** What an attempt needs besides the order. */
export interface ToolRunOptions extends AttemptOptions {
  /** The id of the run. */
  readonly run: string;
  /** The context of the run, for a tool that reads it. Default: none. */
  readonly context?: JsonObject | undefined;
  /** Attempts that ended because a worker was lost, beside `attempt`. Default 0. */
  readonly losses?: number;
  /** Those of the losses whose worker died: the call may have ended it. Default 0. */
  readonly deaths?: number;
  /** Whether the signal was aborted by a shutdown of the worker and not by a user. */
  readonly isShutdown?: () => boolean;
  /** Called with each event that the tool emits, at once. Must neither wait nor throw. */
  readonly onEvent?: (topic: string, data: Json, part?: EventPart) => void;
  /** Where isolated tools, and calls that may have ended many workers, run. Absent: here. */
  readonly places?: ToolPlaces;
  /** The servers whose tools calls may need. Default: none. */
  readonly mcp?: McpTools | undefined;
  /** The span of the call, for the server that makes it. Default: that of the tree's caller. */
  readonly traceparent?: string;
  /** Whether the run takes the tool of a server for `once`. Default false. */
  readonly isOnce?: boolean;
  /** Called with the progress that a server reports. Must neither wait nor throw. */
  readonly onProgress?: (progress: McpProgress) => void;
  /** How large a result may be. Default: in a run without a blob store. */
  readonly sizes?: SizeLimits;
}

/** The result of an attempt: the call has a result, or must be retried. */
export type ToolRun =
  | { readonly kind: 'result'; readonly result: ToolResult }
  /** This worker lacks the tool; `what` names it in words. Nothing was begun. */
  | { readonly kind: 'not_here'; readonly what: string }
  /** The tool threw and has attempts left. */
  | { readonly kind: 'retry'; readonly message: string }
  /** The worker stops: the call is to be retried on another one. A `once` tool did not begin. */
  | { readonly kind: 'shutdown' };

/** One attempt of a call: its order, agent, tool and options. */
export interface ToolAttempt {
  readonly agent: RegisteredAgent;
  readonly tool: ToolDefinition;
  readonly order: ToolOrder;
  readonly options: ToolRunOptions;
  /** The code of the tool, here or in a place of its own. */
  readonly work: (args: unknown, context: ToolContext) => unknown;
}

/** How often the code of the tool may have begun, this time included. */
export function triesOf({ attempt: attempts, losses = 0 }: ToolRunOptions): number {
  return attempts + losses;
}

/** Stopped before the tool began. */
export function unstarted({ options }: ToolAttempt): ToolRun {
  if (options.isShutdown?.() === true) return { kind: 'shutdown' };
  return ended(options, false, 'canceled', canceledCallText);
}

/** A failure that may pass: retried while there are attempts left, then reported to the model. */
export function failed({ tool, options }: ToolAttempt, message: string, started: boolean): ToolRun {
  if (options.attempt < tool.spec.retry.attempts) return { kind: 'retry', message };
  return ended(options, started, 'error', toolErrorText(message));
}

/** The call ended without a value; `error` is what the model reads. */
export function ended(
  options: ToolRunOptions,
  started: boolean,
  outcome: Exclude<CallOutcome, 'ok'>,
  error: string,
): ToolRun {
  return { kind: 'result', result: { outcome, error, attempts: options.attempt, started } };
}
