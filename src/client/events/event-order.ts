/**
 * Brings the events of one run into order. Pushed ones come at least once, in any order, and with
 * gaps; those that are read from the run are what it has recorded.
 *
 * I1  Events are given in the order of `seq`, each once, unless I3 holds.
 * I2  At most {@link MAX_AHEAD} events after a gap are kept: reading the gap brings the others.
 * I3  An event that comes otherwise than it was given replaces it, and all after it: its worker died
 *     before the service had it, and the run went another way. It is given again.
 */
import type { AgentEvent } from '../../core/contract/events.ts';

const MAX_AHEAD = 256;

/** Pushed events that are compared with what comes under the same number: more than one task has. */
const MAX_UNCONFIRMED = 64;

/** Events that can be given now. */
export interface OrderedEvents {
  readonly events: readonly AgentEvent[];
  /** Number of the last event that still holds, of those given before; null: all do. */
  readonly backTo: number | null;
}

/** The order of one run's events. */
export class EventOrder {
  #last: number;
  readonly #ahead = new Map<number, AgentEvent>();
  /** Pushed events that were given and not read yet, as JSON. */
  readonly #unconfirmed = new Map<number, string>();

  /** `last`: number of the last event that is known already. */
  constructor(last: number) {
    this.#last = last;
  }

  /** Number of the last event that was given. */
  get last(): number {
    return this.#last;
  }

  /** Whether events are missing before one that came. */
  get isMissing(): boolean {
    return this.#ahead.size > 0;
  }

  /** Number of the event after which to read what may differ from what was pushed. */
  get confirmed(): number {
    const [first] = this.#unconfirmed.keys();
    return first === undefined ? this.#last : first - 1;
  }

  /** Takes pushed events. */
  push(...events: readonly AgentEvent[]): OrderedEvents {
    return this.#take(events, (event) => {
      this.#unconfirmed.set(event.seq, JSON.stringify(event));
      const [first] = this.#unconfirmed.keys();
      if (this.#unconfirmed.size > MAX_UNCONFIRMED) this.#unconfirmed.delete(first ?? 0);
    });
  }

  /** Takes consecutive events that were read from the run. */
  read(events: readonly AgentEvent[]): OrderedEvents {
    const ordered = this.#take(events, () => undefined);
    for (const { seq } of events) this.#unconfirmed.delete(seq);
    return ordered;
  }

  #take(arrived: readonly AgentEvent[], onGiven: (event: AgentEvent) => void): OrderedEvents {
    const events: AgentEvent[] = [];
    let backTo: number | null = null;
    const give = (event: AgentEvent): void => {
      events.push(event);
      this.#last = event.seq;
      onGiven(event);
    };
    for (const event of arrived) {
      if (this.#differs(event)) {
        backTo = event.seq - 1;
        this.#goBack(backTo);
      }
      if (event.seq === this.#last + 1) give(event);
      else if (event.seq > this.#last && this.#ahead.size < MAX_AHEAD) {
        this.#ahead.set(event.seq, event);
      }
      for (let next; (next = this.#ahead.get(this.#last + 1));) give(next);
      for (const seq of this.#ahead.keys()) if (seq <= this.#last) this.#ahead.delete(seq);
    }
    return { events, backTo };
  }

  #differs(event: AgentEvent): boolean {
    const given = this.#unconfirmed.get(event.seq);
    return given !== undefined && given !== JSON.stringify(event);
  }

  #goBack(last: number): void {
    this.#last = last;
    this.#ahead.clear();
    for (const seq of this.#unconfirmed.keys()) if (seq > last) this.#unconfirmed.delete(seq);
  }
}
