/**
 * The permits of a model entry in a worker: which requests are under way, and which wait. What the
 * worker may believe of its lease is in `core/rate/holding.ts`.
 *
 * E1  Requests get permits in the order in which their calls first asked for one, also after their
 *     runs have waited.
 * E2  A permit goes from one request to the next. The counter hears only every {@link RENEW_MS} that
 *     it is in use.
 * E3  Permits that are not used go back after {@link IDLE_MS}, or at once if other workers wait.
 * E4  When a lease ends that could not be renewed, its requests are closed. Until they have ended,
 *     they count as under way.
 */
import { errorText } from '../../core/base/error-text.ts';
import {
  answered,
  askFor,
  isLeased,
  newHolding,
  unanswered,
  usablePermits,
  type Holding,
} from '../../core/rate/holding.ts';
import { counterIdOf, orderOfPermits, type AskCounter } from '../../core/rate/rate.ts';
import { PermitLine, type Place } from './permit-line.ts';

/** How often a worker asks for permits that it uses, in milliseconds. */
const RENEW_MS = 10_000;

/** How long a worker keeps permits that it does not use, in milliseconds. */
const IDLE_MS = 1_000;

/** The same while other workers wait: requests that end together are told together. */
const CONTENDED_IDLE_MS = 50;

/** When a worker asks again that has too few permits, in milliseconds: doubling from the first. */
const SHORT_MS = { first: 250, most: 4_000, mostWithNone: 1_000 } as const;

/** How much later for each other worker that has too few, in milliseconds, and at most. */
const WAITING_MS = { each: 100, most: 10_000 } as const;

/** When a counter is asked again that did not answer, in milliseconds: doubling from the first. */
const SILENT_MS = { first: 500, most: 5_000 } as const;

/** How long a worker that ends waits for the counter, in milliseconds. */
const CLOSE_MS = 2_000;

/** A request that needs a permit. */
export interface PermitCall {
  /** When its call first asked for one, in milliseconds since 1970. */
  readonly since: number;
  /** How long it waits here, in milliseconds; `Infinity`: until it has one. */
  readonly holdMs: number;
  /** Aborts the wait. */
  readonly signal: AbortSignal;
}

/** What became of a request that needs a permit. */
export type Taken =
  | { readonly kind: 'permit'; readonly permit: Permit }
  /** Its run is to wait. `cause`: why the counter did not answer. */
  | { readonly kind: 'busy'; readonly againInMs: number; readonly cause: string | undefined }
  | { readonly kind: 'aborted' };

/** The right of one request to be under way. */
export interface Permit {
  /** Aborted when it ends before the request: its lease could not be renewed. */
  readonly ended: AbortSignal;
  /** The request is no longer under way. */
  readonly release: () => void;
}

/** What the permits of all entries of a worker share. */
export interface PermitParts {
  readonly ask: AskCounter;
  /** The id of the worker. */
  readonly worker: string;
  /** In milliseconds; it never goes back. */
  readonly clock: () => number;
}

/** A request that is under way. */
interface UnderWay {
  readonly startedAt: number;
  readonly end: AbortController;
}

/** The permits of an entry. */
export class EntryPermits {
  readonly #model: string;
  readonly #parts: PermitParts;
  readonly #underWay = new Set<UnderWay>();
  readonly #line = new PermitLine();
  #limit = 1;
  #holding: Holding;
  #asking: Promise<void> | null = null;
  #askedAt = -Infinity;
  /** How many permits the last order wanted. */
  #told = 0;
  /** Since when the counter keeps more than is used; null: it does not. */
  #idleSince: number | null = null;
  /** How long it waits before it asks for more; null: it had enough when it last asked. */
  #shortMs: number | null = null;
  /** How often in a row the counter did not answer, and why. */
  #failures = 0;
  #cause: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(model: string, parts: PermitParts) {
    this.#model = model;
    this.#parts = parts;
    this.#holding = newHolding(parts.worker);
  }

  /** A permit, if there is one in time. Never rejects. */
  async take(limit: number, { since, holdMs, signal }: PermitCall): Promise<Taken> {
    this.#limit = limit;
    this.#line.comeBack(since);
    if (signal.aborted) return { kind: 'aborted' };
    if (this.#line.waitMs(since, this.#permits(this.#now())) > holdMs) return this.#busy(since);
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const settle = (taken: () => Taken): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        this.#line.remove(place);
        resolve(taken());
      };
      const leave = (taken: () => Taken): void => {
        settle(taken);
        this.#tend();
      };
      const onAbort = (): void => leave(() => ({ kind: 'aborted' }));
      const place: Place = {
        since,
        serve: () => settle(() => ({ kind: 'permit', permit: this.#begin() })),
      };
      signal.addEventListener('abort', onAbort);
      if (holdMs !== Infinity) {
        timer = setTimeout(() => leave(() => this.#busy(since)), holdMs);
      }
      this.#line.add(place);
      this.#tend();
    });
  }

  /** Gives back what is not in use. Requests that are under way keep their permits. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_MS);
    });
    const giveBack = async (): Promise<void> => {
      await this.#asking;
      if (this.#holding.booked + this.#told > 0) await this.#ask(true);
    };
    await Promise.race([giveBack(), late]);
    clearTimeout(timer);
  }

  #now(): number {
    return this.#parts.clock();
  }

  #usable(now: number): number {
    return usablePermits(this.#holding, now);
  }

  /** With how many permits a request may count. */
  #permits(now: number): number {
    return isLeased(this.#holding, now) ? Math.max(1, this.#holding.permits) : this.#limit;
  }

  #busy(since: number): Taken {
    const now = this.#now();
    const againInMs = this.#line.leave(since, this.#permits(now), now);
    return { kind: 'busy', againInMs, cause: this.#cause };
  }

  #begin(): Permit {
    const one: UnderWay = { startedAt: this.#now(), end: new AbortController() };
    this.#underWay.add(one);
    return {
      ended: one.end.signal,
      release: () => {
        if (!this.#underWay.delete(one)) return;
        if (!one.end.signal.aborted) this.#line.learn(this.#now() - one.startedAt);
        this.#tend();
      },
    };
  }

  /** Gives permits to those that wait, and sees to what comes next. */
  #tend(): void {
    clearTimeout(this.#timer);
    const now = this.#now();
    this.#endUnleased(now);
    while (this.#line.length > 0 && this.#underWay.size < this.#usable(now)) {
      this.#line.serve();
    }
    const isIdle = this.#kept(now) > this.#underWay.size || this.#isGone();
    this.#idleSince = isIdle ? (this.#idleSince ?? now) : null;
    if (this.#isClosed) return;
    const endsAt = this.#underWay.size > 0 ? this.#leaseEnd(now) : Infinity;
    const at = Math.min(this.#asking === null ? this.#askAt(now) : Infinity, endsAt);
    if (at === Infinity) return;
    this.#timer = setTimeout(() => this.#wake(), Math.max(0, at - now)).unref();
  }

  #wake(): void {
    const now = this.#now();
    if (this.#asking === null && now >= this.#askAt(now)) {
      this.#asking = this.#ask(now >= this.#giveBackAt());
    }
    this.#tend();
  }

  /** How many permits the counter keeps for this worker. */
  #kept(now: number): number {
    return isLeased(this.#holding, now) ? this.#holding.booked : 0;
  }

  /** Whether the counter believes that requests wait here, and none does. */
  #isGone(): boolean {
    return this.#told > 0 && this.#underWay.size + this.#line.length === 0;
  }

  #leaseEnd(now: number): number {
    return isLeased(this.#holding, now) ? this.#holding.until : Infinity;
  }

  #giveBackAt(): number {
    if (this.#idleSince === null) return Infinity;
    const isShared = this.#holding.waiting > 0 || this.#line.length > 0;
    return this.#idleSince + (isShared ? CONTENDED_IDLE_MS : IDLE_MS);
  }

  /** When the counter is to be asked next. */
  #askAt(now: number): number {
    const used = this.#underWay.size;
    const isShort = this.#line.length > 0 && used >= this.#usable(now);
    const isRenewed = isLeased(this.#holding, now) && used + this.#line.length > 0;
    const at = Math.min(
      isShort ? this.#askedAt + (this.#shortMs ?? 0) : Infinity,
      isRenewed ? this.#askedAt + RENEW_MS : Infinity,
      this.#giveBackAt(),
    );
    if (this.#failures === 0) return at;
    const silentMs = Math.min(SILENT_MS.first * 2 ** (this.#failures - 1), SILENT_MS.most);
    return Math.max(at, this.#askedAt + silentMs);
  }

  /** Closes requests whose permits have ended, the newest first. */
  #endUnleased(now: number): void {
    const open = [...this.#underWay].filter(({ end }) => !end.signal.aborted);
    for (const one of open.slice(this.#kept(now))) one.end.abort();
  }

  /** Asks for what is wanted now. Never rejects. */
  async #ask(givesBack: boolean): Promise<void> {
    const now = this.#now();
    const { permits: before } = this.#holding;
    const underWay = [...this.#underWay].filter(({ end }) => !end.signal.aborted).length;
    const wanted = this.#underWay.size + this.#line.length;
    const demand = { limit: this.#limit, underWay, wanted, givesBack };
    const { holding, order } = askFor(this.#holding, demand, now);
    this.#holding = holding;
    this.#askedAt = now;
    this.#told = order.wanted;
    try {
      const { permits } = await this.#parts.ask(counterIdOf(this.#model), orderOfPermits(order));
      if (permits === undefined) throw new Error('The counter gave no permits.');
      this.#holding = answered(this.#holding, permits, this.#now());
      this.#failures = 0;
      this.#cause = undefined;
      this.#shortMs = this.#nextShortMs(before);
    } catch (error) {
      this.#holding = unanswered(this.#holding);
      this.#failures += 1;
      this.#cause = errorText(error);
    }
    this.#asking = null;
    this.#tend();
  }

  /** When it asks again if it has too few; `before`: how many it had before it asked. */
  #nextShortMs(before: number): number | null {
    const { permits } = this.#holding;
    if (permits >= this.#told) return null;
    if (this.#shortMs === null || permits > before) return SHORT_MS.first;
    const mostMs = this.#underWay.size === 0 ? SHORT_MS.mostWithNone : SHORT_MS.most;
    const crowdMs = Math.min(this.#holding.waiting * WAITING_MS.each, WAITING_MS.most);
    return Math.max(Math.min(this.#shortMs * 2, mostMs), crowdMs);
  }
}
