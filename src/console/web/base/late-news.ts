/**
 * News that come while a list is being loaded. Its answer may be older than they are, so they are
 * taken again after it.
 */
import type { LiveFrame } from '../../live-frames.ts';

/** A list that is loaded, and takes frames of the live feed. */
export interface LateNews {
  /** Takes frames now, and again after each load that is under way. */
  readonly take: (frames: readonly LiveFrame[]) => void;
  /** Loads the list. */
  readonly during: (load: () => Promise<void>) => Promise<void>;
}

/** So that `apply` has the last word on what the feed has told. */
export function lateNews(apply: (frames: readonly LiveFrame[]) => void): LateNews {
  const loads = new Set<LiveFrame[]>();
  return {
    take: (frames) => {
      for (const late of loads) late.push(...frames);
      apply(frames);
    },
    during: async (load) => {
      const late: LiveFrame[] = [];
      loads.add(late);
      try {
        await load();
      } finally {
        loads.delete(late);
        if (late.length > 0) apply(late);
      }
    },
  };
}
