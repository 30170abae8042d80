/** Tools of the AI SDK as tools of agents. */
import { defined } from '../../core/base/defined.ts';
import { isPlainObject, type Json, type JsonObject } from '../../core/base/json.ts';
import type { MediaPart } from '../../core/base/message.ts';
import type { ToolEffect } from '../../core/contract/spec.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import type { ToolContext, ToolDefinition } from '../definition/definitions.ts';
import type { StandardSchema } from '../schema/standard-schema.ts';
import { defineTool } from './define-tool.ts';
import type { AiTool } from './hosted-tool.ts';
import type { ToolOptions } from './tool-options.ts';
import { toolResult } from './tool-result.ts';

/** What a tool of the AI SDK does not say. */
export interface AiToolOptions extends Partial<
  Omit<ToolOptions, 'name' | 'parameters' | 'jsonSchema' | 'execute' | 'effect'>
> {
  /** What a repeated call does. A `once` tool gets one attempt only. */
  readonly effect: ToolEffect;
}

type Fields = { readonly [name: string]: unknown };

/**
 * A tool from one of the AI SDK, 6 or 7, that has an `execute`: of `tool({…})`, or of a provider, such as
 * `anthropic.tools.bash_20250124({ execute })`. Its `needsApproval` asks a person, `toModelOutput` says
 * what the model reads, and what `execute` yields is progress. `execute` gets `toolCallId` and
 * `abortSignal`, and no messages.
 *
 * @throws UsageError without an `execute`, or with a schema that has no JSON Schema.
 * @example
 * import { tool } from 'ai';
 * import { z } from 'zod';
 *
 * const today = tool({
 *   description: 'Says what the weather is.',
 *   inputSchema: z.object({ city: z.string() }),
 *   execute: ({ city }) => `Rain in ${city}.`,
 * });
 * const weather = fromAiTool('weather', today, { effect: 'read' });
 */
export function fromAiTool(name: string, tool: AiTool, options: AiToolOptions): ToolDefinition {
  const { execute, needsApproval, toModelOutput, description } = tool as AiTool & Fields;
  if (typeof execute !== 'function') {
    const message = `Expected an \`execute\` of tool \`${name}\`, got none. Add it: your worker runs the tool.`;
    throw new UsageError('tool_execute', message);
  }
  const { parameters, jsonSchema } = schemaOf(name, tool.inputSchema);
  const approval =
    typeof needsApproval === 'function'
      ? (args: unknown) =>
          Reflect.apply(needsApproval, tool, [args, { toolCallId: '', messages: [] }])
      : needsApproval === true
        ? 'always'
        : undefined;
  const run = (args: unknown, { callId, signal }: ToolContext): unknown =>
    Reflect.apply(execute, tool, [args, { toolCallId: callId, messages: [], abortSignal: signal }]);
  const told = typeof toModelOutput === 'function' ? toModelOutput : undefined;
  return defineTool(
    defined({
      ...options,
      name,
      description: options.description ?? (typeof description === 'string' ? description : name),
      parameters,
      jsonSchema,
      approval: options.approval ?? approval,
      execute:
        told === undefined
          ? run
          : async (args: unknown, context: ToolContext) => {
              const output = await run(args, context);
              const toolCallId = context.callId;
              return readOutput(
                await Reflect.apply(told, tool, [{ toolCallId, input: args, output }]),
              );
            },
    }) as ToolOptions<StandardSchema>,
  ) as ToolDefinition;
}

/** Marks what `jsonSchema()` and `zodSchema()` of the AI SDK return. */
const SCHEMA = Symbol.for('vercel.ai.schema');

/** The schema of the arguments as ours. A schema of the AI SDK may be made when it is asked for. */
function schemaOf(
  name: string,
  given: unknown,
): { readonly parameters?: StandardSchema; readonly jsonSchema?: JsonObject } {
  const schema = (
    typeof given === 'function' && !('~standard' in given) ? given() : given
  ) as Fields;
  if (Object(schema) !== schema || !(SCHEMA in schema)) return { parameters: schema as never };
  const { jsonSchema, validate } = schema;
  if (!isPlainObject(jsonSchema)) {
    const message = `Expected a schema of tool \`${name}\` that has its JSON Schema at once, got one that has to be waited for. Give the schema of your library, such as zod.`;
    throw new UsageError('tool_schema', message);
  }
  if (typeof validate !== 'function') return { parameters: jsonSchema as never };
  const check = async (value: unknown) => {
    const read = (await Reflect.apply(validate, schema, [value])) as Fields;
    if (read['success'] === true) return { value: read['value'] };
    return { issues: [{ message: String(Object(read['error'])['message'] ?? 'does not fit') }] };
  };
  const parameters = { '~standard': { version: 1 as const, vendor: 'ai', validate: check } };
  return { parameters, jsonSchema: jsonSchema as JsonObject };
}

/** What `toModelOutput` returned: `{ type: 'text', value }`, `json`, an error of either, or `content`. */
function readOutput(given: unknown): unknown {
  const { type, value, reason } = Object(given) as Fields;
  if (type === 'execution-denied')
    return `Denied${typeof reason === 'string' ? `: ${reason}` : '.'}`;
  if (type !== 'content' || !Array.isArray(value)) return value;
  const parts = value as readonly Fields[];
  const texts = parts.flatMap((part) => (part['type'] === 'text' ? [part['text'] as Json] : []));
  const media = parts.flatMap(mediaIn);
  return toolResult({ output: texts.length === 1 ? texts[0] : texts, media });
}

/** A file as the AI SDK 6 and 7 have it in a result. */
function mediaIn({ type, mediaType, url, data: given }: Fields): readonly MediaPart[] {
  if (type === 'text') return [];
  const { data = given, url: of = url } = isPlainObject(given) ? given : {};
  const named = typeof mediaType === 'string' ? mediaType : 'image/*';
  if (typeof data === 'string') return [{ type: 'media', mediaType: named, data }];
  if (typeof of !== 'string' && !(of instanceof URL)) return [];
  return [{ type: 'media', mediaType: named, url: String(of) }];
}
