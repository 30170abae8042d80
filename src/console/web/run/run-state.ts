/**
 * The open run: a page of its past, folded by the server, and live events folded here by the same
 * function.
 */
import { batch, computed, signal, type ReadonlySignal, type Signal } from '@preact/signals';
import type {
  ApiError,
  EventsAnswer,
  IterationsAnswer,
  RunHeader,
  RunHeaderAnswer,
} from '../../api.ts';
import type { LiveFrame, LiveWants } from '../../live-frames.ts';
import type { AgentEvent } from '../../../core/contract/events.ts';
import { withEntries } from '../../view/entries.ts';
import { admit, logAfter, type EventLog } from '../../view/event-log.ts';
import type { IterationView } from '../../view/iteration-view.ts';
import { foldIterations } from '../../view/iterations.ts';
import { replyOf } from '../../view/reply.ts';
import { keptNear, sectionOf } from '../../view/section.ts';
import { streamed, type StreamedReply, type TextChange } from '../../view/streamed-reply.ts';
import { get, RequestFailed, runPath } from '../base/api.ts';
import { isOffline } from '../base/connection.ts';
import { listen } from '../base/live.ts';
import { RunAttempts } from './run-attempts.ts';

/** Iterations that a page shows first, and that each press of a button adds. */
export const PAGE_ITERATIONS = 50;

/** Iterations in the page at most. */
const MAX_SHOWN = 200;

/** Iterations that the API gives at once. */
const MAX_PAGE = 100;

/** How long a reply that is recorded may take to come by the live feed. */
const LACKING_MS = 2_500;

/**
 * How long after the end of a run its page loads once more, in ms: what was asked for as it ended may
 * say what was before, and such a read is shared for a second.
 */
const AFTER_END_MS = 1_500;

/** The console lacks the key of a run, or has another. */
const UNREADABLE: ReadonlySet<string> = new Set(['keys_missing', 'payload_damaged']);

/** Why the run says nothing at the moment. */
export interface Silence {
  readonly since: number;
  readonly message: string;
}

/** What is said of an action: it was sent, accepted or refused. */
export interface ActionNote {
  readonly text: string;
  readonly tone: '' | 'bad';
}

/** The open run as signals. */
export class RunModel {
  readonly id: string;
  readonly header: Signal<RunHeader | null> = signal(null);
  /** All iterations that are loaded; there may be gaps between them. */
  readonly views: Signal<readonly IterationView[]> = signal([]);
  /** Number of the iteration around which the page shows some; null: the end. */
  readonly anchor: Signal<number | null> = signal(null);
  /** The iterations that the page shows: they follow each other. */
  readonly section: ReadonlySignal<readonly IterationView[]> = computed(() =>
    sectionOf(this.views.value, this.anchor.value, MAX_SHOWN),
  );
  /** Number of the iteration at the top of the view; null: none is in it. */
  readonly top: Signal<number | null> = signal(null);
  /** The attempts of the iterations that the page shows. */
  readonly attempts: RunAttempts;
  readonly reply: Signal<StreamedReply | null> = signal(null);
  readonly silence: Signal<Silence | null> = signal(null);
  readonly failure: Signal<RequestFailed | null> = signal(null);
  /** Why what the run says cannot be read; null: it can. */
  readonly unread: Signal<ApiError | null> = signal(null);
  /** A part that could not be read, while the rest was. */
  readonly viewsFailure: Signal<RequestFailed | null> = signal(null);
  readonly isLoaded: Signal<boolean> = signal(false);
  readonly feed: Signal<'pushed' | 'polled' | null> = signal(null);
  /** How the last action went. */
  readonly note: Signal<ActionNote | null> = signal(null);
  /** The iteration before which the open dialog forks; null: none is open. */
  readonly forkAt: Signal<number | null> = signal(null);
  /** Moves with each event, and after the end, for tabs that load data of their own. */
  readonly news: Signal<number> = signal(0);
  #log: EventLog = logAfter(0);
  #stopListening: (() => void) | null = null;
  #isStopped = false;
  #loads = 0;
  /** Of the loads of the header, the last that was taken. */
  #loaded = 0;
  #isFilling = false;
  /** Iterations whose reply is recorded, but has not come, and since when. */
  readonly #lacking = new Map<number, number>();
  #lackingTimer: ReturnType<typeof setTimeout> | undefined;
  #endTimer: ReturnType<typeof setTimeout> | undefined;
  /** Events that the page has do not hold. */
  #isRewound = false;

  constructor(id: string) {
    this.id = id;
    this.attempts = new RunAttempts(id, this.section, this.silence);
  }

  /** Loads the run and follows it. */
  async start(): Promise<void> {
    await Promise.all([this.loadHeader(), this.#loadTail()]);
    if (this.#isStopped) return;
    this.isLoaded.value = true;
    this.attempts.load();
    if (this.header.value?.state === 'ended') return;
    const last = (): number => this.#log.last;
    // Read anew for each stream: a later one goes on after what is here by then.
    const wants: LiveWants = {
      run: this.id,
      get after() {
        return last();
      },
    };
    this.attempts.watch();
    this.#stopListening = listen(wants, (frames) => {
      if (frames === null) void this.#poll();
      else this.#take(frames);
    });
  }

  /** Forgets the run. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#lackingTimer);
    clearTimeout(this.#endTimer);
    this.attempts.stop();
    this.#stopListening?.();
  }

  /** Loads the header again; old data stays if it fails. */
  async loadHeader(): Promise<void> {
    const load = ++this.#loads;
    try {
      const { run, partial = [] } = await get<RunHeaderAnswer>(runPath(this.id));
      // A later question was answered before.
      if (load < this.#loaded) return;
      this.#loaded = load;
      batch(() => {
        this.header.value = headerAfter(this.header.value, run);
        this.unread.value = partial.find(({ code }) => UNREADABLE.has(code)) ?? null;
        this.failure.value = null;
        isOffline.value = false;
        if (run.state !== 'silent') this.silence.value = null;
      });
    } catch (error) {
      this.#note(error, this.failure);
    }
  }

  /** Number of the newest iteration. */
  get newest(): number {
    return Math.max(
      this.header.value?.status?.iteration ?? 0,
      this.views.value.at(-1)?.number ?? 0,
    );
  }

  /** Shows the page around iteration `number`, and loads what it lacks. */
  async show(number: number): Promise<void> {
    const wanted = Math.max(0, Math.min(this.newest, number));
    if (!this.#has(wanted)) await this.#loadFrom(Math.max(0, wanted - 10), PAGE_ITERATIONS);
    if (this.#has(wanted)) this.anchor.value = wanted;
    this.attempts.load();
  }

  /** Shows the end of the run, which follows its news. */
  showEnd(): void {
    this.anchor.value = null;
    this.attempts.load();
  }

  /** Loads iterations before those that are shown. */
  async loadEarlier(): Promise<void> {
    const first = this.section.value[0]?.number ?? 0;
    const from = Math.max(0, first - PAGE_ITERATIONS);
    await this.#loadFrom(from, first - from);
    this.anchor.value = Math.max(from, first - 1);
    this.attempts.load();
  }

  /** Loads iterations after those that are shown. */
  async loadLater(): Promise<void> {
    const last = this.section.value.at(-1)?.number ?? 0;
    await this.#loadFrom(last + 1, PAGE_ITERATIONS);
    const next = Math.min(this.newest, last + 1);
    if (this.#has(next)) this.anchor.value = next;
    this.attempts.load();
  }

  #has(wanted: number): boolean {
    return this.views.value.some(({ number }) => number === wanted);
  }

  async #loadFrom(from: number, count: number): Promise<void> {
    const answer = count <= 0 ? null : await this.#iterations(`?from=${from}&count=${count}`);
    if (answer === null) return;
    const known = new Set(this.views.value.map(({ number }) => number));
    const added = answer.iterations.filter(({ number }) => !known.has(number));
    const all = [...added, ...this.views.value].toSorted((a, b) => a.number - b.number);
    this.views.value = keptNear(all, from);
  }

  /** False: it could not be read. */
  async #loadTail(): Promise<boolean> {
    const answer = await this.#iterations(`?count=${PAGE_ITERATIONS}`);
    if (answer === null) return false;
    this.views.value = answer.iterations;
    this.#log = logAfter(answer.lastSeq);
    return true;
  }

  /** Reads what was rewound; tried again with the next snapshot if nobody answers. */
  async #reread(): Promise<void> {
    if (await this.#loadTail()) this.#isRewound = false;
  }

  async #iterations(search: string): Promise<IterationsAnswer | null> {
    try {
      const answer = await get<IterationsAnswer>(runPath(this.id, `/iterations${search}`));
      this.viewsFailure.value = null;
      return answer;
    } catch (error) {
      this.#note(error, this.viewsFailure);
      return null;
    }
  }

  #note(error: unknown, where: Signal<RequestFailed | null>): void {
    if (!(error instanceof RequestFailed)) return;
    where.value = error;
    if (error.code === 'offline') isOffline.value = true;
  }

  /** The live feed gives replies once they are recorded; what it does not give is read. */
  #lack(number: number): void {
    this.#lacking.set(number, performance.now());
    this.#lackingTimer ??= setTimeout(() => void this.#loadLacking(), LACKING_MS);
  }

  async #loadLacking(): Promise<void> {
    const dueAt = performance.now() - LACKING_MS;
    const due = [...this.#lacking].filter(([, since]) => since <= dueAt).map(([number]) => number);
    for (const number of due) this.#lacking.delete(number);
    const isMore = this.#lacking.size > 0 && !this.#isStopped;
    this.#lackingTimer = isMore
      ? setTimeout(() => void this.#loadLacking(), LACKING_MS)
      : undefined;
    if (this.#isStopped || due.length === 0) return;
    const from = Math.min(...due);
    const count = Math.min(MAX_PAGE, Math.max(...due) - from + 1);
    const found = (await this.#iterations(`?from=${from}&count=${count}`))?.iterations ?? [];
    this.views.value = this.views.value.map((view) => {
      const read = found.find(({ number }) => number === view.number);
      if (read === undefined) return view;
      const reply = read.reply === undefined ? {} : { reply: read.reply };
      const marks = read.marks.length >= view.marks.length ? read.marks : view.marks;
      return { ...view, ...reply, marks };
    });
  }

  async #poll(): Promise<void> {
    await this.loadHeader();
    await this.#fill();
    if (this.header.value?.state === 'ended') this.#lookOnceMore();
  }

  /** Loads header, events and tabs once more, some time after the end. */
  #lookOnceMore(): void {
    if (this.#isStopped) return;
    this.#endTimer ??= setTimeout(() => {
      this.news.value += 1;
      void this.#poll();
    }, AFTER_END_MS);
  }

  /** Reads the events after the last one that was folded. */
  async #fill(): Promise<void> {
    if (this.#isFilling) return;
    this.#isFilling = true;
    try {
      const search = `?from=${this.#log.last}&limit=500`;
      const { events } = await get<EventsAnswer>(runPath(this.id, `/events${search}`));
      this.#fold(events);
    } catch {
      // Asked again with the next frame or the next poll.
    } finally {
      this.#isFilling = false;
    }
  }

  #take(frames: readonly LiveFrame[]): void {
    const mine = frames.filter((frame) => 'run' in frame && frame.run === this.id);
    if (mine.length === 0) return;
    batch(() => {
      const texts = mine.flatMap((frame): readonly TextChange[] =>
        frame.kind === 'text' ? [frame] : [],
      );
      if (texts.length > 0) this.#write(texts);
      // Another worker writes the reply anew.
      if (texts.some(({ change }) => change === 'restart')) this.attempts.load();
      const events = mine.flatMap((frame) => (frame.kind === 'event' ? [frame.event] : []));
      if (events.length > 0 && this.#fold(events)) void this.#fill();
      for (const frame of mine) this.#takeOne(frame);
    });
  }

  /** Text of the next iteration: that of the one before stays until its record comes. */
  #write(texts: readonly TextChange[]): void {
    const before = this.reply.value;
    const next = streamed(before, texts);
    this.reply.value = next;
    if (before === null || before.iteration === next?.iteration || before.hasGap) return;
    this.views.value = this.views.value.map((view) =>
      view.number !== before.iteration || view.reply !== undefined
        ? view
        : { ...view, reply: replyOf(before.text, before.reasoning, view.sections) },
    );
  }

  #takeOne(frame: LiveFrame): void {
    const header = this.header.value;
    switch (frame.kind) {
      case 'snapshot':
        this.header.value = headerAfter(header, frame.header);
        this.silence.value = null;
        this.feed.value = frame.feed;
        if (frame.open !== null) this.reply.value = frame.open;
        if (this.#isRewound) void this.#reread();
        else if (frame.header.lastSeq > this.#log.last) void this.#fill();
        this.attempts.load();
        break;
      case 'rewound':
        this.#isRewound = true;
        void this.#reread();
        break;
      case 'entries':
        this.views.value = withEntries(this.views.value, frame.entries);
        for (const { iteration } of frame.entries) this.#lacking.delete(iteration);
        break;
      case 'status':
        if (header === null) break;
        if (hasLost(frame.status) && !hasLost(header.status)) this.attempts.load();
        this.header.value = {
          ...header,
          state: frame.state,
          status: frame.status,
          budgets: frame.budgets,
        };
        break;
      case 'pending':
        if (header === null || header.pending.some(({ id }) => id === frame.item.id)) break;
        this.header.value = { ...header, pending: [...header.pending, frame.item] };
        break;
      case 'settled':
        if (header === null) break;
        this.header.value = {
          ...header,
          pending: header.pending.filter(({ id }) => id !== frame.id),
        };
        break;
      case 'silent':
        this.silence.value = { since: frame.since, message: frame.message };
        if (header !== null) this.header.value = { ...header, state: 'silent' };
        this.attempts.load();
        break;
      case 'step':
        // Asked at this moment, the service may not have the Step yet.
        if (header !== null) this.header.value = { ...header, state: 'ended', step: frame.step };
        void this.loadHeader();
        void this.#fill();
        this.attempts.load();
        this.#lookOnceMore();
        break;
      case 'failed':
        this.failure.value = new RequestFailed(frame.error.code, frame.error.message, 0);
        break;
      default:
        break;
    }
  }

  /** Folds `events`; true: events before them are missing. */
  #fold(events: readonly AgentEvent[]): boolean {
    const { log, ready, gap } = admit(this.#log, events);
    this.#log = log;
    if (ready.length > 0) {
      this.views.value = foldIterations(this.views.value, ready);
      this.news.value += 1;
      for (const event of ready) this.#after(event);
    }
    return gap !== null;
  }

  #after(event: AgentEvent): void {
    switch (event.type) {
      case 'agent:iteration:after':
      case 'agent:program:before':
        this.#lack(event.iteration);
        break;
      case 'agent:model_call:after':
      case 'agent:tool_call:after':
        if ((event.losses ?? 0) > 0) this.attempts.load();
        break;
      case 'agent:execution:after':
        void this.loadHeader();
        break;
      default:
        break;
    }
  }
}

/** The header after `read` was answered; a run does not return from its end. */
function headerAfter(known: RunHeader | null, read: RunHeader): RunHeader {
  if (known === null) return read;
  if (known.step !== null && read.step === null) return known;
  // Nothing answers for the run: what it said before stays.
  if (read.status === null) return { ...known, state: read.state };
  return { ...known, ...read, task: read.task || known.task };
}

/** Whether what runs now has lost a worker before. */
function hasLost(status: RunHeader['status']): boolean {
  return status?.waitsFor.some((text) => / \(lost \d+ worker/.test(text)) === true;
}
