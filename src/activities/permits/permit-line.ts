/** The requests of a model entry that wait for a permit: in this worker, or elsewhere with their runs. */

/** A request that waits in this worker. */
export interface Place {
  /** When its call first asked for a permit, in milliseconds since 1970. */
  readonly since: number;
  /** It has its permit. */
  readonly serve: () => void;
}

/** How long a request takes of an entry that has not yet answered, in milliseconds. */
const FIRST_REQUEST_MS = 2_000;

/** How much the newest request counts in how long the next will take. */
const NEWEST = 0.2;

/**
 * How much of the time that it may take a run waits: those that come back early are the ones that get
 * permits which are free before.
 */
const WAIT_PART = 1 / 3;

/** The shortest and the longest wait of a run, in milliseconds. */
const WAIT_MS = { first: 2_000, most: 60_000 } as const;

/** How much later than it was told a run counts as on its way, in milliseconds. */
const LATE_MS = 1_000;

/** The order in which requests get permits: that in which their calls first asked for one. */
export class PermitLine {
  readonly #waiting: Place[] = [];
  /** Requests whose runs wait until then; later, they wait in any worker. */
  #away: readonly { readonly since: number; readonly until: number }[] = [];
  #requestMs = FIRST_REQUEST_MS;

  /** Requests that wait in this worker. */
  get length(): number {
    return this.#waiting.length;
  }

  /** Adds a request after those that asked before it. */
  add(place: Place): void {
    const at = this.#waiting.findLastIndex(({ since }) => since <= place.since);
    this.#waiting.splice(at + 1, 0, place);
  }

  remove(place: Place): void {
    const at = this.#waiting.indexOf(place);
    if (at !== -1) this.#waiting.splice(at, 1);
  }

  /** Gives the first request its permit. */
  serve(): void {
    this.#waiting.shift()?.serve();
  }

  /** A request has come back whose run waited. */
  comeBack(since: number): void {
    const at = this.#away.findIndex((one) => one.since === since);
    if (at !== -1) this.#away = this.#away.toSpliced(at, 1);
  }

  /** A request leaves, so that its run waits. Returns for how long. */
  leave(since: number, permits: number, now: number): number {
    this.#away = this.#away.filter(({ until }) => until > now);
    const waitMs = this.#waitMs([...this.#waiting, ...this.#away], since, permits) * WAIT_PART;
    const inMs = Math.round(Math.min(Math.max(waitMs, WAIT_MS.first), WAIT_MS.most));
    this.#away = [...this.#away, { since, until: now + inMs + LATE_MS }];
    return inMs;
  }

  /**
   * How long a request waits if it stays in this worker. Those whose runs wait do not count: permits
   * would be free before they come back.
   */
  waitMs(since: number, permits: number): number {
    return this.#waitMs(this.#waiting, since, permits);
  }

  #waitMs(all: readonly { readonly since: number }[], since: number, permits: number): number {
    const ahead = all.filter((one) => one.since < since).length;
    return Math.floor(ahead / permits) * this.#requestMs;
  }

  /** A request took so long. */
  learn(requestMs: number): void {
    this.#requestMs += NEWEST * (requestMs - this.#requestMs);
  }
}
