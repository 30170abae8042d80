import type { ToolDefinition } from '../definition/definitions.ts';
import { defineTool } from './define-tool.ts';
import { external } from './external.ts';
import type { ArgsOf, CommonToolOptions, ParametersInput, ToolOptions } from './tool-options.ts';

/** The options of {@link clientTool}. */
export interface ClientToolOptions<Parameters extends ParametersInput = undefined> extends Pick<
  CommonToolOptions<Parameters>,
  | 'name'
  | 'description'
  | 'policy'
  | 'parameters'
  | 'jsonSchema'
  | 'output'
  | 'sequential'
  | 'maxResultBytes'
  | 'approval'
  | 'approvalTimeoutMs'
  | 'enabled'
  | 'search'
> {
  /** Milliseconds until the call fails without a result. Default: it waits for ever. */
  readonly timeoutMs?: number;
}

// By which a page knows that the outside work of a call is its own.
const CLIENT_WORK = { client: true } as const;

/**
 * Defines a tool that the page of a chat executes, such as a question for the place where the user is.
 * Its call waits as outside work does, for `run.answer(callId, result)`; pages with `useChat` send
 * that by `addToolOutput`.
 *
 * @throws UsageError as `defineTool`, and as `external` for `timeoutMs`.
 * @example
 * const place = clientTool({ name: 'place', description: 'Where the user is.', timeoutMs: 60_000 });
 */
export function clientTool<const Parameters extends ParametersInput = undefined>({
  timeoutMs,
  ...options
}: ClientToolOptions<Parameters>): ToolDefinition<ArgsOf<Parameters>> {
  const work = external({ details: CLIENT_WORK, ...(timeoutMs !== undefined && { timeoutMs }) });
  return defineTool<Parameters>({ ...options, execute: () => work } as ToolOptions<Parameters>);
}
