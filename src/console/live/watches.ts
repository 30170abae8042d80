/**
 * Lists that tabs watch: runs, the inbox, the runs of a tree. Each is read for all tabs together, and
 * tabs get what has changed.
 *
 * I1  A list is read only while a tab watches it, one reading at a time.
 * I2  The pause is at least four times what the reading took, so a slow service gets fewer questions,
 *     and at least {@link HURRIED_MS}, also when news come.
 */
import type { InboxRow, RunRow } from '../api.ts';
import type { LiveFrame } from '../live-frames.ts';
import { MAX_WAITING, rowOf, type ConsoleClient } from '../console-client.ts';
import { apiErrorOf } from '../refusal.ts';
import type { Tab } from './tab.ts';

/** How often a list is read, in ms: the service's own view lags a second behind. */
const EVERY_MS = 2_000;
const MAX_EVERY_MS = 30_000;

/** How long after a reading news make the next, in ms. */
const HURRIED_MS = 1_000;

/** How long after news a list is read, in ms: the service's own view comes a moment later. */
const NEWS_MS = 150;

/** Runs of the list that are watched: the first page. */
const WATCHED_ROWS = 200;

/** A list that tabs watch. */
export interface Watch {
  /** Gives `tab` the list as it is, then what changes; returns how to leave. */
  readonly join: (tab: Tab) => () => void;
  /** Reads it soon, because something has happened. */
  readonly hurry: () => void;
  readonly close: () => void;
}

/** What is watched: `frames` compares a list with the one before, which is null at first. */
interface Watched<List> {
  readonly read: () => Promise<List>;
  readonly frames: (list: List, before: List | null) => readonly LiveFrame[];
  /** The run that a failure belongs to; null: none. */
  readonly run: string | null;
  readonly everyMs: number;
}

/** The runs that began last. */
export function watchRuns(everloop: ConsoleClient, everyMs: number = EVERY_MS): Watch {
  return createWatch<readonly RunRow[]>({
    everyMs,
    run: null,
    read: async () => {
      const { runs } = await everloop.listPage({ limit: WATCHED_ROWS });
      return runs.map(rowOf);
    },
    frames: (rows, before) => {
      const known = new Map((before ?? []).map((row) => [row.id, JSON.stringify(row)]));
      const changed = rows.filter((row) => known.get(row.id) !== JSON.stringify(row));
      return changed.map((row) => ({ kind: 'row', row }));
    },
  });
}

/** What waits for people. */
export function watchInbox(everloop: ConsoleClient, everyMs: number = EVERY_MS): Watch {
  return createWatch<readonly InboxRow[]>({
    everyMs,
    run: null,
    read: async () => (await everloop.inbox({ limit: MAX_WAITING })).items,
    frames: (items, before) => {
      const [now, then] = [new Set(items.map(keyOf)), new Set((before ?? []).map(keyOf))];
      return [
        ...items
          .filter((row) => !then.has(keyOf(row)))
          .map((row): LiveFrame => ({ kind: 'pending', ...row })),
        ...(before ?? [])
          .filter((row) => !now.has(keyOf(row)))
          .map(({ run, item }): LiveFrame => ({ kind: 'settled', run, id: item.id })),
      ];
    },
  });
}

function keyOf({ run, item }: InboxRow): string {
  return `${run} ${item.id}`;
}

/** The runs of the tree below `id`. */
export function watchTree(everloop: ConsoleClient, id: string, everyMs: number = EVERY_MS): Watch {
  const run = everloop.attach(id);
  return createWatch({
    everyMs,
    run: id,
    read: () => run.tree(),
    frames: (runs, before) =>
      JSON.stringify(runs) === JSON.stringify(before) ? [] : [{ kind: 'tree', run: id, runs }],
  });
}

function createWatch<List>({ read, frames, run, everyMs }: Watched<List>): Watch {
  const tabs = new Set<Tab>();
  let list: List | null = null;
  /** Why the list cannot be read; null: it can, or nobody has tried. */
  let failure: LiveFrame | null = null;
  const tell = (told: readonly LiveFrame[]): void => {
    for (const frame of told) for (const tab of tabs) tab.push(frame);
  };
  // An unwatched list would be out of date when it is watched again.
  const forget = (): void => void ([list, failure] = [null, null]);
  const ask = async (): Promise<void> => {
    try {
      const next = await read();
      // Tabs hear of a change before the list that newcomers get is replaced.
      if (tabs.size > 0) tell(frames(next, list));
      list = next;
      failure = null;
    } catch (error) {
      const { code, message } = apiErrorOf(error);
      if (failure !== null) return;
      failure = { kind: 'failed', run, error: { code, message } };
      tell([failure]);
    } finally {
      if (tabs.size === 0) forget();
    }
  };
  const readings = createReadings(everyMs, ask);
  return {
    join: (tab) => {
      if (list !== null) for (const frame of frames(list, null)) tab.push(frame);
      if (failure !== null) tab.push(failure);
      tabs.add(tab);
      readings.begin();
      return () => {
        tabs.delete(tab);
        if (tabs.size > 0) return;
        readings.end();
        forget();
      };
    },
    hurry: readings.hurry,
    close: () => {
      tabs.clear();
      readings.end();
    },
  };
}

/** Readings of a list, one at a time. */
interface Readings {
  /** Reads at once, then again and again. */
  readonly begin: () => void;
  /** Makes the next reading come soon. */
  readonly hurry: () => void;
  readonly end: () => void;
}

function createReadings(everyMs: number, read: () => Promise<void>): Readings {
  let timer: NodeJS.Timeout | undefined;
  let [isOn, isReading, isHurried] = [false, false, false];
  /** When the service may be asked again. */
  let restsUntil = 0;
  const schedule = (ms: number): void => {
    clearTimeout(timer);
    timer = isOn ? setTimeout(() => void turn(), ms).unref() : undefined;
  };
  const scheduleNews = (): void => {
    schedule(Math.max(NEWS_MS, restsUntil - performance.now()));
  };
  const turn = async (): Promise<void> => {
    [isReading, isHurried] = [true, false];
    const startedAt = performance.now();
    await read();
    isReading = false;
    const now = performance.now();
    const restMs = Math.min(MAX_EVERY_MS, 4 * (now - startedAt));
    restsUntil = now + Math.max(Math.min(HURRIED_MS, everyMs), restMs);
    if (isHurried) scheduleNews();
    else schedule(Math.max(everyMs, restMs));
  };
  return {
    begin: () => {
      if (isOn) return;
      isOn = true;
      if (!isReading) schedule(0);
    },
    hurry: () => {
      if (isHurried || !isOn) return;
      isHurried = true;
      if (!isReading) scheduleNews();
    },
    end: () => {
      isOn = false;
      clearTimeout(timer);
    },
  };
}
