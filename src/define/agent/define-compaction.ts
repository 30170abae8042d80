/** When and how the conversation of an agent is made shorter: triggers and strategies as plain data. */
import type { CompactionSpec, StrategySpec, TriggerSpec } from '../../core/contract/compaction.ts';

/** The option `compaction` of an agent. */
export interface CompactionOptions {
  /** Any that fires is enough; at least one. Looked at between iterations. */
  readonly triggers: readonly TriggerSpec[];
  /** In order, until one changes something and the request is no longer too long; at least one. */
  readonly strategies: readonly StrategySpec[];
}

/** Fires when counter `key` has risen by `step` (1 or more) since the last compaction. */
export function counter(key: string, step: number): TriggerSpec {
  return { kind: 'counter', key, step };
}

/** Fires when a counter whose key starts with `prefix` has risen by `step` since the last one. */
export function counterPrefix(prefix: string, step: number): TriggerSpec {
  return { kind: 'counter_prefix', prefix, step };
}

/** Fires while gauge `key` is at `at` or above. */
export function gauge(key: string, at: number): TriggerSpec {
  return { kind: 'gauge', key, at };
}

/** Fires while a gauge whose key starts with `prefix` is at `at` or above. */
export function gaugePrefix(prefix: string, at: number): TriggerSpec {
  return { kind: 'gauge_prefix', prefix, at };
}

/** Fires when the next request will fill `share` (above 0, up to 1) of the model's context window. */
export function context(share: number): TriggerSpec {
  return { kind: 'context', share };
}

/** Keeps the last `keep` (1 or more) entries and all pinned ones. */
export function slidingWindow(keep: number): StrategySpec {
  return { kind: 'sliding_window', keep };
}

/** Replaces large results of old calls by a line each; the calls stay. */
export function mask(
  options: {
    /** Entries at the end that are left alone. Default 5: what the model is working with. */
    readonly keepRecent?: number;
    /** Smaller results stay. Default 1,024: a page of text goes, a short record stays. */
    readonly minBytes?: number;
    /** Names of the tools whose results may go. Default: all. */
    readonly tools?: readonly string[];
  } = {},
): StrategySpec {
  const { keepRecent = 5, minBytes = 1_024, tools = null } = options;
  return { kind: 'mask', keepRecent, minBytes, tools };
}

/** Lets a model sum up all but the last entries; each summary carries on the one before. */
export function summarize(
  options: {
    /** Id of the model entry that writes it. Default: the model of the agent. */
    readonly model?: string;
    /** Entries at the end that are kept word by word. Default 0. */
    readonly keepRecent?: number;
    /** The user message; `{summary}` and `{activity}` are replaced. Default: our own. */
    readonly prompt?: string;
    /** The system message. Default: our own, and none when `prompt` is set. */
    readonly system?: string;
  } = {},
): StrategySpec {
  const { model, keepRecent = 0, prompt = null, system = null } = options;
  return {
    kind: 'summarize',
    keepRecent,
    models: model === undefined ? [] : [model],
    prompt,
    system,
  };
}

/** What an agent does that does not say otherwise, when its model's entry has a `contextWindow`. */
export const DEFAULT_COMPACTION: CompactionSpec = {
  // Room for one more reply and its results before the provider refuses.
  triggers: [context(0.8)],
  // Masking costs no model call and loses nothing that a call cannot bring back.
  strategies: [mask(), summarize({ keepRecent: 3 })],
};
