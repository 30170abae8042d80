/** How a conversation is made shorter that no link can hand over, when the agent does not say how. */
import { byteSize, type Json } from '../base/json.ts';
import type { StrategySpec } from '../contract/compaction.ts';
import { isPinned, type Entry } from '../contract/entry.ts';

/** What is left of the bytes that a link hands over: 1 MB without a blob store. */
export const TARGET_SHARE: number = 2 / 3;

/** Comes first: results can be had again, and the calls stay. */
export const LARGE_RESULTS: StrategySpec = {
  kind: 'mask',
  keepRecent: 5,
  minBytes: 1_024,
  tools: null,
};

/**
 * How many of the newest entries stay, at least one, when the oldest that are not pinned go until
 * `over` bytes are saved. Linear in the bytes that go.
 */
export function newestOf(entries: readonly Entry[], over: number): number {
  const loose = entries.filter((entry) => !isPinned(entry));
  let saved = 0;
  let dropped = 0;
  while (saved < over && dropped < loose.length - 1) {
    saved += byteSize(loose[dropped] as unknown as Json);
    dropped += 1;
  }
  return loose.length - dropped;
}
