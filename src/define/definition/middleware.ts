/** What stands around the models and tools of an agent: functions of a user, on the worker. */
import type { ModelRequest, Reply } from '../../core/contract/model.ts';

/**
 * Stands around each model call. May change messages and settings of this one call, ask again,
 * answer itself, or change the reply; nothing of the request is kept. The first of a list is the
 * outermost. It runs again when the call is tried again.
 */
export type ModelMiddleware = (
  request: ModelRequest,
  next: (request: ModelRequest) => Promise<Reply>,
) => Reply | Promise<Reply>;

/** A tool call as a middleware sees it. */
export interface ToolMiddlewareCall {
  readonly tool: string;
  /** As the model wrote them; they have been checked. */
  readonly args: { readonly [name: string]: unknown };
  readonly callId: string;
  readonly idempotencyKey: string;
  readonly runId: string;
  readonly agentPath: string;
  /** Tries of this call, from 1. */
  readonly attempt: number;
  /** Aborted when the run is canceled or interrupted, or the time of the call is up. */
  readonly signal: AbortSignal;
}

/**
 * Stands around each tool call, within its time. `next` runs the tool and gives what it returned;
 * changed arguments are checked again. May return anything that a tool may, or throw a `ToolError`.
 * The first of a list is the outermost. It runs again when the call is tried again.
 */
export type ToolMiddleware = (
  call: ToolMiddlewareCall,
  next: (call: ToolMiddlewareCall) => Promise<unknown>,
) => unknown;

/** The middleware of an agent. */
export interface Middleware {
  readonly model: readonly ModelMiddleware[];
  readonly tool: readonly ToolMiddleware[];
}

/** `innermost` with the functions of `around` about it, the first of them outermost. */
export function layered<Input, Output>(
  around: readonly ((input: Input, next: (input: Input) => Promise<Output>) => unknown)[],
  innermost: (input: Input) => Promise<Output>,
): (input: Input) => Promise<Output> {
  return around.reduceRight<(input: Input) => Promise<Output>>(
    (next, layer) => async (input) => (await layer(input, next)) as Output,
    innermost,
  );
}
