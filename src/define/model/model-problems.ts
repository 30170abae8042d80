/**
 * The checks of models: the entries of a worker, and the model that an agent or a tool names.
 */
import { isConcurrency, isModelRate } from '../../core/base/rate.ts';
import { isPlainObject } from '../../core/base/json.ts';
import { isModelId } from '../../core/base/ids.ts';
import type { UsageProblem } from '../../core/base/usage-error.ts';
import { CALL_SETTINGS } from '../../core/model/call-settings.ts';
import { shown } from '../../core/text/shown.ts';
import {
  expected,
  fieldProblems,
  type Fields,
  type Kind,
  type FieldRules,
} from '../checks/fields.ts';
import { isWhole, listOf, oneOf, repeated, SWITCH } from '../checks/kinds.ts';
import { SPECIFICATIONS, type LanguageModel } from './language-model.ts';
import type { ModelEntry } from './model-entry.ts';
import { namedModel, PROVIDER_NAMES } from './provider-models.ts';
import { isReasoningEffort, reasoningFamily } from './reasoning.ts';

/** A price above a dollar per token is a wrong unit; the bound also keeps the arithmetic exact. */
const MAX_PRICE = 1_000_000;

const SIZE: Kind = {
  wanted: 'to be an integer from 1 up',
  fits: (value) => isWhole(value, 1),
  code: 'model_size',
  advice: 'Give tokens, or leave it out.',
};

const TIME: Kind = {
  wanted: 'to be a number over 0',
  fits: (value) => typeof value === 'number' && value > 0,
  code: 'model_time',
  advice: 'Give milliseconds, `Infinity` for no deadline, or leave it out.',
};

const PRICE: Kind = {
  wanted: `to have \`input\` and \`output\`, and if wanted \`cachedInput\`, \`cacheWrite\` and \`tiers\`, each from 0 to ${MAX_PRICE} USD per million tokens, or to be null`,
  fits: isPrice,
  code: 'model_price',
  advice: 'Correct it, or leave it out.',
};

const HOSTED_PRICE: Kind = {
  wanted: 'to be a number from 0 to 1000 in USD for each call, or such numbers by name of the tool',
  fits: (value) => isFee(value) || (isPlainObject(value) && Object.values(value).every(isFee)),
  code: 'model_price',
  advice: 'Correct it, or leave it out.',
};

function isFee(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= 1_000;
}

/** The settings that a model of the AI SDK takes. */
const SETTINGS: { readonly [name: string]: Kind } = { ...CALL_SETTINGS, stream: SWITCH };

/**
 * All problems of the entries of a worker: shape of each entry, ids used twice, fallbacks that name
 * no entry or lead back to themselves.
 */
export function modelEntryProblems(entries: readonly unknown[]): readonly UsageProblem[] {
  return [
    ...entries.flatMap((entry, index) => entryProblems(entry, index)),
    ...duplicates(entries),
    ...fallbackProblems(entries),
  ];
}

/** The problems of a model that an agent or a tool names. */
export function modelProblems(model: unknown): readonly UsageProblem[] {
  if (typeof model === 'function' || (typeof model === 'string' && model !== '')) return [];
  const isObject = typeof model === 'object' && model !== null;
  if (isObject && ('specificationVersion' in model || 'model' in model)) return [];
  const what =
    '`model` to be the id of a model entry, an entry, a model of the AI SDK or a function';
  return [expected('agent_model', what, shown(model), 'Choose a model.')];
}

function entryProblems(entry: unknown, index: number): readonly UsageProblem[] {
  if (!isPlainObject(entry)) {
    const message = `Expected model ${index} to be an entry, got ${shownOrNothing(entry)}.`;
    return [{ code: 'model_entry', message }];
  }
  const name = idOf(entry) ?? `${index}`;
  const of = `model "${name}"`;
  const rules = entryRules(entry, name);
  const known = Object.keys(rules);
  const unknown = Object.keys(entry).filter((field) => !known.includes(field));
  const what = `${of} to have the fields ${known.join(', ')}`;
  return [
    ...fieldProblems(entry, rules, { code: 'model_settings', of }),
    ...unknown.map((field) => expected('model_field', what, shown(field), 'Remove or rename it.')),
  ];
}

/** The problems of a model that is called; a name is none. */
export function kindProblems(model: unknown, name: string): readonly UsageProblem[] {
  if (typeof model === 'function') return [];
  // Models of the AI SDK are instances of classes and not plain objects, so only fields are
  // checked.
  const { specificationVersion, doStream, doGenerate } = Object(model ?? {}) as Fields;
  const isCallable = typeof doStream === 'function' || typeof doGenerate === 'function';
  if (SPECIFICATIONS.includes(specificationVersion) && isCallable) return [];
  const what = `\`model\` of "${name}" to be a function, a model of the AI SDK 6 or 7 (specification v3 or v4) or the name of one`;
  const got =
    specificationVersion === undefined
      ? shownOrNothing(model)
      : `a model of specification ${shown(specificationVersion)} of the AI SDK`;
  return [expected('model_kind', what, got, 'Use a provider package of one of them.')];
}

/** The problem of `rate.concurrency`, which has a type of its own. */
function concurrencyProblems(rate: unknown, name: string): readonly UsageProblem[] {
  if (!isPlainObject(rate) || !('concurrency' in rate)) return [];
  const { concurrency } = rate;
  if (isConcurrency(concurrency)) return [];
  const what = `\`rate.concurrency\` of model "${name}" to be an integer from 1 to 1000000`;
  const advice = 'Give how many requests may be under way at once, or leave it out.';
  return [expected('model_settings', what, shown(concurrency), advice)];
}

/** The fields of an entry, in the order in which messages list them. */
function entryRules(entry: Fields, name: string): FieldRules<keyof ModelEntry> {
  return {
    id: (id) => idProblems(id, name),
    model: (model) =>
      typeof model === 'string' ? nameProblems(model, name) : kindProblems(model, name),
    modelFor: { wanted: 'to be a function', fits: (value) => typeof value === 'function' },
    contextWindow: SIZE,
    maxOutputTokens: SIZE,
    price: PRICE,
    hostedPrice: HOSTED_PRICE,
    rate: [
      (rate) => concurrencyProblems(rate, name),
      {
        wanted: 'to be { requestsPerMinute?, tokensPerMinute?, concurrency? } with numbers above 0',
        fits: isModelRate,
        advice: 'Write it so, or leave it out.',
      },
    ],
    connectMs: TIME,
    firstTokenMs: TIME,
    idleMs: TIME,
    stream: oneOf('always', 'auto'),
    // Checked with the other entries.
    fallbacks: [],
    settings: [
      { wanted: 'to be a mapping', fits: isPlainObject, advice: 'Write them as { name: value }.' },
      // A model function takes any settings.
      (settings) =>
        typeof entry['model'] !== 'function' && isPlainObject(settings)
          ? [
              ...Object.entries(settings).flatMap((setting) => settingProblems(...setting, name)),
              ...reasoningProblems(entry['model'], settings, name),
            ]
          : [],
    ],
    structuredOutput: {
      wanted: 'to be "auto", "schema", "tool" or "prompt"',
      fits: (value) => ['auto', 'schema', 'tool', 'prompt'].some((choice) => choice === value),
      code: 'structured_output',
      advice: 'Choose one of them.',
    },
    strict: { ...SWITCH, code: 'model_strict', advice: 'Choose one, or leave it out.' },
    thinkTag: { ...SWITCH, code: 'model_think_tag', advice: 'Choose one, or leave it out.' },
  };
}

function idProblems(id: unknown, name: string): readonly UsageProblem[] {
  if (isModelId(id)) return [];
  const what = `the id of model ${name} to be up to 128 letters, digits or ". _ / : @ + -"`;
  return [expected('model_id', what, shownOrNothing(id), 'Rename it.')];
}

function nameProblems(model: string, name: string): readonly UsageProblem[] {
  if (namedModel(model) !== undefined) return [];
  const what = `\`model\` of "${name}" to name a provider and a model, such as \`openai/gpt-5-mini\``;
  const advice = `Begin with one of ${PROVIDER_NAMES.join(', ')}, or import the model.`;
  return [expected('model_kind', what, shown(model), advice)];
}

function settingProblems(setting: string, value: unknown, name: string): readonly UsageProblem[] {
  const kind = Object.hasOwn(SETTINGS, setting) ? SETTINGS[setting] : undefined;
  const what = `setting ${shown(setting)} of model "${name}"`;
  if (kind === undefined) {
    const known = `${what} to be one of ${Object.keys(SETTINGS).join(', ')}`;
    const advice = "Put a provider's own options into `providerOptions`.";
    return [expected('model_settings', known, shown(setting), advice)];
  }
  if (kind.fits(value)) return [];
  return [expected('model_settings', `${what} ${kind.wanted}`, shownOrNothing(value))];
}

/** Models of the AI SDK 6 have no such setting: it is translated for providers that are known. */
function reasoningProblems(
  model: unknown,
  { reasoning }: Fields,
  name: string,
): readonly UsageProblem[] {
  if (!isReasoningEffort(reasoning) || reasoning === 'provider-default') return [];
  if (!isV3(model) || reasoningFamily(model) !== undefined) return [];
  const what = `no setting "reasoning" for model "${name}", which is of ${model.provider} and the AI SDK 6`;
  const advice = 'Use its package for the AI SDK 7, or `providerOptions`.';
  return [expected('model_settings', what, shown(reasoning), advice)];
}

function isV3(model: unknown): model is LanguageModel {
  const { specificationVersion, provider } = Object(model ?? {}) as Fields;
  return specificationVersion === 'v3' && typeof provider === 'string';
}

function duplicates(entries: readonly unknown[]): readonly UsageProblem[] {
  const ids = entries.flatMap((entry) => idOf(entry) ?? []);
  return repeated(ids).map((id) => {
    const got = `"${id}" more than once`;
    return expected('duplicate_model', 'model ids to be unique', got, 'Rename all but one.');
  });
}

function fallbackProblems(entries: readonly unknown[]): readonly UsageProblem[] {
  const ids = [...new Set(entries.flatMap((entry) => idOf(entry) ?? []))];
  return entries.flatMap((entry) => {
    const id = idOf(entry);
    const fallbacks = isPlainObject(entry) ? entry['fallbacks'] : undefined;
    if (id === undefined || fallbacks === undefined) return [];
    const known = ids.filter((other) => other !== id);
    const isKnown = (other: unknown): boolean =>
      typeof other === 'string' &&
      other !== id &&
      (known.includes(other) || namedModel(other) !== undefined);
    if (listOf(isKnown)(fallbacks)) return [];
    const what = `\`fallbacks\` of model "${id}" to be a list of other model ids (${known.join(', ') || 'there are none'})`;
    return [expected('model_fallback', what, shown(fallbacks), 'Correct the names.')];
  });
}

function isPrice(price: unknown): boolean {
  if (price === null) return true;
  if (!isPlainObject(price)) return false;
  const { tiers = [], ...base } = price;
  if (!isAmounts(base) || !Array.isArray(tiers)) return false;
  return tiers.every((tier: unknown, index) => {
    const { above, ...amounts } = Object(tier) as { readonly above?: unknown };
    const { above: before = 0 } = Object(tiers[index - 1]) as { readonly above?: number };
    return Number.isSafeInteger(above) && (above as number) > before && isAmounts(amounts);
  });
}

function isAmounts(price: unknown): boolean {
  const isAmount = (value: unknown): boolean =>
    typeof value === 'number' && value >= 0 && value <= MAX_PRICE;
  if (!isPlainObject(price)) return false;
  const { input, output, cachedInput = 0, cacheWrite = 0, ...others } = price;
  return (
    [input, output, cachedInput, cacheWrite].every(isAmount) && Object.keys(others).length === 0
  );
}

function idOf(entry: unknown): string | undefined {
  return isPlainObject(entry) && typeof entry['id'] === 'string' ? entry['id'] : undefined;
}

function shownOrNothing(value: unknown): string {
  return value === undefined ? 'nothing' : shown(value);
}
