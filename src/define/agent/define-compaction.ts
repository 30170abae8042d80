/** When and how an agent's conversation is shortened: triggers and strategies as plain data. */
import type { CompactionSpec, StrategySpec, TriggerSpec } from '../../core/contract/compaction.ts';

/** The option `compaction` of an agent. */
export interface CompactionOptions {
  /** At least one; a compaction starts when any of them fires. Checked between iterations. */
  readonly triggers: readonly TriggerSpec[];
  /** At least one; applied in order until something changed and the request fits. */
  readonly strategies: readonly StrategySpec[];
}

/** Fires when counter `key` has risen by `step` (1 or more) since the last compaction. */
export function counter(key: string, step: number): TriggerSpec {
  return { kind: 'counter', key, step };
}

/**
 * Fires when a counter whose key starts with `prefix` has risen by `step` since the last
 * compaction.
 */
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

/**
 * Fires when the next request will fill `share` (above 0, up to 1) of the model's context window.
 */
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
    /**
     * How many of the newest entries stay as they are. Default 5: the model may still need them.
     */
    readonly keepRecent?: number;
    /** Bytes of the smallest result that is replaced. Default 1,024: short records stay. */
    readonly minBytes?: number;
    /** Names of the tools whose results may be replaced. Default: all. */
    readonly tools?: readonly string[];
  } = {},
): StrategySpec {
  const { keepRecent = 5, minBytes = 1_024, tools = null } = options;
  return { kind: 'mask', keepRecent, minBytes, tools };
}

/** Lets a model summarize all but the newest entries; each summary includes the one before. */
export function summarize(
  options: {
    /** Id of the model entry that writes it. Default: the model of the agent. */
    readonly model?: string;
    /** How many of the newest entries are kept word for word. Default 0. */
    readonly keepRecent?: number;
    /**
     * The user message, in which `{summary}` and `{activity}` are replaced. Default: a built-in
     * one.
     */
    readonly prompt?: string;
    /** The system message. Default: a built-in one; none when `prompt` is set. */
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

/** The default for agents whose model entry has a `contextWindow`. */
export const DEFAULT_COMPACTION: CompactionSpec = {
  // Room for one more reply and its results before the provider refuses.
  triggers: [context(0.8)],
  // Masking costs no model call, and the model can get a result back by another call.
  strategies: [mask(), summarize({ keepRecent: 3 })],
};
