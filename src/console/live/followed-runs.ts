/**
 * The runs that tabs look at: one follower for each, however many tabs.
 *
 * I1  A follower ends {@link KEPT_MS} after its last tab has left, and sooner if many are without one.
 * I2  Each tab gets every event after the one that it names, in order: those that its queue had no
 *     room for are read again when it has, and those that could not be read, {@link RETRY_MS} later.
 * I3  A run that could not be followed is tried again for the next tab.
 */
import type { RunHandle } from '../../client/run-handle.ts';
import type { AgentEvent } from '../../core/contract/events.ts';
import type { LiveFrame } from '../live-frames.ts';
import type { RunReader } from '../run-reader.ts';
import { RunFollower } from './follower.ts';
import type { Tab } from './tab.ts';

/** How long a run is followed that no tab looks at, in ms. */
const KEPT_MS = 10_000;

/** Runs that are followed though no tab looks at them; of more, those that were left first end. */
const MAX_LEFT = 50;

/** How long after a failure a tab reads again what it lacks, in ms. */
const RETRY_MS = 2_000;

/** Events that a tab reads again at once. */
const PAGE_EVENTS = 256;

/** A tab that looks at a run. */
export interface Looker {
  /** Its queue has room again. */
  readonly onRoom: () => void;
  readonly leave: () => void;
}

/** The followed runs of one console. */
export interface FollowedRuns {
  /** Gives `tab` the run from its event number `after` on; undefined: from now on. */
  readonly look: (id: string, tab: Tab, after: number | undefined) => Looker;
  /** Has a run that is followed asked at once, because somebody has acted on it. */
  readonly hurry: (id: string) => void;
  readonly close: () => void;
}

/** What {@link createFollowedRuns} takes. */
export interface FollowedRunsParts {
  readonly attach: (id: string) => RunHandle;
  readonly reader: RunReader;
  /** Default {@link KEPT_MS}. */
  readonly keptMs?: number | undefined;
  /** Default {@link RETRY_MS}. */
  readonly retryMs?: number | undefined;
  readonly silentMs?: number | undefined;
}

interface Followed {
  readonly follower: RunFollower;
  readonly left: AbortController;
  readonly lookers: Set<Listening>;
  /** Sent to tabs that come later: the end of the run, or why it cannot be followed. */
  last: LiveFrame | null;
  timer: NodeJS.Timeout | undefined;
}

interface ListeningParts {
  readonly id: string;
  readonly tab: Tab;
  readonly after: number | undefined;
  readonly reader: Pick<RunReader, 'events'>;
  readonly retryMs: number;
}

/** Follows runs for tabs. */
export function createFollowedRuns(parts: FollowedRunsParts): FollowedRuns {
  const { reader, keptMs = KEPT_MS, retryMs = RETRY_MS } = parts;
  const runs = new Map<string, Followed>();
  const end = (id: string, { left, timer }: Followed): void => {
    clearTimeout(timer);
    left.abort();
    runs.delete(id);
  };
  return {
    look: (id, tab, after) => {
      const known = runs.get(id);
      if (known?.last?.kind === 'failed') end(id, known);
      const followed = runs.get(id) ?? begin(id, parts);
      runs.set(id, followed);
      clearTimeout(followed.timer);
      const looker = new Listening({ id, tab, after, reader, retryMs });
      followed.lookers.add(looker);
      const snapshot = followed.follower.snapshot();
      if (snapshot !== null) looker.frame(snapshot);
      if (followed.last !== null) looker.frame(followed.last);
      return {
        onRoom: () => looker.onRoom(),
        leave: () => {
          looker.leave();
          followed.lookers.delete(looker);
          if (followed.lookers.size > 0 || runs.get(id) !== followed) return;
          followed.timer = setTimeout(() => end(id, followed), keptMs).unref();
          // At the end of the map, since it was left last.
          runs.delete(id);
          runs.set(id, followed);
          const left = [...runs].filter(([, { lookers }]) => lookers.size === 0);
          for (const [oldest, one] of left.slice(0, -MAX_LEFT)) end(oldest, one);
        },
      };
    },
    hurry: (id) => runs.get(id)?.follower.hurry(),
    close: () => {
      for (const [id, followed] of runs) end(id, followed);
    },
  };
}

function begin(id: string, { attach, reader, silentMs }: FollowedRunsParts): Followed {
  const left = new AbortController();
  const lookers = new Set<Listening>();
  const follower = new RunFollower({
    run: attach(id),
    reader,
    signal: left.signal,
    silentMs,
    listener: {
      frame: (frame) => {
        if (frame.kind === 'step' || frame.kind === 'failed') followed.last = frame;
        for (const looker of lookers) looker.frame(frame);
      },
      events: (events) => {
        for (const looker of lookers) looker.events(events);
      },
      rewound: (last) => {
        for (const looker of lookers) looker.rewound(last);
      },
    },
  });
  const followed: Followed = { follower, left, lookers, last: null, timer: undefined };
  void follower.follow();
  return followed;
}

/** One tab that listens to a follower. */
class Listening implements Looker {
  readonly #parts: ListeningParts;
  /** Number of the last event that the tab has; null until a snapshot says from where on. */
  #have: number | null;
  /** Number of the last event that there is. */
  #known = 0;
  #isReading = false;
  #hasLeft = false;
  #retry: NodeJS.Timeout | undefined;

  constructor(parts: ListeningParts) {
    this.#parts = parts;
    this.#have = parts.after ?? null;
  }

  frame(frame: LiveFrame): void {
    if (this.#hasLeft) return;
    this.#parts.tab.push(frame);
    // A run that is silent from the start does not say how many events it has.
    if (frame.kind !== 'snapshot' || frame.header.status === null) return;
    this.#known = Math.max(this.#known, frame.header.lastSeq);
    this.#have ??= frame.header.lastSeq;
    void this.#catchUp();
  }

  events(events: readonly AgentEvent[]): void {
    if (this.#hasLeft) return;
    this.#known = Math.max(this.#known, events.at(-1)?.seq ?? 0);
    if (!this.#isReading) this.#give(events);
    void this.#catchUp();
  }

  rewound(last: number): void {
    const { id: run, tab } = this.#parts;
    if (this.#hasLeft || this.#have === null || this.#have <= last) return;
    this.#have = last;
    this.#known = last;
    tab.push({ kind: 'rewound', run, last });
  }

  onRoom(): void {
    void this.#catchUp();
  }

  leave(): void {
    this.#hasLeft = true;
    clearTimeout(this.#retry);
  }

  #give(events: readonly AgentEvent[]): void {
    const { id: run, tab } = this.#parts;
    for (const event of events) {
      if (this.#have === null || event.seq <= this.#have) continue;
      if (event.seq !== this.#have + 1 || !tab.hasRoom()) return;
      tab.push({ kind: 'event', run, event });
      this.#have = event.seq;
    }
  }

  /** Reads what the tab lacks, as long as it has room. */
  async #catchUp(): Promise<void> {
    const { id, tab, reader, retryMs } = this.#parts;
    if (this.#isReading) return;
    clearTimeout(this.#retry);
    this.#isReading = true;
    try {
      while (!this.#hasLeft && this.#have !== null && this.#have < this.#known && tab.hasRoom()) {
        const from: number = this.#have;
        this.#give(await reader.events(id, { from, limit: PAGE_EVENTS }));
        if (this.#have === from) break;
      }
    } catch {
      // A quiet run has no next event that would bring the others.
      if (!this.#hasLeft) {
        this.#retry = setTimeout(() => void this.#catchUp(), retryMs).unref();
      }
    } finally {
      this.#isReading = false;
    }
  }
}
