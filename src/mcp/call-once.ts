/** A call of a tool outside of a run, as commands and benchmarks make it. */
import { randomUUID } from 'node:crypto';
import { errorText } from '../core/base/error-text.ts';
import type { Json, JsonObject } from '../core/base/json.ts';
import type { MediaPart } from '../core/base/message.ts';
import type { CallInput } from '../core/contract/call-input.ts';
import type { ToolContext } from '../define/definition/definitions.ts';
import { isCallInput } from '../define/tool/call-input.ts';
import { isToolReturn } from '../define/tool/tool-result.ts';
import { fitValue } from '../tools/fit-value.ts';
import type { WorkerMcpTools } from './mcp-tools.ts';

/** Which tool is called, with what. */
export interface OnceOrder {
  readonly server: string;
  /** The server's name of it. */
  readonly tool: string;
  readonly args: JsonObject;
  readonly signal: AbortSignal;
}

/** How the call ended: with a result, a question of the server, or an error. */
export interface OnceResult {
  readonly output?: Json;
  readonly media?: readonly MediaPart[];
  readonly instructions?: string;
  readonly asks?: CallInput;
  readonly error?: string;
}

/** Calls a tool of the catalogue. Rejects if the server cannot be reached. */
export async function callOnce(tools: WorkerMcpTools, order: OnceOrder): Promise<OnceResult> {
  const { server, tool, args, signal } = order;
  const catalogue = await tools.catalogue(server);
  const found = catalogue.tools.find((it) => it.tool === tool);
  if (found?.spec.mcp === undefined) return { error: `the server ${server} has no tool ${tool}` };
  const runId = `once-${randomUUID()}`;
  const bound = await tools.bind(found.spec.mcp, { name: found.spec.name, runId, args, signal });
  if (bound.kind === 'not_here') return { error: `${bound.what} cannot be reached` };
  if (bound.kind === 'rejected') return { error: bound.message };
  const { tool: own } = bound;
  const { spec } = own;
  try {
    const fit =
      spec.parameters === null
        ? { kind: 'fits' as const, value: {} }
        : await fitValue({ json: spec.parameters, standard: null }, args);
    if (fit.kind === 'unfit') return { error: `the arguments do not fit: ${fit.lines.join('; ')}` };
    return resultOf(await own.execute(fit.value, contextOf(runId, signal)));
  } catch (error) {
    return { error: errorText(error) };
  }
}

function resultOf(value: unknown): OnceResult {
  if (isCallInput(value)) return { asks: value };
  if (isToolReturn(value)) return value as OnceResult;
  return value === undefined ? {} : { output: value as Json };
}

/** The context of a call that no run counts. */
function contextOf(runId: string, signal: AbortSignal): ToolContext {
  const ignore = (): void => undefined;
  return {
    signal,
    run: runId,
    runId,
    callId: 'call',
    agent: '',
    iteration: 0,
    agentPath: '',
    attempt: 1,
    idempotencyKey: `${runId}/call`,
    count: ignore,
    gauge: ignore,
    raise: ignore,
    reset: ignore,
    emit: ignore,
    read: () => 0,
    reportModelCall: ignore,
  };
}
