/**
 * The events of a run while it goes on: pushed by its workers, and read from the run where some may
 * be missing.
 *
 * I1  Each event is given once, in the order of `seq`; but see I3 of `event-order.ts`.
 * I2  The run is asked at most twice a second on the average: after a mark or a gap at once, else
 *     seldom while events are pushed.
 * I3  It ends after the last event of the run. A run without a worker, or a service that is away, is
 *     waited for.
 */
import type { AgentEvent } from '../../core/contract/events.ts';
import type { RunStatus } from '../../core/contract/messages.ts';
import type { EventFeed, FeedMark, PushedEvent } from '../../core/streaming/chunk.ts';
import { isUsageError } from '../../core/base/usage-error.ts';
import { EventOrder } from './event-order.ts';
import { createPace } from './follow-pace.ts';

/** Options of `followEvents`. */
export interface FollowEventsOptions {
  /** Number of the last event that you have; default 0: begin with the first. */
  readonly from?: number;
  /** Abort it to stop following; the run goes on. */
  readonly signal?: AbortSignal;
  /** Called when workers begin to push the events, and when the run has to be polled for them. */
  readonly onFeed?: (feed: EventFeed) => void;
}

/** The part of a `RunHandle` that following events uses. */
export interface EventfulRun {
  readonly status: () => Promise<Pick<RunStatus, 'version' | 'state' | 'events'>>;
  readonly events: (range: {
    readonly from: number;
    readonly limit: number;
  }) => Promise<readonly AgentEvent[]>;
  readonly pushedEvents: () => AsyncIterable<PushedEvent | FeedMark>;
}

/** Events of one question. */
const PAGE_EVENTS = 256;

/** Events that wait for a slow reader; those after them are read when it has room. */
const MAX_READY = 1_000;

/** The events of `run` after `from`, until it ends or `left` is aborted. */
export async function* readEvents(
  run: EventfulRun,
  { from = 0, onFeed = () => undefined }: Omit<FollowEventsOptions, 'signal'>,
  left: AbortSignal,
): AsyncGenerator<AgentEvent, undefined> {
  const over = new AbortController();
  const signal = AbortSignal.any([left, over.signal]);
  const follower = new EventFollower(run, from, onFeed);
  void follower.listen(signal);
  try {
    for (;;) {
      yield* follower.ready();
      if (left.aborted || follower.hasEnded) return;
      await follower.next(signal);
    }
  } finally {
    over.abort();
  }
}

class EventFollower {
  readonly #run: EventfulRun;
  readonly #onFeed: (feed: EventFeed) => void;
  readonly #order: EventOrder;
  readonly #pace = createPace();
  readonly #ready: AgentEvent[] = [];
  #feed: EventFeed | null = null;
  /** Whether some may be missing, or differ from what was pushed. */
  #isDoubtful = true;
  #pausing: Promise<'due'> | null = null;
  #wake = (): void => undefined;
  hasEnded = false;

  constructor(run: EventfulRun, from: number, onFeed: (feed: EventFeed) => void) {
    this.#run = run;
    this.#order = new EventOrder(from);
    this.#onFeed = onFeed;
  }

  *ready(): Generator<AgentEvent, undefined> {
    for (let event; (event = this.#ready.shift()) !== undefined;) yield event;
  }

  /** Waits for events, or asks the run when it is time. */
  async next(signal: AbortSignal): Promise<void> {
    this.#pausing ??= this.#pace.pause(signal, this.#feed ?? 'polled').then((): 'due' => 'due');
    const pushed = new Promise<null>((resolve) => {
      this.#wake = () => resolve(null);
    });
    if (this.#ready.length > 0) return;
    if ((await Promise.race([this.#pausing, pushed])) === null) return;
    this.#pausing = null;
    if (!signal.aborted) await this.#ask(signal);
  }

  /** Takes what workers push. Never rejects. */
  async listen(signal: AbortSignal): Promise<void> {
    const items = this.#run.pushedEvents()[Symbol.asyncIterator]();
    signal.addEventListener('abort', () => void items.return?.(), { once: true });
    try {
      for (;;) {
        const next = await items.next();
        if (next.done === true || signal.aborted) break;
        if (next.value.kind === 'feed') this.#mark(next.value.feed);
        else this.#push(next.value.event);
      }
    } catch (error) {
      if (isUsageError(error) && error.code === 'stream_token') {
        process.emitWarning(`Events are polled: ${error.message}`, 'EverloopWarning');
      }
    }
    if (!signal.aborted) this.#mark('polled');
  }

  #mark(feed: EventFeed): void {
    if (feed !== this.#feed) this.#onFeed(feed);
    this.#feed = feed;
    this.#doubt();
  }

  #doubt(): void {
    this.#isDoubtful = true;
    this.#pace.hurry();
  }

  #push(event: AgentEvent): void {
    // What a slow reader has no room for is read later.
    if (this.#ready.length >= MAX_READY) return this.#doubt();
    this.#ready.push(...this.#order.push(event).events);
    // Its end is told by the service.
    if (this.#order.isMissing || event.type === 'agent:execution:after') this.#doubt();
    this.#wake();
  }

  async #ask(signal: AbortSignal): Promise<void> {
    const { last } = this.#order;
    try {
      this.#pace.count();
      const { state, events } = await this.#run.status();
      // The last look: what was pushed and not read yet is read too.
      if (state === 'ended') this.#isDoubtful = true;
      if (this.#isDoubtful || last < events) await this.#read(signal);
      this.hasEnded = state === 'ended' && !this.#isDoubtful;
    } catch (error) {
      if (!isUsageError(error) || !PASSING.has(error.code)) throw error;
      this.#isDoubtful = true;
    }
    // They were not pushed, so more may come in the same way.
    if (this.#order.last > last) this.#pace.news();
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { confirmed, last } = this.#order;
    let from = this.#isDoubtful ? confirmed : last;
    this.#isDoubtful = false;
    while (!signal.aborted && this.#ready.length < MAX_READY) {
      this.#pace.count();
      const events = await this.#run.events({ from, limit: PAGE_EVENTS });
      this.#ready.push(...this.#order.read(events).events);
      from = events.at(-1)?.seq ?? from;
      if (events.length < PAGE_EVENTS) return;
    }
    this.#doubt();
  }
}

/** Why a run may not answer for a while. */
const PASSING: ReadonlySet<string> = new Set(['no_worker', 'service_unavailable']);
