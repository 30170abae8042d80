/** A clock that moves only when `advance` or `sleep` is called. */

/** A clock for tests. */
export interface FakeClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Moves time forward and runs what becomes due, in order of time. */
  advance(ms: number): void;
  /** Lets time pass: moves the clock forward by `ms`, then settles. */
  sleep(ms: number): Promise<void>;
  /** Runs `due` once when the clock reaches `at`; the returned function cancels that. */
  schedule(at: number, due: () => void): () => void;
}

/** A clock that begins at `start`; default: 2026-03-10T09:00:00Z, a Tuesday. */
export function createFakeClock(start: number | string = '2026-03-10T09:00:00Z'): FakeClock {
  let now = typeof start === 'string' ? Date.parse(start) : start;
  let alarms: readonly { readonly at: number; readonly due: () => void }[] = [];
  const advance = (ms: number): void => {
    const until = now + ms;
    for (;;) {
      const next = alarms.toSorted((left, right) => left.at - right.at)[0];
      if (next === undefined || next.at > until) break;
      alarms = alarms.filter((alarm) => alarm !== next);
      now = Math.max(now, next.at);
      next.due();
    }
    now = until;
  };
  return {
    now: () => now,
    advance,
    sleep: async (ms) => advance(ms),
    schedule: (at, due) => {
      const alarm = { at, due };
      alarms = [...alarms, alarm];
      return () => {
        alarms = alarms.filter((other) => other !== alarm);
      };
    },
  };
}
