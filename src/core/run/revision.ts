/** Which rules of a run came with later releases than it may have begun with. */
import type { Run } from './run.ts';

/**
 * The revision of the specification, as far as it may change what a run does. 0 in links that a
 * worker without `limits-at-once` began: it knew none of these rules, so a replay must not have them.
 */
export function revisionOf({ state, host }: Run): number {
  return host.link.limitsAtOnce ? (state.head.spec.revision ?? 0) : 0;
}
