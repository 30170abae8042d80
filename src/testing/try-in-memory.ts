/** Carries out in memory what `core/attempt` decides about the attempts of a call. */
import { LEFT, type AttemptFailure } from '../core/attempt/failure.ts';
import type { NextAttempt, Tried } from '../core/attempt/table.ts';
import type { FakeClock } from './fake-clock.ts';

/** A call that is tried until it ends. */
export interface MemoryCall<Outcome extends object, State extends Tried> {
  /** What was tried before. */
  readonly before: State;
  /** Makes an attempt: its outcome, or how it failed. */
  readonly attempt: (tried: State) => Promise<Outcome | { readonly failure: AttemptFailure }>;
  readonly onFailure: (failure: AttemptFailure, tried: State) => NextAttempt<Outcome, State>;
}

/** Tries a call until it ends. There is no other worker, and no operator. */
export async function tryInMemory<Outcome extends object, State extends Tried>(
  clock: FakeClock,
  signal: AbortSignal,
  { before, attempt, onFailure }: MemoryCall<Outcome, State>,
): Promise<Outcome> {
  let tried = before;
  for (;;) {
    const ended = await attempt(tried);
    if (!('failure' in ended)) return ended;
    const { failure } = ended;
    const kind = failure.kind === 'lack' ? 'nowhere' : failure.kind;
    const next = onFailure({ ...failure, kind }, tried);
    if (next.kind === 'end') return next.outcome;
    if (next.kind !== 'again') throw new Error(`A call in memory has no \`${next.kind}\`.`);
    await clock.sleep(next.inMs);
    const stopped = signal.aborted ? onFailure(LEFT, next.tried) : null;
    if (stopped?.kind === 'end') return stopped.outcome;
    const refused = next.refused?.() ?? null;
    if (refused !== null) return refused;
    tried = next.tried;
  }
}
