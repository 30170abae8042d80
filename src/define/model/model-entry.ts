/** The models that a worker knows: AI SDK language models and functions, each under an id. */
import type { LanguageModelV3 } from '@ai-sdk/provider';
import type { JsonObject } from '../../core/base/json.ts';
import { isPlainObject } from '../../core/base/json.ts';
import type { ModelFunction, Price } from '../../core/contract/model.ts';
import type { UsageCode } from '../../core/base/usage-codes.ts';
import type { UsageProblem } from '../../core/base/usage-error.ts';
import { usageErrorOf } from '../../core/base/usage-error.ts';

/** How a schema of the output reaches the provider; `auto` takes the best that the model supports. */
export type StructuredOutput = 'auto' | 'schema' | 'tool' | 'prompt';

/** A model that agents name by `id`. */
export interface ModelEntry {
  /** `openai/gpt-5`, `mine`, …: up to 128 of letters, digits and `. _ / : @ + -`. Keys of statistics. */
  readonly id: string;
  /**
   * The adapter for OpenAI-compatible servers needs `includeUsage: true`, else it does not ask for
   * usage and every streamed call counts nothing.
   */
  readonly model: LanguageModelV3 | ModelFunction;
  /** Tokens that a request may hold, from 1; compaction by share needs it. */
  readonly contextWindow?: number;
  /** Tokens that one reply may hold, from 1. Default: the provider's. */
  readonly maxOutputTokens?: number;
  /** Without a price every call costs 0. */
  readonly price?: Price;
  /** Ids of the entries that are tried in order when this one fails for good. */
  readonly fallbacks?: readonly string[];
  /**
   * For an AI SDK model: its call options (`temperature`, `topP`, `topK`, `presencePenalty`,
   * `frequencyPenalty`, `stopSequences`, `seed`, `maxOutputTokens`, `headers`, `providerOptions`) and
   * `stream: false` for one that should not stream. A function gets any JSON as it is.
   */
  readonly settings?: JsonObject;
  /** Default `auto`. */
  readonly structuredOutput?: StructuredOutput;
  /** Whether the provider should enforce schemas of tools and output; default: as it likes. */
  readonly strict?: boolean;
}

/** A model of an agent: the id of an entry, an entry, or a model that becomes one. */
export type AgentModel = string | ModelEntry | ModelFunction | LanguageModelV3;

/** `entry` as it is asked for one order: a run keeps to the way in which it asks for its output. */
export function entryFor(
  entry: ModelEntry,
  { structuredOutput }: { readonly structuredOutput?: StructuredOutput },
): ModelEntry {
  return structuredOutput === undefined ? entry : { ...entry, structuredOutput };
}

type Fields = { readonly [key: string]: unknown };
type Check = (entry: Fields, name: string) => readonly UsageProblem[];

const idPattern = /^[A-Za-z0-9][A-Za-z0-9._/:@+-]{0,127}$/;

/** Whether `id` can be the id of an entry: a key of statistics ends with it. */
export function isModelId(id: unknown): id is string {
  return typeof id === 'string' && idPattern.test(id);
}

/** A price above a dollar per token is a mistake of units; it also keeps the arithmetic exact. */
const maxPrice = 1_000_000;

const knownFields = [
  'id',
  'model',
  'contextWindow',
  'maxOutputTokens',
  'price',
  'fallbacks',
  'settings',
  'structuredOutput',
  'strict',
] satisfies readonly (keyof ModelEntry)[];

/** The settings that an AI SDK model takes, and the type of each. */
const settingTypes: { readonly [name: string]: string } = {
  temperature: 'a number',
  topP: 'a number',
  topK: 'a number',
  presencePenalty: 'a number',
  frequencyPenalty: 'a number',
  seed: 'a number',
  maxOutputTokens: 'a number',
  stopSequences: 'a list of texts',
  headers: 'a mapping of texts',
  providerOptions: 'a mapping of mappings',
  stream: 'true or false',
};

/**
 * Checks all entries of a worker and returns them.
 *
 * @throws UsageError with every problem at once: shape of each entry, ids used twice, fallbacks that
 * name no entry or lead back to themselves.
 */
export function checkModelEntries(entries: readonly ModelEntry[]): readonly ModelEntry[] {
  const problems = entries.flatMap((entry, index) => entryProblems(entry, index));
  const all = [...problems, ...duplicates(entries), ...fallbackProblems(entries)];
  if (all.length > 0) throw usageErrorOf(all);
  return entries;
}

function entryProblems(entry: unknown, index: number): readonly UsageProblem[] {
  const name = isPlainObject(entry) && typeof entry['id'] === 'string' ? entry['id'] : `${index}`;
  if (!isPlainObject(entry)) {
    return [problem('model_entry', `Expected model ${name} to be an entry, got ${show(entry)}.`)];
  }
  return checks.flatMap((check) => check(entry, name));
}

const checks: readonly Check[] = [
  (entry, name) =>
    isModelId(entry['id'])
      ? []
      : [
          problem(
            'model_id',
            `Expected the id of model ${name} to be up to 128 letters, digits or ". _ / : @ + -", ` +
              `got ${show(entry['id'])}. Rename it.`,
          ),
        ],
  (entry, name) => modelProblems(entry['model'], name),
  (entry, name) =>
    ['contextWindow', 'maxOutputTokens'].flatMap((field) =>
      isCountOrAbsent(entry[field])
        ? []
        : [
            problem(
              'model_size',
              `Expected \`${field}\` of model "${name}" to be an integer from 1 up, ` +
                `got ${show(entry[field])}. Give tokens, or leave it out.`,
            ),
          ],
    ),
  (entry, name) => priceProblems(entry['price'], name),
  (entry, name) => settingProblems(entry, name),
  (entry, name) => {
    const known = ['auto', 'schema', 'tool', 'prompt', undefined];
    return known.includes(entry['structuredOutput'] as string | undefined)
      ? []
      : [
          problem(
            'structured_output',
            `Expected \`structuredOutput\` of model "${name}" to be "auto", "schema", "tool" or ` +
              `"prompt", got ${show(entry['structuredOutput'])}. Choose one of them.`,
          ),
        ];
  },
  (entry, name) =>
    ['boolean', 'undefined'].includes(typeof entry['strict'])
      ? []
      : [
          problem(
            'model_strict',
            `Expected \`strict\` of model "${name}" to be true or false, ` +
              `got ${show(entry['strict'])}. Choose one, or leave it out.`,
          ),
        ],
  (entry, name) =>
    Object.keys(entry)
      .filter((field) => !(knownFields as readonly string[]).includes(field))
      .map((field) =>
        problem(
          'model_field',
          `Expected model "${name}" to have the fields ${knownFields.join(', ')}, ` +
            `got ${show(field)}. Remove or rename it.`,
        ),
      ),
];

function modelProblems(model: unknown, name: string): readonly UsageProblem[] {
  if (typeof model === 'function') return [];
  // Models of the AI SDK are instances of classes, so their shape is looked at, not their kind.
  const fields = typeof model === 'object' && model !== null ? (model as Fields) : {};
  const version = fields['specificationVersion'];
  const callable =
    typeof fields['doStream'] === 'function' || typeof fields['doGenerate'] === 'function';
  if (version === 'v3' && callable) return [];
  const got =
    version === undefined ? show(model) : `a model of specification ${show(version)} of the AI SDK`;
  return [
    problem(
      'model_kind',
      `Expected \`model\` of "${name}" to be a function or a model of the AI SDK 6 ` +
        `(specification v3), got ${got}. Use a provider package of that version.`,
    ),
  ];
}

function priceProblems(price: unknown, name: string): readonly UsageProblem[] {
  if (price === undefined) return [];
  const fields = ['input', 'output', 'cachedInput', 'cacheWrite'];
  const isPrice = (value: unknown): boolean =>
    typeof value === 'number' && value >= 0 && value <= maxPrice;
  const record: Fields = isPlainObject(price) ? price : {};
  const fits =
    isPrice(record['input']) &&
    isPrice(record['output']) &&
    Object.keys(record).every((field) => fields.includes(field)) &&
    fields.every((field) => record[field] === undefined || isPrice(record[field]));
  if (fits) return [];
  return [
    problem(
      'model_price',
      `Expected \`price\` of model "${name}" to have \`input\` and \`output\`, and if wanted ` +
        `\`cachedInput\` and \`cacheWrite\`, each from 0 to ${maxPrice} USD per million tokens, ` +
        `got ${show(price)}. Correct it, or leave it out.`,
    ),
  ];
}

function settingProblems(entry: Fields, name: string): readonly UsageProblem[] {
  const settings = entry['settings'];
  if (settings === undefined) return [];
  if (!isPlainObject(settings)) {
    return [
      problem(
        'model_settings',
        `Expected \`settings\` of model "${name}" to be a mapping, got ${show(settings)}. ` +
          `Write them as { name: value }.`,
      ),
    ];
  }
  if (typeof entry['model'] === 'function') return [];
  return Object.entries(settings).flatMap(([setting, value]) => {
    const type = settingTypes[setting];
    if (type !== undefined && isOfType(value, type)) return [];
    const expected = type ?? `one of ${Object.keys(settingTypes).join(', ')}`;
    return [
      problem(
        'model_settings',
        `Expected setting ${show(setting)} of model "${name}" to be ${expected}, ` +
          `got ${show(type === undefined ? setting : value)}. ` +
          (type === undefined
            ? "Put a provider's own options into `providerOptions`."
            : 'Change it.'),
      ),
    ];
  });
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'a number':
      return typeof value === 'number' && Number.isFinite(value);
    case 'true or false':
      return typeof value === 'boolean';
    case 'a list of texts':
      return Array.isArray(value) && value.every((item) => typeof item === 'string');
    case 'a mapping of texts':
      return isPlainObject(value) && Object.values(value).every((item) => typeof item === 'string');
    default:
      return isPlainObject(value) && Object.values(value).every(isPlainObject);
  }
}

function duplicates(entries: readonly ModelEntry[]): readonly UsageProblem[] {
  const ids = entries.map((entry) => idOf(entry)).filter((id) => id !== undefined);
  const repeated = ids.filter((id, index) => ids.indexOf(id) < index);
  return [...new Set(repeated)].map((id) =>
    problem(
      'duplicate_model',
      `Expected model ids to be unique, got "${id}" more than once. Rename all but one.`,
    ),
  );
}

function fallbackProblems(entries: readonly ModelEntry[]): readonly UsageProblem[] {
  const ids = [...new Set(entries.flatMap((entry) => idOf(entry) ?? []))];
  return entries.flatMap((entry) => {
    const id = idOf(entry);
    const fallbacks: unknown = isPlainObject(entry) ? entry['fallbacks'] : undefined;
    if (id === undefined || fallbacks === undefined) return [];
    const names: readonly unknown[] = Array.isArray(fallbacks) ? fallbacks : [fallbacks];
    const known = ids.filter((other) => other !== id);
    const wrong = names.filter((name) => !known.includes(name as string));
    if (Array.isArray(fallbacks) && wrong.length === 0) return [];
    return [
      problem(
        'model_fallback',
        `Expected \`fallbacks\` of model "${id}" to be a list of other model ids ` +
          `(${known.join(', ') || 'there are none'}), got ${show(fallbacks)}. Correct the names.`,
      ),
    ];
  });
}

function idOf(entry: unknown): string | undefined {
  return isPlainObject(entry) && typeof entry['id'] === 'string' ? entry['id'] : undefined;
}

function isCountOrAbsent(value: unknown): boolean {
  return value === undefined || (Number.isSafeInteger(value) && (value as number) >= 1);
}

function problem(code: UsageCode, message: string): UsageProblem {
  return { code, message };
}

/** A value in an error: JSON where there is some, cut at 200 characters. */
function show(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'function') return 'a function';
  try {
    return JSON.stringify(value).slice(0, 200);
  } catch {
    // A cycle, or a BigInt: its kind is all that can be shown.
    return `a ${typeof value}`;
  }
}
