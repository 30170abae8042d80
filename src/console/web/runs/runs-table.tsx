/** The table of runs: one row of 34 px each, windowed. */
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { RunProgress, RunRow } from '../../api.ts';
import { moneyColumnText, numberText } from '../../view/amounts.ts';
import { barsOfLines } from '../../view/budgets.ts';
import { now } from '../base/clock.ts';
import { isOffline } from '../base/connection.ts';
import { hrefOf } from '../base/route.ts';
import { Bar, Icon, Pill } from '../parts/marks.tsx';
import { Space, useWindow } from '../parts/rows.tsx';
import { Ago } from '../parts/times.tsx';
import { oneLine, Plain } from '../parts/words.tsx';
import { openRows, toggleRow, type LeveledRow } from './runs-below.ts';
import {
  cursor,
  failure,
  loadMore,
  loadProgress,
  mayFindMore,
  progress,
  shownState,
} from './runs-state.ts';

const ROW_PX = 34;
/** On a narrow screen a row has two lines. */
const TALL_ROW_PX = 62;
const narrow = matchMedia('(max-width: 760px)');

/** The height of a row, in pixels. */
export function rowPx(): number {
  return narrow.matches ? TALL_ROW_PX : ROW_PX;
}

/** What a table of runs shows and does. */
export interface RunsTableProps {
  readonly shown: readonly LeveledRow[];
  /** Id of the run that keys act on; null: none. */
  readonly current: string | null;
  readonly chosen: ReadonlySet<string>;
  readonly onChoose: (id: string) => void;
  readonly onChooseAll: (ids: readonly string[]) => void;
  readonly mayChoose: boolean;
}

/** The rows of `shown` that are near the view. */
export function RunsTable({
  shown,
  current,
  chosen,
  onChoose,
  onChooseAll,
  mayChoose,
}: RunsTableProps): JSX.Element {
  const height = rowPx();
  const { top, first, last } = useWindow(shown.length, height);
  const visible = shown.slice(first, last);
  const second = Math.floor(now.value / 1000);
  useEffect(() => {
    void loadProgress(visible.map(({ row }) => row));
  }, [first, last, shown, second]);
  // What failed is asked for again when the first page has come, or the console is back.
  const isAway = failure.value !== null && (failure.value.code !== 'offline' || isOffline.value);
  useEffect(() => {
    if (last >= shown.length - 40 && !isAway && !mayFindMore.value) void loadMore();
  }, [last, shown.length, cursor.value, isAway]);
  return (
    <table
      class={`table runs${chosen.size > 0 ? ' choosing' : ''}`}
      aria-rowcount={shown.length + 1}
    >
      <colgroup>
        <col class="c-choose optional" />
        <col class="c-state" />
        <col class="c-agent" />
        <col />
        <col class="c-iteration optional" />
        <col class="c-tokens optional" />
        <col class="c-cost optional" />
        <col class="c-started" />
      </colgroup>
      <thead>
        <tr>
          <th class="optional choose">
            {mayChoose ? (
              <label>
                <input
                  type="checkbox"
                  aria-label="Choose all runs of the list"
                  checked={chosen.size > 0 && chosen.size >= shown.length}
                  indeterminate={chosen.size > 0 && chosen.size < shown.length}
                  onChange={() =>
                    onChooseAll(chosen.size > 0 ? [] : shown.map(({ row }) => row.id))
                  }
                />
              </label>
            ) : (
              <span class="sr">Chosen</span>
            )}
          </th>
          <th>State</th>
          <th>Agent</th>
          <th class="wide-only">Task</th>
          <th class="num optional">Iteration</th>
          <th class="optional">Tokens</th>
          <th class="num optional">Cost</th>
          <th class="num">Started</th>
        </tr>
      </thead>
      <tbody ref={top}>
        <Space count={first} height={height} />
        {visible.map(({ row, level }, index) => (
          <RunLine
            key={row.id}
            row={row}
            level={level}
            place={first + index + 2}
            known={progress.value.get(row.id)}
            isCurrent={row.id === current}
            isChosen={chosen.has(row.id)}
            onChoose={onChoose}
            mayChoose={mayChoose}
          />
        ))}
        <Space count={shown.length - last} height={height} />
      </tbody>
    </table>
  );
}

interface RunLineProps {
  readonly row: RunRow;
  readonly level: number;
  /** Number of the line in the table, from 1. */
  readonly place: number;
  readonly known: RunProgress | undefined;
  readonly isCurrent: boolean;
  readonly isChosen: boolean;
  readonly onChoose: (id: string) => void;
  readonly mayChoose: boolean;
}

function RunLine(props: RunLineProps): JSX.Element {
  const { row, level, place, known, isCurrent, isChosen, onChoose, mayChoose } = props;
  const state = shownState(row, known);
  const [bar] = known?.tightest == null ? [] : barsOfLines([known.tightest]);
  const limit =
    state === 'limit_exceeded' && bar !== undefined
      ? `limit: ${bar.label.toLowerCase()}`
      : undefined;
  const task = oneLine(row.task);
  return (
    <tr
      class={`${isCurrent || isChosen ? 'current' : ''}${level > 0 ? ' nested' : ''}`}
      aria-rowindex={place}
    >
      <td class="optional choose">
        {mayChoose ? (
          <label>
            <input
              type="checkbox"
              checked={isChosen}
              aria-label={`Choose ${row.id}`}
              onChange={() => onChoose(row.id)}
            />
          </label>
        ) : null}
      </td>
      <td>
        <Pill state={state}>{limit}</Pill>
      </td>
      <td class="mono agent" style={{ paddingLeft: `${10 + Math.min(level, 4) * 12}px` }}>
        {level === 0 ? null : (
          <span class="faint" aria-hidden="true">
            └{' '}
          </span>
        )}
        <Plain text={row.agent} />
      </td>
      <td class="task">
        <span class="task-cell">
          <a href={hrefOf({ page: 'run', id: row.id })} title={row.id}>
            <Plain text={task === '' ? row.id : task} />
          </a>
          <Unfold row={row} count={known?.children ?? 0} />
        </span>
      </td>
      <td class="num optional">{known === undefined ? '' : known.iteration}</td>
      <td class="optional">
        {known === undefined ? null : (
          <>
            {bar === undefined ? <span class="bar mini blank" /> : <Bar bar={bar} mini />}
            {numberText(known.tokens)}
          </>
        )}
      </td>
      <td class="num optional">{known === undefined ? '' : moneyColumnText(known.costMicroUsd)}</td>
      <td class="num muted">
        <Ago at={row.startedAt} />
      </td>
    </tr>
  );
}

function Unfold({
  row,
  count,
}: {
  readonly row: RunRow;
  readonly count: number;
}): JSX.Element | null {
  if (count === 0) return null;
  const isOpen = openRows.value.has(row.id);
  const runs = `${count} ${count === 1 ? 'run' : 'runs'} below`;
  return (
    <button
      type="button"
      class={`btn quiet small unfold optional${isOpen ? ' open' : ''}`}
      aria-expanded={isOpen}
      aria-label={`${runs} ${row.id}`}
      title={`${isOpen ? 'Hide' : 'Show'} the ${runs}`}
      onClick={() => void toggleRow(row.id)}
    >
      {numberText(count)}
      <Icon name="open" />
    </button>
  );
}
