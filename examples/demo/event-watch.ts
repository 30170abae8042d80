/** Waiting for events of runs as workers tell them. */
import type { AgentEvent } from '../../src/index.ts';

/** Hears events, each once, and lets others wait for one. */
export interface EventWatch {
  /** Takes an event from a worker; one that was told before is dropped. */
  readonly push: (event: AgentEvent) => void;
  /** Settles with the first event of the run that fits, one of the past included. */
  readonly until: (fits: (event: AgentEvent) => boolean) => Promise<AgentEvent>;
  /** Settles with the next event that comes. */
  readonly next: () => Promise<AgentEvent>;
}

/** A watch; `onNew` is told of each event once. */
export function createEventWatch(onNew: (event: AgentEvent) => void): EventWatch {
  const seen: AgentEvent[] = [];
  const known = new Set<string>();
  let waiting: {
    readonly fits: (event: AgentEvent) => boolean;
    readonly resolve: (event: AgentEvent) => void;
  }[] = [];
  const wait = (fits: (event: AgentEvent) => boolean): Promise<AgentEvent> =>
    new Promise((resolve) => waiting.push({ fits, resolve }));
  return {
    push: (event) => {
      // A worker tells an event at least once: a killed one may have told it already.
      const key = `${event.runId}/${event.seq}`;
      if (known.has(key)) return;
      known.add(key);
      seen.push(event);
      onNew(event);
      const ready = waiting.filter(({ fits }) => fits(event));
      waiting = waiting.filter((waiter) => !ready.includes(waiter));
      for (const { resolve } of ready) resolve(event);
    },
    until: (fits) => {
      const past = seen.find(fits);
      return past === undefined ? wait(fits) : Promise.resolve(past);
    },
    next: () => wait(() => true),
  };
}
