/** The list of runs. */
import { useSignal } from '@preact/signals';
import type { FunctionComponent, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { numberText } from '../../view/amounts.ts';
import { canAct, isOffline, mayAct } from '../base/connection.ts';
import { bindViewKeys } from '../base/keys.ts';
import { listen, liveMode } from '../base/live.ts';
import { go, hrefOf, query, setQuery } from '../base/route.ts';
import { lazyDialog } from '../parts/lazy.tsx';
import { Failure, Skeleton } from '../parts/marks.tsx';
import { ChosenRuns } from './chosen-runs.tsx';
import { NoRuns, SearchOn } from './no-runs.tsx';
import { RunsTable, rowPx } from './runs-table.tsx';
import { toggleRow, withBelow, type LeveledRow } from './runs-below.ts';
import * as list from './runs-state.ts';
import { StateChips } from './state-chips.tsx';
import type { StartDialogProps } from './start-dialog.tsx';

const StartDialog: FunctionComponent<StartDialogProps> = lazyDialog(
  async () => (await import('./start-dialog.tsx')).StartDialog,
);

/** The page of all runs. */
export function RunsPage(): JSX.Element {
  const line = query.value.get('q') ?? '';
  const isStarting = useSignal(query.value.has('start'));
  // An id and not a place: new runs come above it.
  const current = useSignal<string | null>(null);
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => void list.loadRuns(line), [line]);
  // The console is back.
  useEffect(() => {
    if (!isOffline.value && list.failure.value?.code === 'offline') void list.loadRuns(line);
  }, [isOffline.value]);
  // A page that goes does not hear that the pointer has left.
  useEffect(() => () => void (list.isHolding.value = false), []);
  useEffect(
    () =>
      listen({ list: true }, (frames) => {
        if (frames === null) void list.loadRuns(query.value.get('q') ?? '');
        else list.takeFrames(frames);
      }),
    [],
  );
  useEffect(() => {
    const move = (by: number): void => {
      const shown = withBelow(list.rows.value);
      const before = shown.findIndex(({ row }) => row.id === current.value);
      const place = Math.max(0, Math.min(shown.length - 1, before + by));
      current.value = shown[place]?.row.id ?? null;
      const at = document.querySelector('.runs tbody')?.getBoundingClientRect().top ?? 0;
      const y = at + place * rowPx();
      if (y < 40 || y > innerHeight - 60) scrollBy(0, y - innerHeight / 2);
    };
    const openRow = (): void => {
      if (current.value !== null) go(hrefOf({ page: 'run', id: current.value }));
    };
    const choose = (): void => {
      if (current.value !== null) toggle(current.value);
    };
    const unfold = (): void => {
      if (current.value !== null) void toggleRow(current.value);
    };
    const leave = (): void => {
      current.value = null;
      chosen.value = new Set();
    };
    return bindViewKeys([
      { key: '/', text: 'Filter', run: () => field.current?.focus() },
      { key: 'j', text: 'Next run', run: () => move(1) },
      { key: 'k', text: 'Run before', run: () => move(-1) },
      { key: 'Enter', text: 'Open the run', run: openRow },
      { key: 'Escape', text: 'No run', run: leave },
      { key: 'x', text: 'Choose the run', run: choose },
      { key: 'o', text: 'Show or hide the runs below', run: unfold },
      { key: 'n', text: 'Start a run', run: () => (isStarting.value = true) },
    ]);
  }, []);
  const toggle = (id: string): void => {
    const next = new Set(chosen.value);
    if (!next.delete(id)) next.add(id);
    chosen.value = next;
  };
  const rows = withBelow(list.rows.value);
  return (
    <>
      <header class="title">
        <h1>Runs</h1>
        <Summary />
        <div class="acts">
          {mayAct.value ? (
            <button
              type="button"
              class="btn primary"
              disabled={!canAct.value}
              onClick={() => (isStarting.value = true)}
            >
              Start a run <kbd aria-hidden="true">n</kbd>
            </button>
          ) : null}
        </div>
      </header>
      <div class="filters">
        <input
          ref={field}
          type="search"
          aria-label="Filter runs"
          placeholder="Filter: agent:clerk state:waiting since:1d refund"
          value={line}
          onInput={(event) => setQuery({ q: event.currentTarget.value })}
          onKeyDown={(event) => {
            if (event.key === 'Escape' || event.key === 'Enter') event.currentTarget.blur();
          }}
        />
        <StateChips line={line} />
      </div>
      <Failure error={list.failure.value} again={() => void list.loadRuns(line)} />
      <ChosenRuns chosen={chosen.value} onDone={(left) => (chosen.value = new Set(left))} />
      <Held />
      <section
        class="card"
        aria-label="Runs"
        onPointerEnter={() => (list.isHolding.value = true)}
        onPointerLeave={() => (list.isHolding.value = false)}
      >
        <Body
          rows={rows}
          line={line}
          current={current.value}
          chosen={chosen.value}
          onChoose={toggle}
          onChooseAll={(ids) => (chosen.value = new Set(ids))}
        />
      </section>
      {isStarting.value ? <StartDialog onClose={() => (isStarting.value = false)} /> : null}
    </>
  );
}

interface BodyProps {
  readonly rows: readonly LeveledRow[];
  readonly line: string;
  /** The run that keys act on; null: none. */
  readonly current: string | null;
  readonly chosen: ReadonlySet<string>;
  readonly onChoose: (id: string) => void;
  readonly onChooseAll: (ids: readonly string[]) => void;
}

function Body(props: BodyProps): JSX.Element | null {
  const { rows, line, current, chosen, onChoose, onChooseAll } = props;
  // Whether there are runs is not known.
  if (rows.length === 0 && list.failure.value !== null) return null;
  if (rows.length === 0 && !list.isLoaded.value) return <Skeleton lines={8} />;
  const mayFindMore = list.mayFindMore.value;
  if (rows.length === 0) return mayFindMore ? <SearchOn /> : <NoRuns line={line} />;
  return (
    <>
      <RunsTable
        shown={rows}
        current={current}
        chosen={chosen}
        onChoose={onChoose}
        onChooseAll={onChooseAll}
        mayChoose={mayAct.value}
      />
      {mayFindMore ? <SearchOn /> : null}
    </>
  );
}

function Summary(): JSX.Element {
  const count = list.total.value;
  const words = count === null ? '' : `${numberText(count)} in this namespace`;
  const mode = liveMode.value === 'live' ? 'live' : liveMode.value === 'polling' ? 'polling' : '';
  return (
    <span class="muted" role="status">
      {[words, mode].filter(Boolean).join(' · ')}
    </span>
  );
}

function Held(): JSX.Element | null {
  const count = list.held.value.length;
  if (count === 0) return null;
  return (
    <button type="button" class="btn small held" onClick={list.showHeld}>
      {count} new
    </button>
  );
}
