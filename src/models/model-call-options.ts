/**
 * Translates a request to call options of the AI SDK 7 (specification v4): prompt, tools, structured
 * output, settings.
 */
import { defined } from '../core/base/defined.ts';
import type { LanguageModelV4FunctionTool, SharedV4ProviderOptions } from '@ai-sdk-7/provider';
import { type Json, type JsonObject, isJsonObject } from '../core/base/json.ts';
import type { ToolChoice } from '../core/contract/model.ts';
import type { LanguageModel } from '../define/model/language-model.ts';
import type { ModelEntry, StructuredOutput } from '../define/model/model-entry.ts';
import { isReasoningEffort } from '../define/model/reasoning.ts';
import { isOpenAiCompatible } from '../define/model/openai-compatible.ts';
import { hostOf } from './fit/traits.ts';
import { cacheMarkOf, toPrompt } from './model-prompt.ts';
import type { SdkCallOptions } from './specification.ts';
import type { WireRequest } from './wire-request.ts';

/** The schema of a tool or an output, in the type of the AI SDK. */
type Schema = LanguageModelV4FunctionTool['inputSchema'];

/**
 * How the model of `entry` gets the schema of an output: as the entry says. `auto` means `prompt`
 * for functions, which get the request as it is; `tool` for adapters that report no support for
 * schemas (such as the one for OpenAI-compatible servers); and `schema` for all others, also for
 * models that are named by their provider.
 */
export function structuredOutputOf(entry: ModelEntry): Exclude<StructuredOutput, 'auto'> {
  const wanted = entry.structuredOutput ?? 'auto';
  if (wanted !== 'auto') return wanted;
  if (typeof entry.model === 'function') return 'prompt';
  if (typeof entry.model === 'string') return 'schema';
  const supported: unknown = Reflect.get(entry.model, 'supportsStructuredOutputs');
  return supported === false ? 'tool' : 'schema';
}

/** The call options for `request` to the model of `entry`. */
export function toCallOptions(
  entry: ModelEntry,
  model: LanguageModel,
  request: WireRequest,
  signal: AbortSignal,
): SdkCallOptions {
  const settings = request.settings;
  const maxOutputTokens = numberOf(settings['maxOutputTokens']) ?? entry.maxOutputTokens;
  const isStructured =
    request.schema !== undefined &&
    request.tools === undefined &&
    structuredOutputOf(entry) === 'schema';
  const { stopSequences, headers, reasoning } = settings;
  const schema = request.schema as Schema;
  return {
    prompt: toPrompt(request.messages, {
      cacheUpTo: request.cacheUpTo,
      cacheMark: cacheMarkOf(model),
    }),
    ...defined({
      tools: toTools(request),
      toolChoice: request.toolChoice && toToolChoice(request.toolChoice),
      responseFormat: isStructured ? { type: 'json' as const, schema, name: 'answer' } : undefined,
      maxOutputTokens,
    }),
    ...numberSettings(settings),
    ...defined({
      stopSequences: Array.isArray(stopSequences) ? [...(stopSequences as string[])] : undefined,
      headers: isJsonObject(headers) ? (headers as Record<string, string>) : undefined,
      reasoning: isReasoningEffort(reasoning) ? reasoning : undefined,
    }),
    providerOptions: toProviderOptions(
      model,
      settings,
      // Adapters ask for strict schemas by default; ours is strict only when the entry says so.
      isStructured ? request.isStrict === true : undefined,
      isStructured && request.isOpen === true,
    ),
    abortSignal: signal,
    // Raw chunks carry the usage so far, which an aborted call must not lose.
    includeRawChunks: true,
  };
}

const numberSettingNames = [
  'temperature',
  'topP',
  'topK',
  'presencePenalty',
  'frequencyPenalty',
  'seed',
] as const;

function numberSettings(settings: JsonObject): { [name: string]: number } {
  return Object.fromEntries(
    numberSettingNames.flatMap((name) => {
      const value = numberOf(settings[name]);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function toTools({ tools, hosted = [] }: WireRequest): SdkCallOptions['tools'] {
  if (hosted.length === 0) return tools?.map(toTool);
  const provided = hosted.map(
    ({ name, id, args }) =>
      ({ type: 'provider', name, id: id as `${string}.${string}`, args }) as const,
  );
  return [...(tools ?? []).map(toTool), ...provided];
}

function toTool({
  name,
  description,
  parameters,
  strict,
}: NonNullable<WireRequest['tools']>[number]): LanguageModelV4FunctionTool {
  return {
    type: 'function',
    name,
    description,
    inputSchema: parameters as Schema,
    ...defined({ strict }),
  };
}

function toToolChoice(choice: ToolChoice): Exclude<SdkCallOptions['toolChoice'], undefined> {
  return typeof choice === 'string' ? { type: choice } : { type: 'tool', toolName: choice.tool };
}

/**
 * The provider's own options; those of the settings replace the defaults.
 *
 * OpenAI's responses refer to reasoning and calls of earlier turns by ids on the server, unless
 * `store` is false; stored items expire after 30 days (platform.openai.com/docs/guides/your-data),
 * while a run may go on for a year. So nothing is stored and every request is complete.
 */
function toProviderOptions(
  model: LanguageModel,
  settings: JsonObject,
  strictJsonSchema: boolean | undefined,
  isOpen: boolean,
): SharedV4ProviderOptions {
  const { provider } = model;
  const name =
    ['azure', 'anthropic'].find((it) => provider.includes(it)) ?? provider.split('.')[0] ?? '';
  const isOpenAi = name === 'openai' || name === 'azure';
  const defaults: JsonObject = defined({
    store: isOpenAi && model.provider.endsWith('.responses') ? false : undefined,
    strictJsonSchema,
    // Claude's own structured output closes every object: a map could have no field.
    structuredOutputMode: isOpen && name === 'anthropic' ? 'jsonTool' : undefined,
    // Its chat completions take no mark at a message that has one text.
    cache_control: isClaudeOfOpenRouter(model) ? { type: 'ephemeral' } : undefined,
  });
  const given = isJsonObject(settings['providerOptions']) ? settings['providerOptions'] : {};
  if (Object.keys(defaults).length === 0) return given as SharedV4ProviderOptions;
  const own = isJsonObject(given[name]) ? given[name] : {};
  return { ...given, [name]: { ...defaults, ...own } } as SharedV4ProviderOptions;
}

function isClaudeOfOpenRouter(model: LanguageModel): boolean {
  if (!isOpenAiCompatible(model) || !/claude/i.test(model.modelId)) return false;
  return /(?:^|\.)openrouter\.ai(?::|$)/.test(hostOf(model));
}

function numberOf(value: Json | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
