/**
 * Prices and context windows of models of the AI SDK, from data of the package
 * `@pydantic/genai-prices`. Only workers load it, and none of it asks the network. What it says when a
 * worker starts becomes part of the specifications of runs, so an update changes no live run.
 */
import type { ModelInfo, ModelPrice, PriceCalculation } from '@pydantic/genai-prices';
import { defined } from '../core/base/defined.ts';
import type { Price, PriceTier } from '../core/contract/model.ts';
import type { LanguageModel } from '../define/model/language-model.ts';
import type { ModelEntry } from '../define/model/model-entry.ts';
import { namedModel } from '../define/model/provider-models.ts';

/** What is known of the model of an entry. */
export type KnownModel = Pick<ModelEntry, 'contextWindow'> & { readonly price?: Price };

/** Looks a model up; undefined when nothing is known of it. */
export type KnownModels = (model: ModelEntry['model']) => KnownModel | undefined;

/** The providers of the AI SDK whose prices are known: what their ids begin with, and the data's id. */
const PROVIDERS: readonly (readonly [prefix: string, provider: string])[] = [
  ['openai', 'openai'],
  ['azure', 'azure'],
  ['azure-openai', 'azure'],
  ['anthropic', 'anthropic'],
  ['google', 'google'],
  ['vertex', 'google'],
  ['amazon-bedrock', 'aws'],
  ['bedrock', 'aws'],
  ['groq', 'groq'],
  ['mistral', 'mistral'],
  ['xai', 'x-ai'],
  ['deepseek', 'deepseek'],
  ['cohere', 'cohere'],
  ['perplexity', 'perplexity'],
  ['togetherai', 'together'],
  ['fireworks', 'fireworks'],
  ['cerebras', 'cerebras'],
  ['openrouter', 'openrouter'],
  ['moonshotai', 'moonshotai'],
];

/** The id in the data of a provider of the AI SDK, such as `groq.chat`; undefined: not in the data. */
export function dataProviderOf(provider: string): string | undefined {
  const [first] = provider.split('.');
  return PROVIDERS.find(([prefix]) => prefix === first)?.[1];
}

/** Loads the data. */
export async function loadKnownModels(
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<KnownModels> {
  const { calcPrice, findProvider } = await import('@pydantic/genai-prices');
  return (model) => {
    const asked = askedModel(model, env);
    if (asked === undefined) return undefined;
    const { provider, modelId, address } = asked;
    // A server of one's own has prices of its own, whatever its models are called.
    const official = findProvider({ providerId: provider })?.api_pattern;
    if (address !== undefined && !isOfficial(address, official)) return undefined;
    const found = calcPrice({ input_tokens: 1 }, modelId, { providerId: provider });
    return found === null ? undefined : knownModel(found);
  };
}

/** A line about models of the AI SDK without a price, unless their entry says that it has none. */
export function unpricedWarnings(models: ReadonlyMap<string, ModelEntry>): readonly string[] {
  const names = [...models.values()].flatMap(({ id, model, price }) =>
    price !== undefined || typeof model === 'function' ? [] : [`\`${id}\``],
  );
  if (names.length === 0) return [];
  const listed = names.slice(0, MAX_LISTED).join(', ') + (names.length > MAX_LISTED ? ', …' : '');
  return [
    `No price is known of ${listed}: costs are shown as unknown, and limits on cost are refused. Set \`price\` of the entry; null says that there is none.`,
  ];
}

/** Names in a line of the log. */
const MAX_LISTED = 20;

/** A model as the data names it, and the address that it is asked at, as far as that can be seen. */
interface AskedModel {
  readonly provider: string;
  readonly modelId: string;
  readonly address: string | undefined;
}

function askedModel(
  model: ModelEntry['model'],
  env: Readonly<Record<string, string | undefined>>,
): AskedModel | undefined {
  if (typeof model === 'function') return undefined;
  const named = typeof model === 'string' ? namedModel(model) : undefined;
  const given = named === undefined ? model : { provider: named.exportName, ...named };
  if (typeof given === 'string') return undefined;
  // A gateway asks the provider that the name of the model begins with, at its prices.
  const [owner = '', ...rest] = given.modelId.split('/');
  const isGateway = given.provider === 'gateway' && rest.length > 0;
  const provider = dataProviderOf(isGateway ? owner : given.provider);
  if (provider === undefined) return undefined;
  const modelId = isGateway ? rest.join('/') : given.modelId;
  const address = isGateway
    ? undefined
    : named === undefined
      ? addressOf(given as LanguageModel)
      : env[`${named.exportName.toUpperCase()}_BASE_URL`] || undefined;
  return { provider, modelId, address };
}

/** The address that a model of the AI SDK asks, which its providers keep in fields of several forms. */
function addressOf(model: LanguageModel): string | undefined {
  const { config } = model as { readonly config?: unknown };
  const { baseURL, baseUrl, url } = Object(config) as Readonly<Record<string, unknown>>;
  for (const form of [baseURL, baseUrl, url]) {
    const address = typeof form === 'function' ? called(form, model.modelId) : form;
    if (typeof address === 'string') return address;
  }
  return undefined;
}

/** Whether the server at `address` is one of those that the data name, and not one that begins so. */
function isOfficial(address: string, pattern: string | undefined): boolean {
  if (pattern === undefined || !URL.canParse(address)) return false;
  return new RegExp(`^(?:${pattern})(?:[/:]|$)`).test(new URL(address).origin);
}

function called(form: unknown, modelId: string): unknown {
  try {
    return (form as (of: object) => unknown)({ path: '/', modelId });
  } catch {
    return undefined;
  }
}

function knownModel({ model, model_price: now }: PriceCalculation): KnownModel {
  const { context_window: contextWindow } = model;
  return defined({ price: priceOf(dearest(model, now)), contextWindow });
}

/** Where the price depends on the time of day, the highest: what is reserved must be enough. */
function dearest({ prices }: ModelInfo, now: ModelPrice): ModelPrice {
  const byTime = Array.isArray(prices)
    ? prices.filter(({ constraint }) => constraint?.type === 'time_of_date')
    : [];
  return byTime.reduce((high, { prices: other }) => {
    const isDearer = amountAt(other['input_mtok'], 0) > amountAt(high['input_mtok'], 0);
    return isDearer ? other : high;
  }, now);
}

/** A price of the data as ours; undefined without prices of input and output. */
function priceOf(data: ModelPrice): Price | undefined {
  if (data['input_mtok'] === undefined || data['output_mtok'] === undefined) return undefined;
  const starts = Object.values(data).flatMap((price) =>
    typeof price === 'object' ? price.tiers.map(({ start }) => start) : [],
  );
  const above = [...new Set(starts)].toSorted((left, right) => left - right);
  const tiers: readonly PriceTier[] = above.map((start) => ({
    above: start,
    ...amountsAt(data, start + 1),
  }));
  return { ...amountsAt(data, 0), ...defined({ tiers: tiers.length === 0 ? undefined : tiers }) };
}

/** The prices of a request with so many tokens of input. */
function amountsAt(data: ModelPrice, tokens: number): Omit<Price, 'tiers'> {
  const at = (key: string): number | undefined =>
    data[key] === undefined ? undefined : amountAt(data[key], tokens);
  const output = amountAt(data['output_mtok'], tokens);
  return {
    input: amountAt(data['input_mtok'], tokens),
    output: Math.max(output, at('output_reasoning_mtok') ?? 0),
    ...defined({ cachedInput: at('cache_read_mtok'), cacheWrite: at('cache_write_mtok') }),
  };
}

function amountAt(price: ModelPrice[string], tokens: number): number {
  if (typeof price !== 'object') return price ?? 0;
  return price.tiers.findLast(({ start }) => tokens > start)?.price ?? price.base;
}
