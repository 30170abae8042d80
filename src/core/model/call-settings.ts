/**
 * The settings of model calls: those of a model entry, of an agent and of a start, where the later
 * wins. Those of an agent and of a start are recorded, so they have a bound and hold no keys.
 */
import { byteSize, isJsonObject, isPlainObject, type Json, type JsonObject } from '../base/json.ts';
import { toJsonResult } from '../base/json-result.ts';
import type { CallSettings, ToolChoice } from '../contract/model.ts';
import { optionAdvice } from '../text/option-names.ts';
import { shown } from '../text/shown.ts';

/** What a setting takes. */
export interface SettingKind {
  /** Follows the setting in "Expected … ": `to be a number`. */
  readonly wanted: string;
  readonly fits: (value: unknown) => boolean;
}

/** The most JSON that the settings of an agent or of a start may have. */
const MAX_SETTINGS_BYTES = 16_384;

const EFFORTS: readonly unknown[] = [
  'provider-default',
  'none',
  'minimal',
  'low',
  'medium',
  'high',
  'xhigh',
  'max',
] satisfies readonly CallSettings['reasoning'][];

const NUMBER: SettingKind = { wanted: 'to be a number', fits: Number.isFinite };

/** The settings by name. */
export const CALL_SETTINGS: { readonly [Name in keyof CallSettings]-?: SettingKind } = {
  temperature: NUMBER,
  topP: NUMBER,
  topK: NUMBER,
  presencePenalty: NUMBER,
  frequencyPenalty: NUMBER,
  seed: NUMBER,
  maxOutputTokens: NUMBER,
  stopSequences: {
    wanted: 'to be a list of texts',
    fits: (value) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
  },
  headers: {
    wanted: 'to be a mapping of texts',
    fits: (value) => isMappingOf(value, (item) => typeof item === 'string'),
  },
  providerOptions: {
    wanted: 'to be a mapping of mappings',
    fits: (value) => isMappingOf(value, isPlainObject),
  },
  reasoning: {
    wanted: `to be one of ${EFFORTS.map((effort) => `"${String(effort)}"`).join(', ')}`,
    fits: (value) => EFFORTS.includes(value),
  },
};

/** Headers that carry a key: what is recorded must have none. */
const KEY_HEADER = /authorization|cookie|secret|(^|[-_])(key|token)$/i;

/** What is wrong with `settings` of an agent or of a start, a sentence each. */
export function settingsProblems(settings: unknown): readonly string[] {
  if (settings === undefined) return [];
  if (!isPlainObject(settings)) {
    return [
      `Expected \`settings\` to be a mapping, got ${shown(settings)}. Write them as { name: value }.`,
    ];
  }
  const problems = Object.entries(settings).flatMap(settingProblem);
  if (problems.length > 0) return problems;
  const json = toJsonResult(settings);
  if (json.kind === 'not_json') {
    return [
      `Expected \`settings\` to be plain JSON, got ${json.type} at \`${json.path}\`. Write it as JSON.`,
    ];
  }
  const bytes = byteSize(json.value ?? null);
  if (bytes <= MAX_SETTINGS_BYTES) return [];
  return [
    `Expected \`settings\` of at most ${MAX_SETTINGS_BYTES} bytes, got ${bytes}. Shorten them.`,
  ];
}

function settingProblem([name, value]: [string, unknown]): readonly string[] {
  if (!Object.hasOwn(CALL_SETTINGS, name)) {
    const advice = optionAdvice(name, Object.keys(CALL_SETTINGS));
    const own = "A provider's own options belong into `providerOptions`.";
    return [
      `Expected a setting of model calls, got \`${name}\`. ${advice === 'Remove it.' ? own : advice}`,
    ];
  }
  if (value === undefined) return [];
  const { wanted, fits } = CALL_SETTINGS[name as keyof CallSettings];
  if (!fits(value)) {
    return [`Expected \`settings.${name}\` ${wanted}, got ${shown(value)}. Change it.`];
  }
  if (name !== 'headers') return [];
  return Object.keys(value as object)
    .filter((header) => KEY_HEADER.test(header))
    .map(
      (header) =>
        `Expected \`settings.headers\` without keys, since they are recorded with the run, got \`${header}\`. Put it into \`settings\` of a model entry, which stays on the worker.`,
    );
}

/**
 * `settings` with `later` ones, which win: headers by their name, options of providers by provider and
 * name.
 */
export function mergeSettings<Settings extends CallSettings | JsonObject>(
  settings: Settings | undefined,
  later: Settings | undefined,
): Settings | undefined {
  if (settings === undefined || later === undefined) return later ?? settings;
  const [first, second] = [settings as JsonObject, later as JsonObject];
  const merged: { [name: string]: Json } = { ...first, ...second };
  for (const name of ['headers', 'providerOptions']) {
    const [own = null, over = null] = [first[name], second[name]];
    if (!isJsonObject(own) || !isJsonObject(over)) continue;
    merged[name] = name === 'headers' ? { ...own, ...over } : byProvider(own, over);
  }
  return merged as Settings;
}

function byProvider(first: JsonObject, second: JsonObject): JsonObject {
  const merged = Object.entries(second).map(([provider, options]): [string, Json] => {
    const before = first[provider] ?? null;
    return [
      provider,
      isJsonObject(before) && isJsonObject(options) ? { ...before, ...options } : options,
    ];
  });
  return { ...first, ...Object.fromEntries(merged) };
}

/** Of the settings of an agent, those that a summary of its conversation is asked for with. */
export function settingsOfSummary(settings: JsonObject): JsonObject {
  const kept = Object.entries(settings).filter(
    ([name]) => name === 'headers' || name === 'providerOptions',
  );
  return Object.fromEntries(kept);
}

/** What is wrong with a choice of tools; `tools`: the names that it may have, if they are known. */
export function toolChoiceProblem(choice: unknown, tools?: readonly string[]): string | undefined {
  if (choice === undefined || choice === 'auto' || choice === 'none' || choice === 'required') {
    return undefined;
  }
  const tool = isPlainObject(choice) && Object.keys(choice).length === 1 ? choice['tool'] : null;
  if (typeof tool !== 'string') {
    return `Expected \`toolChoice\` to be 'auto', 'none', 'required' or { tool: name }, got ${shown(choice)}. Choose one of them.`;
  }
  if (tools === undefined || tools.includes(tool)) return undefined;
  return `Expected \`toolChoice\` to name a tool of the agent (${tools.join(', ') || 'it has none'}), got \`${tool.slice(0, 200)}\`. Choose one of them.`;
}

/**
 * The choice of one request. A model that must call a tool has done so once there was a call, and a tool
 * that is not offered cannot be forced.
 */
export function toolChoiceOf(
  wanted: ToolChoice | undefined,
  { hasCalled, offered }: { readonly hasCalled: boolean; readonly offered: readonly string[] },
): ToolChoice {
  if (wanted === undefined || wanted === 'none') return wanted ?? 'auto';
  if (hasCalled) return 'auto';
  return typeof wanted === 'string' || offered.includes(wanted.tool) ? wanted : 'auto';
}

function isMappingOf(value: unknown, fits: (item: unknown) => boolean): boolean {
  return isPlainObject(value) && Object.values(value).every(fits);
}
