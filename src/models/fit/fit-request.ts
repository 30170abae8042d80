/** A request as its model takes it. */
import { defined } from '../../core/base/defined.ts';
import { isJsonObject, type JsonObject } from '../../core/base/json.ts';
import type { HostedTool, ModelRequest, ReplyWarning } from '../../core/contract/model.ts';
import type { LanguageModel } from '../../define/model/language-model.ts';
import { runsHosted } from '../../define/tool/hosted-tool.ts';
import { isReasoningEffort } from '../../define/model/reasoning.ts';
import { hasThinkingBudget } from '../v3/reasoning.ts';
import { fetchMedia, type MediaFetcher } from './fetch-media.ts';
import { fitMessages, lastReplyOf } from './fit-messages.ts';
import { refusedBefore, withoutMedia } from './left-out-media.ts';
import { traitsOf } from './traits.ts';

/** `request` as `model` takes it, and what was left out of it. */
export async function fitRequest(
  model: LanguageModel,
  request: ModelRequest,
  fetcher: MediaFetcher,
): Promise<{ readonly request: ModelRequest; readonly warnings: readonly ReplyWarning[] }> {
  const traits = await traitsOf(model);
  const warnings: ReplyWarning[] = [];
  const lastOwn = lastReplyOf(request.messages, traits);
  const left = withoutMedia(request.messages, refusedBefore(request.messages, traits.author));
  const fetched = await fetchMedia(left, traits, fetcher, (source, what) => {
    // Before its last own reply it was told.
    if (source > lastOwn) warnings.push({ code: 'media_not_fetched', message: notFetched(what) });
  });
  const fitted = fitMessages(fetched, traits);
  const { hosted = [] } = request;
  const taken = hosted.filter(({ id }) => runsHosted(model.provider, id));
  if (lastOwn < 0)
    warnings.push(...hosted.flatMap((tool) => (taken.includes(tool) ? [] : notRun(tool, model))));
  const { messages, sources, goesOnUnreasoned } = fitted;
  warnings.push(...fitted.warnings);
  const cacheUpTo = sources.filter((source) => source < request.cacheUpTo).length;
  const settings = goesOnUnreasoned ? withoutThinking(model, request.settings) : request.settings;
  const { hosted: _hosted, ...same } = request;
  return {
    request: {
      ...same,
      messages,
      cacheUpTo,
      settings,
      ...defined({ hosted: taken.length === 0 ? undefined : taken }),
    },
    warnings,
  };
}

function notRun({ id }: HostedTool, { provider, modelId }: LanguageModel): readonly ReplyWarning[] {
  const message = `Model ${modelId} of ${provider} was asked without the tool ${id}, which this provider does not run.`;
  return [{ code: 'hosted_tool_left_out', message }];
}

function notFetched(what: string): string {
  return `A medium could not be fetched, and the model was asked without it: ${what}.`;
}

/** Where the settings of a provider of Claude turn its thinking on. */
const THINKING: readonly (readonly [provider: string, field: string])[] = [
  ['anthropic', 'thinking'],
  ['bedrock', 'reasoningConfig'],
];

/**
 * `settings` without thinking of a budget: Claude that thinks so refuses to go on with calls before which
 * it has not thought, such as those of another model.
 */
function withoutThinking({ provider, modelId }: LanguageModel, settings: JsonObject): JsonObject {
  const [name, field] = THINKING.find(([part]) => provider.includes(part)) ?? [];
  if (name === undefined || field === undefined) return settings;
  const { reasoning, ...rest } = settings;
  const options = isJsonObject(settings['providerOptions']) ? settings['providerOptions'] : {};
  const own = isJsonObject(options[name]) ? options[name] : {};
  const thinking = isJsonObject(own[field]) ? own[field]['type'] : undefined;
  const isAsked = isReasoningEffort(reasoning) && hasThinkingBudget(modelId);
  if (thinking !== 'enabled' && (thinking !== undefined || !isAsked)) return settings;
  const off = { ...options, [name]: { ...own, [field]: { type: 'disabled' } } };
  return { ...rest, providerOptions: off };
}
