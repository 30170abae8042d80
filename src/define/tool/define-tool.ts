import { defined } from '../../core/base/defined.ts';
import type { ToolSpec } from '../../core/contract/spec.ts';
import type { JsonObject } from '../../core/base/json.ts';
import { usageErrorOf } from '../../core/base/usage-error.ts';
import type { ToolDefinition } from '../definition/definitions.ts';
import {
  TOOL_DEFAULTS,
  type ArgsOf,
  type AnyToolOptions,
  type IsolatedToolOptions,
  type ParametersInput,
  type ToolOptions,
} from './tool-options.ts';
import { isolatedTool, runHere } from './isolated-tool.ts';
import { approvalSpec, parameterProblems, schemaProblems, toolProblems } from './tool-problems.ts';
import type { ToolSearchFields } from '../definition/tool-search-options.ts';
import { readObjectSchema, readSchema, type SchemaReading } from '../schema/value-schema.ts';

/**
 * Defines a tool that agents can use.
 *
 * @throws UsageError with all problems of the options, a line each.
 * @example
 * const search = defineTool({
 *   name: 'search',
 *   description: 'Search the web.',
 *   parameters: z.object({ query: z.string() }),
 *   execute: async ({ query }, { signal }) => fetchHits(query, signal),
 * });
 */
export function defineTool<const Parameters extends ParametersInput = undefined>(
  options: ToolOptions<Parameters> | IsolatedToolOptions<Parameters>,
): ToolDefinition<ArgsOf<Parameters>> {
  const reading = readParameters(options.parameters, options.jsonSchema);
  const output = options.output === undefined ? undefined : readSchema(options.output);
  const problems = [
    ...toolProblems(options),
    ...parameterProblems(options.name, reading),
    ...schemaProblems(`\`output\` of \`${options.name}\` to be a schema`, output),
  ];
  if (problems.length > 0) throw usageErrorOf(problems);
  const schema = reading?.kind === 'schema' ? reading.schema : null;
  const isolate = 'isolate' in options ? isolatedTool(options) : undefined;
  return {
    kind: 'tool',
    spec: defined({
      ...toolSpec(options, schema?.json ?? null),
      output: output?.kind === 'schema' ? output.schema.json : undefined,
      isolate: isolate?.place,
    }),
    standard: schema?.standard ?? null,
    ...defined({
      search: options.search,
      enabled: options.enabled,
      approval: typeof options.approval === 'function' ? options.approval : undefined,
      asks: (options as ToolOptions<Parameters>).asks,
      isolate,
    }),
    execute:
      isolate === undefined
        ? (options as ToolOptions<Parameters>).execute
        : (args, context) => runHere(isolate, args, context),
  };
}

function toolSpec(options: AnyToolOptions, parameters: JsonObject | null): ToolSpec {
  const local = options.local === true;
  const effect = options.effect ?? TOOL_DEFAULTS.effect;
  const retry = { ...TOOL_DEFAULTS.retry, ...options.retry };
  return {
    name: options.name,
    description: options.description,
    ...defined({ policy: options.policy }),
    parameters,
    effect,
    local,
    ...defined({ auto: isAuto(options) ? (true as const) : undefined }),
    timeoutMs:
      options.timeoutMs ?? (local ? TOOL_DEFAULTS.localTimeoutMs : TOOL_DEFAULTS.timeoutMs),
    retry: effect === 'once' ? { ...retry, attempts: 1 } : retry,
    sequential: options.sequential ?? false,
    maxResultBytes: options.maxResultBytes ?? TOOL_DEFAULTS.maxResultBytes,
    ...defined({
      cache: options.cache === true ? true : undefined,
      repeatable: options.repeatable === true ? true : undefined,
      final: options.final === true ? true : undefined,
      readsContext: options.readsContext === true ? true : undefined,
      asks: options.asks === undefined ? undefined : true,
    }),
    ...approvalSpec(options),
    ...areaOf(options.search),
  };
}

/**
 * Whether the worker may learn that the tool is quick. A local call can neither wait for a place nor
 * ask its run.
 */
function isAuto(options: AnyToolOptions): boolean {
  const { effect, local = 'auto', readsContext } = options;
  return effect === 'read' && local === 'auto' && readsContext !== true && !('isolate' in options);
}

/** What the prompt of tool search lists; the rest of `search` is for the index on the worker. */
function areaOf(search: ToolSearchFields | undefined): Pick<ToolSpec, 'area'> {
  const { domain, categories } = search ?? {};
  if (domain === undefined && categories === undefined) return {};
  return { area: defined({ domain, categories }) };
}

function readParameters(input: ParametersInput, beside?: JsonObject): SchemaReading | undefined {
  const schema = input ?? beside;
  return schema === undefined ? undefined : readObjectSchema(schema, beside);
}
