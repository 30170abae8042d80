/** Middleware: user functions on the worker around the model calls and tool calls of an agent. */
import type { RunInfo } from '../../core/calls/run-info.ts';
import type { ModelReply, ModelRequest, Reply } from '../../core/contract/model.ts';

/**
 * Wraps each model call. May change messages and settings of this call, call `next` again, change the
 * reply, or return one without calling it, in any form that a model function may return. `blocked`
 * ends the run. A changed request is not recorded. The first of a list is the outermost. It runs again
 * when the call is retried.
 */
export type ModelMiddleware = (
  request: ModelRequest,
  next: (request: ModelRequest) => Promise<Reply>,
  info: RunInfo,
) => Reply | ModelReply | string | Promise<Reply | ModelReply | string>;

/** A tool call as a middleware sees it. */
export interface ToolMiddlewareCall {
  readonly tool: string;
  /** As the model wrote them, after the check. */
  readonly args: { readonly [name: string]: unknown };
  readonly callId: string;
  readonly idempotencyKey: string;
  /** The id of the run, by which a client reaches it: `everloop.attach(run)`. */
  readonly run: string;
  readonly runId: string;
  readonly agentPath: string;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
  /** Aborted when the run is canceled or interrupted, or when the call times out. */
  readonly signal: AbortSignal;
}

/**
 * Wraps each tool call, within its time limit. `next` runs the tool and returns its result; changed
 * arguments are checked again. May return anything that a tool may, or throw a `ToolError`. The
 * first of a list is the outermost. It runs again when the call is retried.
 */
export type ToolMiddleware = (
  call: ToolMiddlewareCall,
  next: (call: ToolMiddlewareCall) => Promise<unknown>,
  info: RunInfo,
) => unknown;

/** The middleware of an agent. */
export interface Middleware {
  readonly model: readonly ModelMiddleware[];
  readonly tool: readonly ToolMiddleware[];
}

/** `innermost` wrapped in the functions of `around`, the first of them outermost. */
export function layered<Input, Output>(
  around: readonly ((
    input: Input,
    next: (input: Input) => Promise<Output>,
    info: RunInfo,
  ) => unknown)[],
  innermost: (input: Input) => Promise<Output>,
  info: RunInfo,
): (input: Input) => Promise<Output> {
  return around.reduceRight<(input: Input) => Promise<Output>>(
    (next, layer) => async (input) => (await layer(input, next, info)) as Output,
    innermost,
  );
}
