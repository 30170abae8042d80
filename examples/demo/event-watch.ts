/** Waiting for the events of runs that workers report. */
import type { AgentEvent } from '../../src/index.ts';

/** Collects events, each once, and lets callers wait for one. */
export interface EventWatch {
  /** Takes an event from a worker; drops a duplicate. */
  readonly push: (event: AgentEvent) => void;
  /** Settles with the first matching event of the run, past events included. */
  readonly until: (fits: (event: AgentEvent) => boolean) => Promise<AgentEvent>;
  /** Settles with the next event. */
  readonly next: () => Promise<AgentEvent>;
}

/** A watch; calls `onNew` once for each event. */
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
      // Workers report an event at least once: a killed one may have reported it already.
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
