/**
 * The list of runs: pages of rows, progress of the rows in view, news of the live feed.
 *
 * I1  The rows are the list from its newest run on, without a gap, each run once; the cursor goes on
 *     after the last of them.
 * I2  A load that is under way is not asked for again, which would give a slow answer up each time.
 *     Another filter ends both loads, and a first page that replaces all rows ends that of the next
 *     ones. Otherwise neither ends the other.
 * I3  A load that fails changes no row.
 */
import { batch, computed, signal, type ReadonlySignal, type Signal } from '@preact/signals';
import type { StepStatus } from '../../../core/contract/step.ts';
import type { ProgressAnswer, RunProgress, RunRow, RunsAnswer } from '../../api.ts';
import type { LiveFrame } from '../../live-frames.ts';
import { isBetweenTurns } from '../../view/between-turns.ts';
import { get, RequestFailed } from '../base/api.ts';
import { serverNow } from '../base/clock.ts';
import { isOffline } from '../base/connection.ts';
import { lateNews } from '../base/late-news.ts';
import { queryOf, readFilter, sinceMs } from './filter.ts';
import { takeBelow } from './runs-below.ts';

/** Rows of a page. */
const PAGE = 200;
/** Rows of the first page while nothing is shown: more than a screen has, and sooner here. */
const FIRST_ROWS = 60;
/** Rows whose progress is asked for at once. */
const MAX_PROGRESS = 60;
/** How long the progress of a live run stays fresh. */
const FRESH_MS = 2_500;

/** The rows that are shown, newest first. */
export const rows: Signal<readonly RunRow[]> = signal([]);
/** Number of runs by state; null: they were not counted. */
export const counts: Signal<RunsAnswer['counts']> = signal(null);
/** Gives the next rows; null: there are no more. */
export const cursor: Signal<string | null> = signal(null);
/** Why the last load failed; null: it did not. */
export const failure: Signal<RequestFailed | null> = signal(null);
/** Whether a first page of this filter has come. */
export const isLoaded: Signal<boolean> = signal(false);
/** Whether the last rows were found by a search that stopped before it found more. */
export const mayFindMore: Signal<boolean> = signal(false);
/** Rows that came while the pointer was over the list: all newer than the last of its rows. */
export const held: Signal<readonly RunRow[]> = signal([]);
/** Whether the pointer is over the list, so that it must not move. */
export const isHolding: Signal<boolean> = signal(false);
/** What rows show beside what the list knows, by run. */
export const progress: Signal<ReadonlyMap<string, RunProgress>> = signal(new Map());

/** How many runs there are; null: the service was not asked. */
export const total: ReadonlySignal<number | null> = computed(() =>
  counts.value === null
    ? null
    : Object.values(counts.value).reduce((sum, count) => sum + (count ?? 0), 0),
);

/** How many of the rows ended themselves with `status`, as far as their progress was read. */
export function endedAs(status: StepStatus): number {
  const isSuch = ({ id, state }: RunRow): boolean =>
    state === 'completed' && progress.value.get(id)?.status === status;
  return rows.value.filter(isSuch).length;
}

/** While somebody types, the service is asked after a pause. */
const TYPING_MS = 120;

let asked = '';
/** Ends the loads that are under way: of the first page, and of the next rows. */
const loads = new Map<'first' | 'next', AbortController>();
let typing: ReturnType<typeof setTimeout> | undefined;

/**
 * Loads the list for the filter `line`. Until it has come, rows of the filter before that fit stay,
 * so that a key is seen at once.
 */
export async function loadRuns(line: string): Promise<void> {
  if (line === asked) {
    await ask(line, null);
    return;
  }
  const isFirst = !isLoaded.value && rows.value.length === 0;
  asked = line;
  // What is on its way is for the filter before, and so is the cursor.
  endLoad('first');
  endLoad('next');
  batch(() => {
    isLoaded.value = false;
    cursor.value = null;
    mayFindMore.value = false;
    held.value = [];
    rows.value = rows.value.filter(fits);
  });
  clearTimeout(typing);
  if (isFirst) await ask(line, null);
  else typing = setTimeout(() => void ask(line, null), TYPING_MS);
}

/** Loads the next rows. */
export async function loadMore(): Promise<void> {
  if (cursor.value !== null) await ask(asked, cursor.value);
}

const news = lateNews(applyFrames);

/** Takes rows of the live feed. */
export const takeFrames = news.take;

function ask(line: string, from: string | null): Promise<void> {
  return news.during(() => askFor(line, from));
}

async function askFor(line: string, from: string | null): Promise<void> {
  const part = from === null ? 'first' : 'next';
  if (loads.has(part)) return;
  const mine = new AbortController();
  loads.set(part, mine);
  const isBare = from === null && rows.value.length === 0;
  const query = queryOf(readFilter(line), serverNow(), isBare ? FIRST_ROWS : PAGE);
  if (from !== null) query.set('cursor', from);
  try {
    const answer = await get<RunsAnswer>(`/runs?${query.toString()}`, mine.signal);
    if (mine.signal.aborted) return;
    const missing = answer.partial?.find(({ part: name }) => name === 'page');
    if (missing !== undefined) throw new RequestFailed(missing.code, missing.message, 503);
    batch(() => {
      if (from === null) takeFirst(answer);
      else takeNext(answer);
      counts.value = answer.counts ?? counts.value;
      failure.value = null;
      isLoaded.value = true;
      isOffline.value = false;
    });
  } catch (error) {
    if (mine.signal.aborted || !(error instanceof RequestFailed)) return;
    if (from !== null && error.code === 'invalid_input') {
      // The console was started again since, with other cursors: the list begins again.
      isLoaded.value = false;
      return askFor(line, null);
    }
    failure.value = error;
    isOffline.value = error.code === 'offline';
  } finally {
    if (loads.get(part) === mine) loads.delete(part);
  }
}

/** Ids of rows that came with pages. The live feed has only the newest runs, and may leave some out. */
let paged: ReadonlySet<string> = new Set();

/** Takes the first page: above the rows that follow it, or in place of all. */
function takeFirst({ rows: first, cursor: after }: RunsAnswer): void {
  const last = first.at(-1);
  // A search that stopped before it found one knows less than those before it.
  if (isLoaded.value && last === undefined && after !== null) return;
  const meets = isLoaded.value && first.some(({ id }) => paged.has(id));
  // Without a run that both have, others may have been started between them.
  if (last === undefined || !meets) replaceAll(first, after);
  else if (isHolding.value) holdNew(first);
  else {
    const fresh = new Set(first.map(({ id }) => id));
    const end = rows.value.at(-1);
    const later = rows.value.filter(
      ({ id, startedAt }) => !fresh.has(id) && startedAt <= last.startedAt,
    );
    rows.value = [...first, ...later];
    paged = new Set([...paged, ...fresh]);
    // Where the last row is the same, a search may have gone on from there.
    if (later.length === 0 && last.id !== end?.id) cursor.value = after;
    held.value = held.value.filter((row) => !fresh.has(row.id) && isReached(row));
  }
}

function replaceAll(first: readonly RunRow[], after: string | null): void {
  // Rows that are on their way would follow those that are gone.
  endLoad('next');
  rows.value = first;
  paged = new Set(first.map(({ id }) => id));
  cursor.value = after;
  mayFindMore.value = first.length === 0 && after !== null;
  held.value = held.value.filter((row) => !paged.has(row.id) && isReached(row));
}

/** Changes rows where they stand, and holds the new ones. */
function holdNew(first: readonly RunRow[]): void {
  const fresh = new Map(first.map((row) => [row.id, row]));
  const known = new Set(rows.value.map(({ id }) => id));
  rows.value = rows.value.map((row) => fresh.get(row.id) ?? row);
  held.value = first.filter((row) => !known.has(row.id) && isReached(row));
}

/** Takes the rows that follow; some may have come since, with the first page. */
function takeNext({ rows: next, cursor: after }: RunsAnswer): void {
  const known = new Set(rows.value.map(({ id }) => id));
  rows.value = [...rows.value, ...next.filter(({ id }) => !known.has(id))];
  paged = new Set([...paged, ...next.map(({ id }) => id)]);
  cursor.value = after;
  mayFindMore.value = next.length === 0 && after !== null;
}

function endLoad(part: 'first' | 'next'): void {
  loads.get(part)?.abort();
  loads.delete(part);
}

/** Whether `row` has its place among the rows, and not in a page that has not come. */
function isReached(row: RunRow): boolean {
  return cursor.value === null || row.startedAt >= (rows.value.at(-1)?.startedAt ?? 0);
}

function applyFrames(frames: readonly LiveFrame[]): void {
  const fresh = frames.flatMap((frame) => (frame.kind === 'row' ? [frame.row] : []));
  takeBelow(fresh);
  const roots = fresh.filter(({ parent }) => parent === null);
  if (roots.length === 0) return;
  const byId = new Map(roots.map((row) => [row.id, row]));
  const known = new Set(rows.value.map(({ id }) => id));
  const added = [...byId.values()].filter(
    (row) => !known.has(row.id) && fits(row) && isReached(row),
  );
  batch(() => {
    rows.value = rows.value.map((row) => byId.get(row.id) ?? row);
    if (added.length === 0) return;
    const rest = held.value.filter(({ id }) => !byId.has(id));
    held.value = [...added, ...rest];
    if (!isHolding.value) showHeld();
  });
}

/** Whether a row belongs into the list as it is filtered. */
function fits(row: RunRow): boolean {
  const { agent, schedule, tenant, state, since, words } = readFilter(asked);
  if (since !== undefined && row.startedAt < serverNow() - (sinceMs(since) ?? Infinity))
    return false;
  if (agent !== undefined && row.agent !== agent) return false;
  // The id of a run begins with its tenant, and with the schedule that started it.
  if (tenant !== undefined && !row.id.startsWith(`${tenant}:`)) return false;
  if (schedule !== undefined && !row.id.startsWith(`${schedule}-`)) return false;
  if (state !== undefined && !isIn(state, row)) return false;
  const text = `${row.id} ${row.agent} ${row.task}`.toLowerCase();
  return words === '' || text.includes(words.toLowerCase());
}

/** Whether `state` is that of the row, or the word for how its agent has ended itself. */
function isIn(state: string, { id, state: listed }: RunRow): boolean {
  if (state === 'error') return listed === 'failed';
  const status = state === 'limit' ? 'limit_exceeded' : state;
  return listed === state || progress.value.get(id)?.status === status;
}

/** Shows the rows that waited. */
export function showHeld(): void {
  const byId = new Map([...rows.value, ...held.value].map((row) => [row.id, row]));
  const sorted = [...byId.values()].toSorted((a, b) => b.startedAt - a.startedAt);
  batch(() => {
    rows.value = sorted;
    held.value = [];
  });
}

const freshUntil = new Map<string, number>();

/** Asks for the progress of the rows in view that may have changed. */
export async function loadProgress(visible: readonly RunRow[]): Promise<void> {
  const at = Date.now();
  const wanted = visible.filter(({ id }) => (freshUntil.get(id) ?? 0) < at).slice(0, MAX_PROGRESS);
  if (wanted.length === 0) return;
  for (const row of wanted) {
    // What has ended does not change.
    freshUntil.set(row.id, row.closedAt === null ? at + FRESH_MS : Infinity);
  }
  const ids = wanted.map(({ id }) => `id=${encodeURIComponent(id)}`).join('&');
  try {
    const { runs } = await get<ProgressAnswer>(`/runs/progress?${ids}`);
    const next = new Map(progress.value);
    for (const run of runs) next.set(run.id, run);
    progress.value = next;
  } catch {
    for (const { id } of wanted) freshUntil.delete(id);
  }
}

/** The state that a row shows. */
export function shownState(row: RunRow, known: RunProgress | undefined): string {
  if (row.status !== undefined) return row.status;
  if (row.closedAt !== null) return known?.status ?? row.state;
  const isConversation = row.conversation !== undefined;
  if (known === undefined || known.state === 'ended') {
    return isConversation && row.state === 'running' ? 'open' : row.state;
  }
  return isConversation && isBetweenTurns(known) ? 'open' : known.state;
}
