/** Pages of the list of runs that are on their way, in each order in which they can come. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RunRow, RunsAnswer } from '../../../src/console/api.ts';

/** Not imported by its types: those of the pages need a browser's. */
const RUNS_STATE = '../../../src/console/web/runs/runs-state.ts';

/** What the tests use of it. */
interface List {
  readonly rows: { value: readonly RunRow[] };
  readonly cursor: { readonly value: string | null };
  readonly isLoaded: { value: boolean };
  readonly failure: { readonly value: { readonly code: string } | null };
  loadRuns(line: string): Promise<void>;
  loadMore(): Promise<void>;
}

/** A request that waits for its answer. */
interface Asked {
  readonly query: URLSearchParams;
  readonly isGivenUp: () => boolean;
  answer(rows: readonly RunRow[], cursor: string | null): void;
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
      answer: (rows, cursor) => {
        const answer: RunsAnswer = { rows, cursor, counts: null };
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

afterEach(() => vi.unstubAllGlobals());

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
    await vi.waitFor(() => expect(list.isLoaded.value).toBe(true));

    expect(asked[3]?.query.get('agent')).toBe('clerk');
    expect(ids()).toEqual(idsOf(5, 7));
  });

  it('can be asked for again after one failed, and begin again when cursors are unknown', async () => {
    const failed = list.loadMore();
    asked[1]?.refuse('service_unavailable');
    await failed;
    expect(list.failure.value?.code).toBe('service_unavailable');
    const again = list.loadMore();
    asked[2]?.refuse('invalid_input');
    await vi.waitFor(() => expect(asked).toHaveLength(4));
    asked[3]?.answer(rowsOf(0, 3), null);
    await again;

    expect(ids()).toEqual(idsOf(0, 3));
    expect(list.failure.value).toBeNull();
  });
});
