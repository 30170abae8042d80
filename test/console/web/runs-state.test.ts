/** Pages of the list of runs that are on their way, in each order in which they can come. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { MissingPart, RunRow, RunsAnswer } from '../../../src/console/api.ts';
import type { LiveFrame } from '../../../src/console/live-frames.ts';
import { passing } from '../../support/passing.ts';

/** Not imported by its types: those of the pages need a browser's. */
const RUNS_STATE = '../../../src/console/web/runs/runs-state.ts';

/** What the tests use of it. */
interface List {
  readonly rows: { value: readonly RunRow[] };
  readonly cursor: { readonly value: string | null };
  readonly isLoaded: { value: boolean };
  readonly failure: { readonly value: { readonly code: string } | null };
  readonly held: { readonly value: readonly RunRow[] };
  readonly isHolding: { value: boolean };
  readonly mayFindMore: { readonly value: boolean };
  loadRuns(line: string): Promise<void>;
  loadMore(): Promise<void>;
  takeFrames(frames: readonly LiveFrame[]): void;
  showHeld(): void;
}

/** A request that waits for its answer. */
interface Asked {
  readonly query: URLSearchParams;
  readonly isGivenUp: () => boolean;
  answer(rows: readonly RunRow[], cursor: string | null, missing?: MissingPart): void;
  refuse(code: string): void;
}

let asked: Asked[];
let list: List;

function fetchLater(url: string, { signal }: RequestInit): Promise<Response> {
  return new Promise((resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason as Error));
    asked.push({
      query: new URL(url, 'http://console').searchParams,
      isGivenUp: () => signal?.aborted === true,
      answer: (rows, cursor, missing) => {
        const partial = missing === undefined ? {} : { partial: [missing] };
        const answer: RunsAnswer = { rows, cursor, counts: null, ...partial };
        resolve(Response.json(answer));
      },
      refuse: (code) => resolve(Response.json({ code, message: 'Refused.' }, { status: 400 })),
    });
  });
}

function rowsOf(from: number, to: number): RunRow[] {
  return Array.from({ length: to - from }, (_, index) => {
    const id = `clerk-${from + index}`;
    const row = { id, agent: 'clerk', task: '', state: 'completed' as const, parent: null };
    return { ...row, root: id, startedAt: 1_000_000 - from - index, closedAt: 2_000_000 };
  });
}

const ids = (): readonly string[] => list.rows.value.map(({ id }) => id);
const idsOf = (from: number, to: number): readonly string[] => rowsOf(from, to).map(({ id }) => id);

/** A filter that every run fits; a space more makes it another one. */
let line = '';

beforeEach(async () => {
  asked = [];
  vi.stubGlobal('document', { querySelector: () => null });
  vi.stubGlobal('fetch', fetchLater);
  list = (await import(RUNS_STATE)) as List;
  list.rows.value = [];
  list.isLoaded.value = false;
  line += ' ';
  const loaded = list.loadRuns(line);
  asked[0]?.answer(rowsOf(0, 60), 'at-60');
  await loaded;
});

afterEach(() => {
  list.isHolding.value = false;
  vi.unstubAllGlobals();
});

describe('pages of the list of runs', () => {
  it('come after a refresh that was asked for later, and show each run once', async () => {
    const more = list.loadMore();
    const refreshed = list.loadRuns(line);
    const [, next, first] = asked;
    expect(next?.query.get('cursor')).toBe('at-60');
    expect(first?.query.get('cursor')).toBeNull();
    first?.answer(rowsOf(0, 200), 'at-200');
    await refreshed;
    next?.answer(rowsOf(60, 260), 'at-260');
    await more;

    expect(ids()).toEqual(idsOf(0, 260));
    expect(list.cursor.value).toBe('at-260');
  });

  it('come before a refresh that was asked for earlier, and stay', async () => {
    const refreshed = list.loadRuns(line);
    const more = list.loadMore();
    const [, first, next] = asked;
    next?.answer(rowsOf(60, 260), 'at-260');
    await more;
    first?.answer(rowsOf(0, 200), 'at-200');
    await refreshed;

    expect(ids()).toEqual(idsOf(0, 260));
    expect(list.cursor.value).toBe('at-260');
  });

  it('are not given up for the same question while they are on their way', async () => {
    const loads = [list.loadRuns(line), list.loadRuns(line), list.loadMore(), list.loadMore()];
    expect(asked).toHaveLength(3);
    expect(asked.some(({ isGivenUp }) => isGivenUp())).toBe(false);
    asked[1]?.answer(rowsOf(0, 200), 'at-200');
    asked[2]?.answer([], null);
    await Promise.all(loads);

    expect(ids()).toEqual(idsOf(0, 200));
  });

  it('are given up when the filter changes', async () => {
    vi.useFakeTimers();
    try {
      const loads = [list.loadRuns(line), list.loadMore(), list.loadRuns('agent:clerk')];
      await Promise.all(loads);
      expect(asked.slice(1, 3).map(({ isGivenUp }) => isGivenUp())).toEqual([true, true]);
      await vi.advanceTimersByTimeAsync(500);
    } finally {
      vi.useRealTimers();
    }
    asked[3]?.answer(rowsOf(5, 7), null);
    await passing(() => expect(list.isLoaded.value).toBe(true));

    expect(asked[3]?.query.get('agent')).toBe('clerk');
    expect(ids()).toEqual(idsOf(5, 7));
  });

  it('can be asked for again after one failed, and begin again when cursors are unknown', async () => {
    const failed = list.loadMore();
    asked[1]?.refuse('busy');
    await failed;
    expect(list.failure.value?.code).toBe('busy');
    const again = list.loadMore();
    asked[2]?.refuse('invalid_input');
    await passing(() => expect(asked).toHaveLength(4));
    asked[3]?.answer(rowsOf(0, 3), null);
    await again;

    expect(ids()).toEqual(idsOf(0, 3));
    expect(list.failure.value).toBeNull();
  });

  it('that did not come, or not whole, change no row, and can be asked for again', async () => {
    const missing = { part: 'page', code: 'busy', message: 'Slow.' } as const;
    const loads = [list.loadRuns(line), list.loadMore()];
    asked[1]?.answer([], null, missing);
    asked[2]?.answer([], null, missing);
    await Promise.all(loads);

    expect(list.failure.value?.code).toBe('busy');
    expect(ids()).toEqual(idsOf(0, 60));
    expect(list.cursor.value).toBe('at-60');
    const again = list.loadMore();
    asked[3]?.answer(rowsOf(60, 61), null);
    await again;
    expect(ids()).toEqual(idsOf(0, 61));
    expect(list.failure.value).toBeNull();
  });

  it('fail after a minute without an answer', async () => {
    vi.useFakeTimers();
    try {
      const late = list.loadMore();
      await vi.advanceTimersByTimeAsync(59_000);
      expect(asked[1]?.isGivenUp()).toBe(false);
      await vi.advanceTimersByTimeAsync(1_000);
      await late;
    } finally {
      vi.useRealTimers();
    }

    expect(asked[1]?.isGivenUp()).toBe(true);
    expect(list.failure.value?.code).toBe('internal');
  });

  it('have no gap: a first page that meets no row takes the place of all', async () => {
    const loads = [list.loadMore(), list.loadRuns(line)];
    asked[2]?.answer(rowsOf(-300, -100), 'at--100');
    await Promise.all(loads);

    expect(asked[1]?.isGivenUp()).toBe(true);
    expect(ids()).toEqual(idsOf(-300, -100));
    expect(list.cursor.value).toBe('at--100');
  });

  it.each([
    ['that finds the same rows', rowsOf(0, 60), 'at-60'],
    ['that stops before it finds one', [], 'at-20'],
  ])('of a search go on where it stopped, also after a refresh %s', async (_how, first, at) => {
    const more = list.loadMore();
    asked[1]?.answer([], 'at-4000');
    await more;
    expect(list.mayFindMore.value).toBe(true);
    const refreshed = list.loadRuns(line);
    asked[2]?.answer(first, at);
    await refreshed;
    expect(list.mayFindMore.value).toBe(true);
    expect(ids()).toEqual(idsOf(0, 60));
    const found = list.loadMore();
    expect(asked[3]?.query.get('cursor')).toBe('at-4000');
    asked[3]?.answer(rowsOf(5_000, 5_001), null);
    await found;

    expect(list.mayFindMore.value).toBe(false);
    expect(ids()).toEqual([...idsOf(0, 60), ...idsOf(5_000, 5_001)]);
  });
});

describe('a list of runs whose search found nothing yet', () => {
  it('goes on from where it is, whatever a refresh says', async () => {
    const changed = list.loadRuns(`${line} clerk`);
    await changed;
    await passing(() => expect(asked).toHaveLength(2));
    asked[1]?.answer([], 'at-4000');
    await passing(() => expect(list.mayFindMore.value).toBe(true));
    const loads = [list.loadMore(), list.loadRuns(`${line} clerk`)];
    expect(asked[2]?.query.get('cursor')).toBe('at-4000');
    asked[3]?.answer([], 'at-4000');
    await loads[1];
    expect(asked[2]?.isGivenUp()).toBe(false);
    asked[2]?.answer(rowsOf(5_000, 5_001), null);
    await loads[0];

    expect(ids()).toEqual(idsOf(5_000, 5_001));
    line += ' ';
  });

  it('is whole after its first page failed, though rows of the filter before it stay', async () => {
    await list.loadRuns(`${line} clerk`);
    await passing(() => expect(asked).toHaveLength(2));
    asked[1]?.refuse('busy');
    await passing(() => expect(list.failure.value?.code).toBe('busy'));
    expect(ids()).toEqual(idsOf(0, 60));
    const again = list.loadRuns(`${line} clerk`);
    asked[2]?.answer(rowsOf(0, 10), 'at-10');
    await again;

    expect(ids()).toEqual(idsOf(0, 10));
    expect(list.cursor.value).toBe('at-10');
    line += ' ';
  });
});

describe('a list of runs that must not move', () => {
  const framesOf = (from: number, to: number): LiveFrame[] =>
    rowsOf(from, to).map((row) => ({ kind: 'row', row }));

  it('holds new runs alone, whatever the feed tells of later pages, and shows each once', async () => {
    list.isHolding.value = true;
    list.takeFrames(framesOf(-2, 200));
    expect(list.held.value.map(({ id }) => id)).toEqual(idsOf(-2, 0));
    const more = list.loadMore();
    asked[1]?.answer(rowsOf(60, 260), 'at-260');
    await more;
    expect(ids()).toEqual(idsOf(0, 260));
    list.showHeld();

    expect(ids()).toEqual(idsOf(-2, 260));
  });

  it('keeps its cursor when its first page is asked for again', async () => {
    list.isHolding.value = true;
    const refreshed = list.loadRuns(line);
    asked[1]?.answer(rowsOf(-2, 198), 'at-198');
    await refreshed;

    expect(ids()).toEqual(idsOf(0, 60));
    expect(list.held.value.map(({ id }) => id)).toEqual(idsOf(-2, 0));
    expect(list.cursor.value).toBe('at-60');
  });

  it('moves when its first page meets only runs of the feed: others may be missing', async () => {
    list.takeFrames(framesOf(-300, -100));
    list.isHolding.value = true;
    const refreshed = list.loadRuns(line);
    asked[1]?.answer(rowsOf(-300, -100), 'at--100');
    await refreshed;

    expect(ids()).toEqual(idsOf(-300, -100));
    expect(list.cursor.value).toBe('at--100');
  });
});
