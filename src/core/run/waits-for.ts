/** What a run waits for, in words, for its status. Pure. */
import { isoOfMoment } from '../text/civil-date.ts';
import { nameOf } from '../contract/pending.ts';
import type { RunState } from './run-state.ts';

/** What a host and a program know of waits. */
export interface OpenWaits {
  /** Calls in flight, in words: `model gpt-5`, `tool search`. */
  readonly inFlight: readonly string[];
  /** When timers end, in milliseconds since 1970. */
  readonly timers: readonly number[];
}

/**
 * Calls in flight, then timers (`timer until 2026-03-10T09:00:00.000Z`), then `budget from above` or
 * `budget of tenant acme`, then what people and outside work must end (`question q1`).
 */
export function waitsFor(
  state: Pick<RunState, 'pending' | 'leaseAsked' | 'leaseAnswered' | 'hasTurn' | 'tenant'> | null,
  { inFlight, timers }: OpenWaits,
): readonly string[] {
  const { pending = [], leaseAsked = 0, leaseAnswered = 0, tenant = '' } = state ?? {};
  const budget = state?.hasTurn === true ? `budget of tenant ${tenant}` : 'budget from above';
  return [
    ...inFlight,
    ...timers.map((at) => `timer until ${isoOfMoment(at, 0)}`),
    ...(leaseAsked > leaseAnswered ? [budget] : []),
    ...pending.map(nameOf),
  ];
}
