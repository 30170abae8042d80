/** What a child inherits besides leases: how deep it may nest, and until when it may run. */
import type { Breach, Limit } from '../contract/limit.ts';
import type { Ancestor, Deadline, ParentLink } from '../contract/lease.ts';

const DEPTH = 'agent:depth';
const WALL_CLOCK = 'agent:wall_clock_ms';

/**
 * The limits of a run: its own, except that on depth the smaller of its own and the inherited limit
 * counts.
 */
export function inheritedLimits(
  limits: readonly Limit[],
  parent: Pick<ParentLink, 'depthLimit'> | undefined,
): readonly Limit[] {
  const above = parent?.depthLimit;
  if (above === undefined) return limits;
  const own = depthLimitOf(limits);
  if (own === undefined) return [...limits, above];
  return own.max <= above.max ? limits : limits.map((limit) => (limit === own ? above : limit));
}

/** The smallest exact limit on depth, if there is one. */
export function depthLimitOf(limits: readonly Limit[]): Limit | undefined {
  return limits
    .filter(({ kind, key }) => kind === 'exact' && key === DEPTH)
    .toSorted((a, b) => a.max - b.max)[0];
}

/** The wall-clock limits for children: those of the run, then those of its ancestors. */
export function deadlinesOf(
  origin: Ancestor,
  limits: readonly Limit[],
  startedAt: number,
  above: readonly Deadline[],
): readonly Deadline[] {
  const own = limits
    .filter(
      ({ kind, key, onReach }) => kind === 'exact' && key === WALL_CLOCK && onReach !== 'refuse',
    )
    .map((limit) => ({ origin, limit, startedAt }));
  return [...own, ...above];
}

/** When the first deadline is crossed, in milliseconds since 1970; null if there is none. */
export function nextInherited(deadlines: readonly Deadline[]): number | null {
  const dues = deadlines.map(({ limit, startedAt }) => startedAt + limit.max + 1);
  return dues.length === 0 ? null : Math.min(...dues);
}

/** The first deadline, in the order of the list, that has passed at `now`. */
export function lateDeadline(deadlines: readonly Deadline[], now: number): Breach | null {
  for (const { origin, limit, startedAt } of deadlines) {
    const value = now - startedAt;
    if (value > limit.max) return { limit, key: limit.key, value, origin };
  }
  return null;
}
