/**
 * Follows one run for all tabs that look at it. Workers push its events; the run is asked for what
 * they change, and for events that are missing.
 *
 * I1  Events are given in the order of `seq`, each once; but see I3 of `client/events/event-order.ts`.
 * I2  One call at a time is open, so a run without a worker is not asked in vain by many. When it does
 *     not answer for {@link SILENT_MS}, the tabs are told; when it does, they get a new snapshot.
 * I3  Text is provisional; that of the reply which is being written is kept for tabs that come later.
 * I4  It ends with the run, or when `signal` is aborted, and never rejects.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { EventOrder, type OrderedEvents } from '../../client/events/event-order.ts';
import type { RunHandle } from '../../client/run-handle.ts';
import type { Entry } from '../../core/contract/entry.ts';
import type { AgentEvent } from '../../core/contract/events.ts';
import type { PendingItem, RunOverview } from '../../core/contract/messages.ts';
import type { RunHeader } from '../api.ts';
import type { EventFeed } from '../../core/streaming/chunk.ts';
import type { LiveFrame, OpenText } from '../live-frames.ts';
import { ANSWER_MS, within } from '../bounded-reads.ts';
import { apiErrorOf } from '../refusal.ts';
import { headerOf, stepHead, withoutStep } from '../run-header.ts';
import type { RunReader } from '../run-reader.ts';
import { openEntry, shownEntries } from './recorded.ts';
import { openAfter, textChangeOf } from './open-text.ts';
import { CHANGES_STATE } from './telling-events.ts';
import { createPace } from '../../client/events/follow-pace.ts';

/** How long a run may take to answer before it counts as silent, in ms. */
const SILENT_MS = 4_000;

/** How often a run that does not answer, or a server that is away, is asked. */
const RETRY_MS = 2_000;

/** How long after an event the run is asked what it has changed, in ms. */
const VIEW_MS = 500;

/** Events of one question. */
const PAGE_EVENTS = 256;

/** Entries of one question; each can be a megabyte. */
const PAGE_ENTRIES = 32;

/** What a follower gives. */
export interface FollowerListener {
  readonly frame: (frame: LiveFrame) => void;
  /** Consecutive events, after those that were given before. */
  readonly events: (events: readonly AgentEvent[]) => void;
  /** Of the events that were given, those up to number `last` hold; others follow. */
  readonly rewound: (last: number) => void;
}

/** What a {@link RunFollower} takes. */
export interface FollowerParts {
  readonly run: RunHandle;
  readonly reader: Pick<RunReader, 'header'>;
  readonly signal: AbortSignal;
  readonly listener: FollowerListener;
  /** Default {@link SILENT_MS}. */
  readonly silentMs?: number | undefined;
}

/** A run that is followed. */
export class RunFollower {
  readonly #parts: FollowerParts;
  readonly #pace = createPace();
  /** Aborted with the end of the run. */
  readonly #over = new AbortController();
  #order = new EventOrder(0);
  #header: RunHeader | null = null;
  #open: OpenText | null = null;
  #version = -1;
  /** Entries of the transcript that were told; null: not known yet. */
  #entries: number | null = null;
  /** Whether the open iteration has a reply that is not told. */
  #hasProgram = false;
  #feed: EventFeed = 'polled';
  #toldFeed: EventFeed = 'polled';
  /** Whether events may be missing, or differ from what was pushed. */
  #isDoubtful = false;
  #viewing: NodeJS.Timeout | undefined;
  #silentSince: number | null = null;
  #askedAt = Date.now();
  #silentText = '';

  constructor(parts: FollowerParts) {
    this.#parts = parts;
  }

  /** The state of the run, as far as it was given; null before the first answer. */
  snapshot(): LiveFrame | null {
    const header = this.#header;
    const { id } = this.#parts.run;
    return header && { kind: 'snapshot', run: id, header, open: this.#open, feed: this.#toldFeed };
  }

  /** Follows the run until it ends, cannot be followed, or `signal` is aborted. */
  async follow(): Promise<void> {
    const { signal } = this.#parts;
    if (!(await this.#begin())) return;
    void this.#readText();
    void this.#readPushed(AbortSignal.any([signal, this.#over.signal]));
    while (!signal.aborted && !this.#over.signal.aborted) {
      await this.#pace.pause(signal, this.#feed);
      if (signal.aborted || !(await this.#ask())) break;
    }
    clearTimeout(this.#viewing);
    this.#over.abort();
  }

  /** Somebody has acted on the run: what follows is to be seen at once. */
  hurry(): void {
    this.#pace.hurry();
  }

  #frame(frame: LiveFrame): void {
    if (!this.#parts.signal.aborted) this.#parts.listener.frame(frame);
  }

  /** False: there is nothing to follow. Waits for a service that is away. */
  async #begin(): Promise<boolean> {
    const { signal } = this.#parts;
    for (;;) {
      try {
        return await this.#beginOnce();
      } catch (error) {
        if (signal.aborted || !AWAY.has(apiErrorOf(error).code)) return this.#fail(error);
        this.#fallSilent(AWAY_TEXT);
        await sleep(RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined);
      }
    }
  }

  async #beginOnce(): Promise<boolean> {
    const { run, reader } = this.#parts;
    const { run: header } = await reader.header(run.id);
    this.#header = header;
    this.#silentSince = null;
    this.#order = new EventOrder(header.lastSeq);
    this.#version = header.status?.version ?? -1;
    this.#entries = header.status?.entries ?? null;
    this.#tellSnapshot();
    if (header.state === 'silent') this.#fallSilent(SILENT_TEXT);
    if (header.state === 'ended') this.#end(header.step);
    return !this.#over.signal.aborted;
  }

  /** Asks once; false: the run cannot be followed. */
  async #ask(): Promise<boolean> {
    const { run, signal, silentMs = SILENT_MS } = this.#parts;
    const timer = setTimeout(() => {
      // A reason that is known says more.
      if (this.#silentSince === null) void this.#tellSilence(silentMs);
    }, silentMs);
    try {
      this.#pace.count();
      this.#askedAt = Date.now();
      const view = await run.view();
      const { version, state, asOf } = view.status;
      // A run may be asked between its last event and its end, which is no event.
      const isOther = version !== this.#version || state !== this.#header?.status?.state;
      const isBack = this.#silentSince !== null && asOf === undefined;
      const isNews = isBack || isOther;
      if (isNews || this.#isDoubtful || this.#feed !== this.#toldFeed) await this.#tell(view);
      if (asOf !== undefined) this.#fallSilent(SILENT_TEXT);
      return true;
    } catch (error) {
      const { code, message } = apiErrorOf(error);
      if (GONE.has(code)) return this.#fail(error);
      this.#fallSilent(AWAY.has(code) ? AWAY_TEXT : message);
      await sleep(RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined);
      return true;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Tells what is new since the last overview. */
  async #tell(view: RunOverview): Promise<void> {
    const { status, pending } = view;
    const known = this.#header;
    if (known === null) return;
    const { id } = this.#parts.run;
    // The past of a run that was silent from the start is no news.
    if (known.status === null) this.#order = new EventOrder(status.events);
    else await this.#readEvents(status.events);
    await this.#readEntries(status.entries);
    this.#header = { ...headerOf(id, view, known), lastSeq: this.#order.last };
    this.#version = status.version;
    const isBack = this.#silentSince !== null && status.asOf === undefined;
    const isOther = isBack || this.#feed !== this.#toldFeed;
    if (isBack) this.#silentSince = null;
    this.#toldFeed = this.#feed;
    if (isOther) this.#tellSnapshot();
    const { state, budgets } = this.#header;
    this.#frame({ kind: 'status', run: id, state, status: withoutStep(status), budgets });
    // A tab that has loaded the run meanwhile may take it for one that answers.
    if (status.asOf !== undefined && this.#silentSince !== null) this.#tellSilent();
    this.#tellPending(known.pending, pending);
    if (status.state === 'ended') this.#end(await this.#stepOf(status));
  }

  /** Reads the events that are missing, of those up to number `until`. */
  async #readEvents(until: number = Infinity): Promise<void> {
    const { run, signal } = this.#parts;
    const { last, confirmed } = this.#order;
    if (!this.#isDoubtful && last >= until) return;
    let from = this.#isDoubtful ? confirmed : last;
    // They were not pushed, so more may come in the same way.
    this.#pace.news();
    this.#isDoubtful = false;
    try {
      while (!signal.aborted) {
        this.#pace.count();
        const events = await run.events({ from, limit: PAGE_EVENTS });
        this.#give(this.#order.read(events));
        from = events.at(-1)?.seq ?? from;
        if (events.length < PAGE_EVENTS || from >= until) return;
      }
    } catch (error) {
      // What was given stays given if the rest cannot be read.
      this.#isDoubtful = true;
      throw error;
    }
  }

  /** Tells what the transcript has more, of `total` entries, and the reply of a program that runs. */
  async #readEntries(total: number | undefined): Promise<void> {
    const { run } = this.#parts;
    const from = this.#entries ?? total ?? 0;
    this.#entries = from;
    const entries: Entry[] = [];
    if (total !== undefined && from < total) {
      this.#pace.count();
      const read = await run.transcript({ from, limit: PAGE_ENTRIES });
      this.#entries = from + read.length;
      entries.push(...shownEntries(read));
    }
    if (this.#hasProgram) {
      this.#hasProgram = false;
      this.#pace.count();
      const current = await run.current();
      const open = current === null ? null : openEntry(current);
      if (open !== null) entries.push(open);
    }
    if (entries.length > 0) this.#frame({ kind: 'entries', run: run.id, entries });
    if (total !== undefined && this.#entries < total) this.#pace.news();
  }

  #give({ events, backTo }: OrderedEvents): void {
    const { listener, signal } = this.#parts;
    if (signal.aborted) return;
    if (backTo !== null) listener.rewound(backTo);
    const open = this.#open;
    if (open !== null && events.some((event) => isRecorded(event, open))) this.#open = null;
    if (this.#header !== null) this.#header = { ...this.#header, lastSeq: this.#order.last };
    this.#hasProgram ||= events.some(({ type }) => type === 'agent:program:before');
    if (events.length > 0) listener.events(events);
  }

  /** Takes what workers push. Never rejects. */
  async #readPushed(signal: AbortSignal): Promise<void> {
    try {
      for await (const item of leaving(this.#parts.run.pushedEvents(), signal)) {
        if (item.kind === 'event') this.#push(item.event);
        else this.#mark(item.feed);
      }
    } catch {
      // The run is asked for its events.
    }
    if (!signal.aborted) this.#mark('polled');
  }

  #mark(feed: EventFeed): void {
    this.#feed = feed;
    this.#isDoubtful = true;
    this.#pace.hurry();
  }

  #push(event: AgentEvent): void {
    // Where a run that was silent from the start stands is not known yet.
    if (this.#header?.status == null) return this.#pace.hurry();
    this.#give(this.#order.push(event));
    if (this.#order.isMissing) return this.#mark(this.#feed);
    if (CHANGES_STATE.has(event.type)) return this.#pace.hurry();
    this.#viewing ??= setTimeout(() => {
      this.#viewing = undefined;
      this.#pace.hurry();
    }, VIEW_MS).unref();
  }

  /** A run that answers by itself has ended a moment before the service has its Step. */
  async #stepOf({ step, closed }: RunOverview['status']): Promise<RunHeader['step']> {
    if (step !== undefined) return stepHead(step);
    if (closed !== undefined) return null;
    try {
      return stepHead(await within(ANSWER_MS, this.#parts.run.result()));
    } catch {
      // It ended without one, or the service is away; its page reads it again.
      return null;
    }
  }

  #tellSnapshot(): void {
    const frame = this.snapshot();
    if (frame !== null) this.#frame(frame);
  }

  #tellPending(known: readonly PendingItem[], items: readonly PendingItem[]): void {
    const { id: run } = this.#parts.run;
    const { agent = '', task = '' } = this.#header ?? {};
    for (const item of items) {
      if (!hasId(known, item.id)) this.#frame({ kind: 'pending', run, agent, task, item });
    }
    for (const { id } of known) if (!hasId(items, id)) this.#frame({ kind: 'settled', run, id });
  }

  /** The service tells of a run without a worker; if it does not, it is the service that is away. */
  async #tellSilence(withinMs: number): Promise<void> {
    this.#fallSilent(SILENT_TEXT);
    try {
      await within(withinMs, this.#parts.run.summary());
    } catch (error) {
      const { code } = apiErrorOf(error);
      if (this.#silentSince !== null && AWAY.has(code)) this.#fallSilent(AWAY_TEXT);
    }
  }

  /** Tells that the run is silent, and again when the reason is another. */
  #fallSilent(message: string): void {
    if (this.#silentSince !== null && this.#silentText === message) return;
    this.#silentSince ??= this.#askedAt;
    this.#silentText = message;
    if (this.#header !== null) this.#header = { ...this.#header, state: 'silent' };
    this.#tellSilent();
  }

  #tellSilent(): void {
    const { id: run } = this.#parts.run;
    const since = this.#silentSince ?? this.#askedAt;
    this.#frame({ kind: 'silent', run, since, message: this.#silentText });
  }

  #end(step: RunHeader['step']): void {
    this.#over.abort();
    this.#frame({ kind: 'step', run: this.#parts.run.id, step });
  }

  #fail(error: unknown): false {
    const { code, message } = apiErrorOf(error);
    this.#frame({ kind: 'failed', run: this.#parts.run.id, error: { code, message } });
    return false;
  }

  async #readText(): Promise<void> {
    const { run, signal } = this.#parts;
    try {
      for await (const item of leaving(run.stream(), signal)) {
        const change = textChangeOf(item);
        if (change === null) continue;
        this.#open = openAfter(this.#open, change);
        this.#frame({ kind: 'text', run: run.id, ...change });
        // Its record follows.
        if (change.change === 'end') this.#pace.hurry();
      }
      this.#pace.hurry();
    } catch {
      // Text is provisional: the page gets the replies when they are recorded.
    }
  }
}

const SILENT_TEXT =
  'No worker answers for this run. It waits and loses nothing. Start one with `everloop worker`.';

const AWAY_TEXT = 'The Temporal server does not answer. Runs lose nothing; it is asked again.';

const AWAY: ReadonlySet<string> = new Set(['busy', 'no_server', 'service_unavailable']);
const GONE: ReadonlySet<string> = new Set(['run_not_found', 'not_an_agent', 'keys_missing']);

/** Whether `event` says that the reply with text `open` is recorded. */
function isRecorded({ type, iteration }: AgentEvent, open: OpenText): boolean {
  return type === 'agent:iteration:after' && iteration >= open.iteration;
}

function hasId(items: readonly PendingItem[], id: string): boolean {
  return items.some((item) => item.id === id);
}

/** `items` until `signal` is aborted, which also ends a wait for the next one. */
async function* leaving<Item>(
  items: AsyncIterable<Item>,
  signal: AbortSignal,
): AsyncGenerator<Item, undefined> {
  const reader = items[Symbol.asyncIterator]();
  const leave = (): void => void reader.return?.();
  signal.addEventListener('abort', leave, { once: true });
  try {
    while (!signal.aborted) {
      const next = await reader.next();
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener('abort', leave);
    leave();
  }
}
