/**
 * The cap on the output of a call that the budgets of its run pay. It is often above what the model
 * can write at all, which providers refuse.
 *
 * I1  The cap is never above the entry's own maximum.
 * I2  A provider that refuses a cap above 4,096, because its model writes less, is asked again
 *     without: it cannot write more than the cap then. If that succeeds, later calls know it. A
 *     smaller cap is kept, since a provider that refuses that wants a larger one.
 */
import type { JsonObject } from '../core/base/json.ts';
import type { CalledEntry } from '../define/model/model-entry.ts';
import { classifyModelError } from './model-failures.ts';

const ALWAYS_ACCEPTED = 4_096;

/** The smallest cap that each model refused in this process. */
const refusedCaps = new WeakMap<object, number>();

/** The settings of a call, with its cap if it has one. */
export interface PaidSettings {
  readonly settings: JsonObject;
  /** Whether the call must be made again without the cap. */
  readonly isRefusal: (error: unknown) => boolean;
  /** Remembers for later calls that the cap was refused: the call without it succeeded. */
  readonly remember: () => void;
}

/** `settings` with what the budgets pay as `maxOutputTokens`. */
export function paidSettings(entry: CalledEntry, settings: JsonObject): PaidSettings {
  const { paidTokens, model } = entry;
  const { maxOutputTokens: set } = settings;
  const own = typeof set === 'number' ? set : entry.maxOutputTokens;
  const isKnownToRefuse =
    own === undefined && (paidTokens ?? 0) >= (refusedCaps.get(model) ?? Infinity);
  if (paidTokens === undefined || isKnownToRefuse) {
    return { settings, isRefusal: () => false, remember: () => undefined };
  }
  const cap = Math.min(paidTokens, own ?? Infinity);
  return {
    settings: { ...settings, maxOutputTokens: cap },
    isRefusal: (error) => {
      if (own !== undefined || cap <= ALWAYS_ACCEPTED) return false;
      const { code } = classifyModelError(error);
      return code === 'model_request_refused' || code === 'context_too_long';
    },
    remember: () => refusedCaps.set(model, Math.min(cap, refusedCaps.get(model) ?? Infinity)),
  };
}
