/** What every tool of the server has, and how its arguments are checked and its results written. */
import type { CallToolResult, ToolAnnotations } from '@modelcontextprotocol/server';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { errorText } from '../../core/base/error-text.ts';
import type { Json, JsonObject } from '../../core/base/json.ts';
import { isUsageError, UsageError } from '../../core/base/usage-error.ts';
import { clip } from '../../core/text/cut.ts';
import type { RunHandle } from '../../client/run-handle.ts';

/** What a call has besides its arguments. */
export interface ServedCall {
  /** Ends with the call: its caller is gone, or the server stops. */
  readonly signal: AbortSignal;
  /** Whether the caller takes a task in place of a result. */
  readonly takesTask: boolean;
  /** Equal for each repetition of the call; absent: the caller gives none. */
  readonly idempotencyKey?: string;
  /** Tells the caller that the work goes on; does nothing if it did not ask. */
  readonly progress: (progress: number, total: number, message: string) => void;
}

/** What a call gives. */
export type ToolAnswer =
  | {
      readonly kind: 'value';
      readonly value: JsonObject;
      /** True: the call did what it should, but its run did not succeed. */
      readonly isError?: boolean;
    }
  /** The caller asks for the end of this run as a task. */
  | { readonly kind: 'task'; readonly run: RunHandle };

/** A tool of the server. */
export interface ServerTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly parameters: JsonObject;
  readonly annotations: ToolAnnotations;
  /** True: it starts or changes runs, so that a read-only server does not have it. */
  readonly writes: boolean;
  /** @throws UsageError that the caller reads. */
  readonly call: (args: JsonObject, call: ServedCall) => Promise<ToolAnswer>;
}

/** Hints of a tool that changes nothing. */
export const READS: ToolAnnotations = { readOnlyHint: true, openWorldHint: false };

/** The schema of arguments; `required` names those that a call must have. */
export function parametersOf(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: 'object', properties, required, additionalProperties: false };
}

/** The parameter that names a run. */
export const RUN: JsonObject = {
  type: 'string',
  description: 'Id of the run, from start_run or list_runs.',
};

/** A text argument; empty if it is absent. */
export function textOf(argument: Json | undefined): string {
  return typeof argument === 'string' ? argument : '';
}

type Check = ReturnType<AjvJsonSchemaValidator['getValidator']>;

/**
 * By schema object, which tools keep. Each schema has a validator of its own: one for all would never
 * free what it compiled, and would take two schemas with the same `$id` for one.
 */
const checks = new WeakMap<JsonObject, Check>();

/** Characters of what a schema finds wrong: it may name many fields. */
const MAX_PROBLEM = 1_000;

/** @throws UsageError `invalid_input` for arguments that do not fit the schema of the tool. */
export function assertFits(
  { name, parameters }: Pick<ServerTool, 'name' | 'parameters'>,
  args: JsonObject,
): void {
  const check = checks.get(parameters) ?? new AjvJsonSchemaValidator().getValidator(parameters);
  checks.set(parameters, check);
  const checked = check(args);
  if (checked.valid) return;
  const problem = clip(checked.errorMessage.replaceAll(/\bdata\b\/?/g, ''), MAX_PROBLEM);
  throw new UsageError(
    'invalid_input',
    `Expected arguments of ${name} that fit its schema, got: ${problem.trim()}. Correct them.`,
  );
}

/** `value` as a result: structured, and as text for hosts that read only text. */
export function resultOf(value: JsonObject, isError = false): CallToolResult {
  const text = JSON.stringify(value);
  const structuredContent = value as { [key: string]: Json };
  return { content: [{ type: 'text', text }], structuredContent, isError };
}

/** Characters of the text of an unexpected error. */
const MAX_ERROR = 500;

/** An error as a result that the caller reads. */
export function failureOf(error: unknown): CallToolResult {
  const text = isUsageError(error)
    ? error.message
    : `Unexpected: ${clip(errorText(error), MAX_ERROR)} See the log of the server.`;
  return { content: [{ type: 'text', text }], isError: true };
}
