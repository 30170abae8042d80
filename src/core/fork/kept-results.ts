/**
 * Which results of tools with `cache` a fork keeps. A result that an edit has taken out of the
 * conversation, or has replaced there, is not to come back by an equal call; all others stay.
 */
import type { Entry } from '../contract/entry.ts';
import type { CachedResult } from '../toolchain/result-cache.ts';

/** Those of `cached` whose source in `before` is still there in `after`, as it was. */
export function keptResults(
  cached: readonly CachedResult[] | undefined,
  before: readonly Entry[],
  after: readonly Entry[],
): readonly CachedResult[] | undefined {
  // An entry that is not edited is the same object. An input has the number of an iteration, too.
  const edited = before.filter((entry) => entry.origin !== 'input' && !after.includes(entry));
  if (edited.length === 0) return cached;
  const kept = cached?.filter(
    ({ iteration }) => !edited.some((entry) => isSource(entry, iteration, before)),
  );
  return kept?.length === 0 ? undefined : kept;
}

/** Whether `entry` shows the results of an iteration: as its own entry, or as a summary of it. */
function isSource(entry: Entry, iteration: number, all: readonly Entry[]): boolean {
  if (entry.origin !== SUMMARY) return entry.iteration === iteration;
  const isShown = all.some(
    ({ origin, iteration: of }) => origin !== 'input' && origin !== SUMMARY && of === iteration,
  );
  return !isShown && iteration <= entry.iteration;
}

const SUMMARY = 'compacted_synthetic';
