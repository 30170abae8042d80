/** What follows when a model call has ended without a reply: a pure table. */

/**
 * `next_model`: the next fallback is asked · `shorten`: the conversation is made shorter first · `end`:
 * nobody else is asked.
 */
export type AfterRefusal = 'next_model' | 'shorten' | 'end';

/** A failed call, as its host tells it. */
export interface ModelRefusal {
  /** A `ModelFailureCode`. */
  readonly code: string;
  readonly status?: number;
}

/**
 * What follows from `failed`. What one provider refuses, another may take: so a run ends only when its
 * last model has refused. A request that is alone too large for a minute of one account (429) is not too
 * long for the next; without one it is made shorter, too. What the agent itself has blocked goes to
 * nobody.
 */
export function afterRefusal(
  { code, status }: ModelRefusal,
  { hasFallback, canShorten }: { readonly hasFallback: boolean; readonly canShorten: boolean },
): AfterRefusal {
  if (code === 'blocked') return 'end';
  if (code !== 'context_too_long' || !canShorten) return 'next_model';
  return status === 429 && hasFallback ? 'next_model' : 'shorten';
}
