/**
 * Pages of a run by iteration: the events and entries of a range, folded as the pages show them.
 *
 * I1  Iterations of events and entries never fall, so the place of one is found by halving.
 * I2  A range reads at most {@link MAX_ITEMS} events and about {@link MAX_BYTES} of them and of
 *     entries; one that has more gets fewer iterations, and what is left out of one is said.
 * I3  An outline that takes too long gives what it has, and the next one goes on from there.
 */
import { LRUCache } from 'lru-cache';
import type { RunHandle } from '../client/run-handle.ts';
import type { RunStatus } from '../core/contract/messages.ts';
import type { CurrentIteration } from '../core/run/view.ts';
import type { CallAttempt } from '../client/reading/attempts.ts';
import { defined } from '../core/base/defined.ts';
import type { IterationsAnswer, MissingPart, OutlineAnswer } from './api.ts';
import type { ItemRange, RunReader } from './run-reader.ts';
import type { AttemptView } from './view/attempts.ts';
import { withEntries } from './view/entries.ts';
import type { IterationView } from './view/iteration-view.ts';
import { foldIterations } from './view/iterations.ts';
import { outlineOf, type OutlineRow } from './view/outline.ts';
import { replyOf } from './view/reply.ts';

/** Events, and entries, of one page of iterations. */
const MAX_ITEMS = 20_000;

/** Of the events, and of the entries, of one page of more than one iteration, as JSON. */
const MAX_BYTES = 8_388_608;

/** Events that are read and folded at once. */
const PAGE_ITEMS = 256;

/** Entries that are read at once: each can be a megabyte. */
const ENTRIES_AT_ONCE = 32;

/** Iterations of an outline that may still change: calls end later than their iteration. */
const OPEN_ITERATIONS = 100;

/** Outlines that are kept. */
const MAX_OUTLINES = 50;

/** How long an outline is read for one answer, in ms: an answer has twelve seconds. */
const OUTLINE_MS = 9_000;

/** Which iterations to read. */
export interface IterationRange {
  /** Number of the first; null: those at the end. */
  readonly from: number | null;
  readonly count: number;
}

/** Reads runs by iteration. */
export interface IterationPages {
  readonly iterations: (run: RunHandle, range: IterationRange) => Promise<IterationsAnswer>;
  readonly outline: (run: RunHandle) => Promise<OutlineAnswer>;
}

interface KnownOutline {
  readonly runId: string;
  readonly rows: readonly OutlineRow[];
  /** The last iterations, which may still change. */
  readonly open: readonly IterationView[];
  readonly lastSeq: number;
}

/** Reads pages through `reader`. */
export function createIterationPages(reader: RunReader): IterationPages {
  const outlines = new LRUCache<string, KnownOutline>({ max: MAX_OUTLINES });
  return {
    iterations: (run, range) => readIterations(reader, run, range),
    outline: async ({ id }) => {
      const { status } = await reader.overview(id);
      const kept = outlines.get(id);
      const start: KnownOutline = { runId: status.runId, rows: [], open: [], lastSeq: 0 };
      const known = kept === undefined || kept.runId !== status.runId ? start : kept;
      const total = status.events;
      const { outline, isWhole } = await readOutline(reader, id, known, total);
      outlines.set(id, outline);
      return {
        rows: [...outline.rows, ...outlineOf(outline.open)],
        lastSeq: outline.lastSeq,
        ...defined({ partial: isWhole ? undefined : [STILL_READING] }),
      };
    },
  };
}

const STILL_READING: MissingPart = {
  part: 'rows',
  code: 'busy',
  message: 'The rest of the outline is still being read. Ask again for more of it.',
};

async function readOutline(
  reader: RunReader,
  id: string,
  known: KnownOutline,
  total: number,
): Promise<{ readonly outline: KnownOutline; readonly isWhole: boolean }> {
  const until = performance.now() + OUTLINE_MS;
  const rows = [...known.rows];
  let { open, lastSeq } = known;
  let isWhole = true;
  while (lastSeq < total) {
    if (performance.now() > until) {
      isWhole = false;
      break;
    }
    const events = await reader.events(id, { from: lastSeq, limit: PAGE_ITEMS });
    if (events.length === 0) break;
    open = foldIterations(open, events);
    lastSeq = events.at(-1)?.seq ?? lastSeq;
    if (open.length > 2 * OPEN_ITERATIONS) {
      rows.push(...outlineOf(open.slice(0, -OPEN_ITERATIONS)));
      open = open.slice(-OPEN_ITERATIONS);
    }
  }
  return { outline: { ...known, rows, open, lastSeq }, isWhole };
}

async function readIterations(
  reader: RunReader,
  run: RunHandle,
  { from, count }: IterationRange,
): Promise<IterationsAnswer> {
  const { id } = run;
  const { status } = await reader.overview(id);
  const answer = await readRange(reader, run, status, { from, count });
  // One iteration is read whole; several are fewer, if they are long.
  if (answer.partial === undefined || count === 1) return answer;
  return readIterations(reader, run, { from, count: Math.ceil(count / 4) });
}

async function readRange(
  reader: RunReader,
  run: RunHandle,
  status: RunStatus,
  { from, count }: IterationRange,
): Promise<IterationsAnswer> {
  const { id } = run;
  const first = from ?? Math.max(0, status.iteration - count + 1);
  const most = count === 1 ? Infinity : MAX_BYTES;
  const events = pageOf((range) => reader.events(id, range), status.events, most);
  const entries = pageOf(
    (range) => reader.entries(id, range),
    status.entries,
    most,
    ENTRIES_AT_ONCE,
  );
  const [ofEvents, ofEntries, current] = await Promise.all([
    events(first, first + count),
    entries(first, first + count),
    // What is open is at the end only.
    first + count > status.iteration ? run.current().catch(() => null) : null,
  ]);
  const views = withEntries(foldIterations([], ofEvents.items), ofEntries.items);
  const isCut = ofEvents.isCut || ofEntries.isCut;
  return {
    // A late end of an earlier call may begin a view of its own.
    iterations: withCurrent(views, current).filter(({ number }) => number >= first),
    lastSeq: ofEvents.items.at(-1)?.seq ?? 0,
    ...defined({ partial: isCut ? [TOO_LONG] : undefined }),
  };
}

const TOO_LONG: MissingPart = {
  part: 'iterations',
  code: 'busy',
  message: `This iteration has more than ${MAX_ITEMS} events. The tab Events has all of them.`,
};

interface Numbered {
  readonly iteration: number;
}

interface PagePart<Item> {
  readonly items: readonly Item[];
  readonly isCut: boolean;
}

/** The items of `iteration` and of the next one, in which its calls may end. */
export async function itemsFrom<Item extends Numbered>(
  read: (range: ItemRange) => Promise<readonly Item[]>,
  total: number | undefined,
  iteration: number,
): Promise<readonly Item[]> {
  const page = pageOf(read, total ?? MAX_ITEMS);
  return (await page(iteration, iteration + 2)).items;
}

/**
 * Reads the items of iterations `first` to before `end` of a list of `total` items, `atOnce` at a
 * time, until they have more than `mostBytes`.
 */
function pageOf<Item extends Numbered>(
  read: (range: ItemRange) => Promise<readonly Item[]>,
  total: number,
  mostBytes: number = Infinity,
  atOnce: number = PAGE_ITEMS,
): (first: number, end: number) => Promise<PagePart<Item>> {
  const indexOf = async (iteration: number): Promise<number> => {
    let [low, high] = [0, total];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const [item] = await read({ from: middle, limit: 1 });
      if (item !== undefined && item.iteration < iteration) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return async (first, end) => {
    const from = first === 0 ? 0 : await indexOf(first);
    const items: Item[] = [];
    let bytes = 0;
    while (items.length < MAX_ITEMS && bytes <= mostBytes) {
      const page = await read({ from: from + items.length, limit: atOnce });
      const wanted = page.filter(({ iteration }) => iteration < end);
      items.push(...wanted);
      if (mostBytes !== Infinity) bytes += JSON.stringify(wanted).length;
      if (wanted.length < atOnce) return { items, isCut: bytes > mostBytes };
    }
    return { items, isCut: true };
  };
}

/** `views`, in which the open iteration has the reply that the transcript lacks as yet. */
function withCurrent(
  views: readonly IterationView[],
  current: CurrentIteration | null,
): readonly IterationView[] {
  const { iteration, reply } = current ?? {};
  if (reply === undefined || reply === null) return views;
  const text = (type: 'text' | 'reasoning'): string =>
    reply.parts.flatMap((part) => (part.type === type ? [part.text] : [])).join('');
  return views.map((view) =>
    view.number !== iteration || view.reply !== undefined
      ? view
      : { ...view, reply: replyOf(text('text'), text('reasoning'), view.sections) },
  );
}

/** The attempts of calls as pages show them: numbered, each with how it ended. */
export function attemptViews(attempts: readonly CallAttempt[]): readonly AttemptView[] {
  const last = new Map<string, { readonly number: number; readonly attempt: CallAttempt }>();
  return attempts.map((attempt) => {
    const { kind, iteration, callId, scheduledAt, startedAt, endedAt, worker, outcome } = attempt;
    const key = `${kind} ${iteration} ${callId ?? attempt.name}`;
    const before = last.get(key);
    // A call that succeeded is followed by another call, not by another attempt.
    const isAgain = before !== undefined && before.attempt.outcome !== 'ok';
    const number = isAgain ? before.number + 1 : 1;
    last.set(key, { number, attempt });
    return {
      work: kind,
      iteration,
      attempt: number,
      scheduledAt,
      ...defined({
        callId,
        startedAt: startedAt ?? undefined,
        endedAt: endedAt ?? undefined,
        worker: worker ?? undefined,
        outcome: outcome === 'lost' || outcome === 'failed' ? outcome : undefined,
        reason: attempt.reason,
      }),
    };
  });
}
