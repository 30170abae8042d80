/** The permits of model entries in a worker: each bounds the requests under way of all workers. */
import { randomUUID } from 'node:crypto';
import { EntryPermits, type PermitCall, type Taken } from './entry-permits.ts';
import type { AskCounter } from '../../core/rate/rate.ts';
import { wakingClock } from './waking-clock.ts';

/** The permits of a worker. */
export interface Permits {
  /** A permit for a request to `model`, of which `limit` may be under way. Never rejects. */
  readonly take: (model: string, limit: number, call: PermitCall) => Promise<Taken>;
  /** Gives back what is not in use. */
  readonly close: () => Promise<void>;
}

/** The permits of a worker that asks counters by `ask`. */
export function createPermits(ask: AskCounter): Permits {
  const parts = { ask, worker: randomUUID(), clock: wakingClock() };
  const entries = new Map<string, EntryPermits>();
  return {
    take: (model, limit, call) => {
      let entry = entries.get(model);
      if (entry === undefined) {
        entry = new EntryPermits(model, parts);
        entries.set(model, entry);
      }
      return entry.take(limit, call);
    },
    close: async () => {
      await Promise.all([...entries.values()].map((entry) => entry.close()));
    },
  };
}
