/**
 * Reads runs for the pages: headers, and pages of events and of the transcript.
 *
 * I1  What is recorded never changes, so a full page is kept: at most {@link CACHE_BYTES} of them.
 * I2  Pages are kept under the run id, which the service makes up: a new run under an old id has
 *     pages of its own.
 * I3  Equal reads that overlap are one.
 */
import { LRUCache } from 'lru-cache';
import type { Everloop } from '../client/everloop-client.ts';
import type { RunHandle } from '../client/run-handle.ts';
import { defined } from '../core/base/defined.ts';
import { isUsageError } from '../core/base/usage-error.ts';
import { clip } from '../core/text/cut.ts';
import type { Entry } from '../core/contract/entry.ts';
import type { AgentEvent } from '../core/contract/events.ts';
import type { RunOverview } from '../core/contract/messages.ts';
import type { Step } from '../core/contract/step.ts';
import type { RunHeaderAnswer } from './api.ts';
import { gather, type BoundedReads } from './bounded-reads.ts';
import { ConsoleRefusal } from './refusal.ts';
import { forkedFromOf, headerOf, stepHead } from './run-header.ts';

/** Items of a page that is read and kept; entries can be a megabyte each. */
const PAGE_ITEMS = { events: 256, entries: 32 } as const;

/** What all kept pages may take, as JSON. */
const CACHE_BYTES = 67_108_864;

/** Runs whose id is known to belong to a run id. */
const MAX_KNOWN = 10_000;

const MAX_TASK_CHARACTERS = 4_000;

/** Which items of a list to read: at most `limit` from index `from` on. */
export interface ItemRange {
  readonly from: number;
  readonly limit: number;
}

type List = 'events' | 'entries';

/** A reader of the runs of `everloop`. */
export class RunReader {
  readonly #everloop: Pick<Everloop, 'attach'>;
  readonly #reads: BoundedReads;
  readonly #pages = new LRUCache<string, readonly (AgentEvent | Entry)[]>({
    maxSize: CACHE_BYTES,
    sizeCalculation: (page) => JSON.stringify(page).length,
  });
  readonly #runIds = new LRUCache<string, string>({ max: MAX_KNOWN });

  constructor(everloop: Pick<Everloop, 'attach'>, reads: BoundedReads) {
    this.#everloop = everloop;
    this.#reads = reads;
  }

  /** The newest overview, which is shared by all who ask at the same time. */
  overview(id: string): Promise<RunOverview> {
    return this.#reads.once(`view ${id}`, async () => {
      const found = await this.#everloop.attach(id).view();
      this.#runIds.set(id, found.status.runId);
      return found;
    });
  }

  /** Events by index, which is `seq` - 1; fewer at the end. */
  events(id: string, range: ItemRange): Promise<readonly AgentEvent[]> {
    return this.#items<AgentEvent>('events', id, range);
  }

  /** Entries of the transcript by index; fewer at the end. */
  entries(id: string, range: ItemRange): Promise<readonly Entry[]> {
    return this.#items<Entry>('entries', id, range);
  }

  /** Null for a live run, and for one that ended without a Step. */
  step(id: string): Promise<Step | null> {
    return this.#reads.once(`step ${id}`, () => stepOf(this.#everloop.attach(id)));
  }

  /** What the header of a run shows; parts that do not answer in time are missing. */
  async header(id: string): Promise<RunHeaderAnswer> {
    // An id that no run can have is refused before anything is read.
    const run = this.#everloop.attach(id);
    const { view, start, first, partial } = await gather({
      view: this.overview(id),
      start: this.#reads.once(`start ${id}`, () => run.startedWith()),
      first: this.events(id, { from: 0, limit: 1 }),
    });
    requireKnown(partial);
    const task = clip(start?.task.text ?? '', MAX_TASK_CHARACTERS);
    const known = view === undefined ? undefined : withEndedLimits(view, first?.[0]);
    const forkedFrom = forkedFromOf(start, view?.status.step);
    const place = { task, startedAt: first?.[0]?.at ?? null, ...defined({ forkedFrom }) };
    const header = headerOf(id, known, place);
    const agent = header.agent || (start?.agent ?? '');
    const isOver = header.state === 'ended' && header.step === null;
    const step = isOver ? await this.step(id).catch(() => null) : null;
    const end = step === null ? header.step : stepHead(step);
    return { run: { ...header, agent, step: end }, ...defined({ partial }) };
  }

  async #items<Item extends AgentEvent | Entry>(
    list: List,
    id: string,
    { from, limit }: ItemRange,
  ): Promise<readonly Item[]> {
    const size = PAGE_ITEMS[list];
    const items: Item[] = [];
    for (let at = from; items.length < limit;) {
      const page = await this.#page<Item>(list, id, Math.floor(at / size));
      const wanted = page.slice(at % size, (at % size) + limit - items.length);
      items.push(...wanted);
      at += wanted.length;
      if (wanted.length === 0 || page.length < size) break;
    }
    return items;
  }

  async #page<Item extends AgentEvent | Entry>(
    list: List,
    id: string,
    page: number,
  ): Promise<readonly Item[]> {
    const runId = this.#runIds.get(id) ?? (await this.overview(id)).status.runId;
    const key = `${runId}/${list}/${page}`;
    const known = this.#pages.get(key);
    if (known !== undefined) return known as readonly Item[];
    const run = this.#everloop.attach(id);
    const size = PAGE_ITEMS[list];
    const range = { from: page * size, limit: size };
    const read = (): Promise<readonly (AgentEvent | Entry)[]> =>
      list === 'events' ? run.events(range) : run.transcript(range);
    const items = await this.#reads.once(key, read);
    if (items.length === size) this.#pages.set(key, items);
    return items as readonly Item[];
  }
}

/** An ended run has no limits any more: its first event has those that it began with. */
function withEndedLimits(view: RunOverview, first: AgentEvent | undefined): RunOverview {
  const isKnown = view.status.state !== 'ended' || view.budgets.length > 0;
  if (isKnown || first?.type !== 'agent:execution:before') return view;
  return { ...view, limits: first.limits ?? [] };
}

async function stepOf(run: RunHandle): Promise<Step | null> {
  try {
    return await run.step();
  } catch (error) {
    if (isUsageError(error) && error.code === 'no_step') return null;
    throw error;
  }
}

/** @throws UsageError of the first part if the run is not there at all. */
function requireKnown(partial: RunHeaderAnswer['partial']): void {
  const gone = partial?.find(({ code }) => code === 'run_not_found' || code === 'not_an_agent');
  if (gone !== undefined) throw new ConsoleRefusal(gone.code, gone.message);
}
