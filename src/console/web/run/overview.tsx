/**
 * A long run at a glance: a column for each iteration, as high as it took long. A press shows the
 * iterations there; the frame marks those that the page shows.
 */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { OutlineAnswer } from '../../api.ts';
import { durationText, numberText } from '../../view/amounts.ts';
import { hasFlag, outlineOf, outlineText, type OutlineRow } from '../../view/outline.ts';
import { get, runPath } from '../base/api.ts';
import { setQuery } from '../base/route.ts';
import { theme } from '../base/session.ts';
import { colourOf } from '../parts/paint.ts';
import { PAGE_ITERATIONS, type RunModel } from './run-state.ts';

const HEIGHT_PX = 44;

/** While the server still reads the outline, it is asked again. */
const AGAIN_MS = 2_000;

/** The whole length of `run`; nothing for a run whose iterations are all shown at first. */
export function Overview({ run }: { readonly run: RunModel }): JSX.Element | null {
  if (run.newest <= PAGE_ITERATIONS) return null;
  return <Strip run={run} />;
}

function Strip({ run }: { readonly run: RunModel }): JSX.Element {
  const read = useSignal<readonly OutlineRow[]>([]);
  const isReading = useSignal(true);
  const at = useSignal<number | null>(null);
  const dragged = useSignal<number | null>(null);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const load = async (): Promise<void> => {
      const answer = await get<OutlineAnswer>(runPath(run.id, '/outline')).catch(() => null);
      if (isOver) return;
      if (answer !== null) read.value = answer.rows;
      isReading.value = answer === null || answer.partial !== undefined;
      if (isReading.value) timer = setTimeout(() => void load(), AGAIN_MS);
    };
    void load();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [run]);
  const rows = withNewest(read.value, outlineOf(run.views.value));
  const total = run.newest;
  const section = run.section.value;
  const [from, to] = [section[0]?.number ?? 0, section.at(-1)?.number ?? 0];
  const shown = at.value === null ? null : (rows.find(([number]) => number === at.value) ?? null);
  const show = (number: number): void => {
    setQuery({ iteration: String(number), span: null });
  };
  return (
    <section class="card overview" aria-label="Overview">
      <header class="card-head">
        <h2>Overview</h2>
        <span class="muted">
          {shown === null
            ? `${numberText(total)} iterations in ${durationText(lengthOf(rows))}`
            : outlineText(shown)}
        </span>
        <span class="end" role="status">
          {isReading.value ? 'The rest is still being read. ' : ''}
          Shown: {numberText(from)} to {numberText(to)}
        </span>
      </header>
      <div class="strip">
        <Columns rows={rows} total={total} />
        <i
          class="frame"
          style={{
            left: `${((from - 1) / total) * 100}%`,
            width: `max(4px, ${((to - from + 1) / total) * 100}%)`,
          }}
        />
        <input
          type="range"
          min={1}
          max={total}
          value={dragged.value ?? to}
          aria-label="Show the iterations around"
          aria-valuetext={shown === null ? `Iteration ${to}` : outlineText(shown)}
          onInput={(event) => {
            dragged.value = event.currentTarget.valueAsNumber;
            at.value = dragged.value;
          }}
          onChange={(event) => {
            dragged.value = null;
            show(event.currentTarget.valueAsNumber);
          }}
          onPointerMove={(event) => {
            const { left, width } = event.currentTarget.getBoundingClientRect();
            if (event.buttons === 0) at.value = numberAt((event.clientX - left) / width, total);
          }}
          onPointerLeave={() => (at.value = null)}
        />
      </div>
    </section>
  );
}

/** The outline as it was read, and the iterations that are loaded, which are newer. */
function withNewest(
  read: readonly OutlineRow[],
  loaded: readonly OutlineRow[],
): readonly OutlineRow[] {
  const rows = new Map([...read, ...loaded].map((row) => [row[0], row]));
  rows.delete(0);
  return [...rows.values()].toSorted(([a], [b]) => a - b);
}

function lengthOf(rows: readonly OutlineRow[]): number {
  const [first, last] = [rows[0], rows.at(-1)];
  if (first === undefined || last === undefined) return 0;
  return last[1] + Math.max(0, last[2]) - first[1];
}

function numberAt(share: number, total: number): number {
  return Math.max(1, Math.min(total, Math.floor(share * total) + 1));
}

function Columns({
  rows,
  total,
}: {
  readonly rows: readonly OutlineRow[];
  readonly total: number;
}): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  const last = rows.at(-1);
  useEffect(() => {
    const element = canvas.current;
    if (element === null) return undefined;
    const draw = (): void => paint(element, rows, total);
    draw();
    const observer = new ResizeObserver(draw);
    observer.observe(element);
    return () => observer.disconnect();
  }, [rows.length, last?.[2], last?.[4], total, theme.value]);
  return <canvas ref={canvas} class="columns" aria-hidden="true" />;
}

/** Tokens of the colours of columns. */
const TOKENS = {
  model: 'span-model',
  child: 'span-child',
  wait: 'wait',
  lost: 'lost-text',
  failed: 'span-bad',
} as const;

/** The colour of a column: what went wrong comes before what is only different. */
function paintName(row: OutlineRow): keyof typeof TOKENS {
  if (hasFlag(row, 'failed') || hasFlag(row, 'limit')) return 'failed';
  if (hasFlag(row, 'lost')) return 'lost';
  if (hasFlag(row, 'people')) return 'wait';
  if (hasFlag(row, 'child')) return 'child';
  return 'model';
}

function paint(element: HTMLCanvasElement, rows: readonly OutlineRow[], total: number): void {
  const width = element.clientWidth;
  element.width = width * devicePixelRatio;
  element.height = HEIGHT_PX * devicePixelRatio;
  const context = element.getContext('2d');
  if (context === null) return;
  context.scale(devicePixelRatio, devicePixelRatio);
  const names = Object.keys(TOKENS) as (keyof typeof TOKENS)[];
  const colours = Object.fromEntries(
    names.map((name) => [name, colourOf(element, TOKENS[name])]),
  ) as Record<keyof typeof TOKENS, string>;
  const most = Math.log1p(rows.reduce((longest, row) => Math.max(longest, row[2]), 1));
  const step = width / total;
  // What is rare is painted last, so that a run of thousands still shows it.
  const isPlain = (row: OutlineRow): boolean => paintName(row) === 'model';
  for (const row of [...rows.filter(isPlain), ...rows.filter((one) => !isPlain(one))]) {
    const [number, , durationMs] = row;
    const part = Math.log1p(Math.max(0, durationMs)) / most;
    const height = Math.max(3, part * (HEIGHT_PX - 10));
    context.fillStyle = colours[paintName(row)];
    const wide = Math.max(isPlain(row) ? step * 0.8 : 2, 0.8);
    context.fillRect((number - 1) * step, HEIGHT_PX - height, wide, height);
    if (!hasFlag(row, 'handover') && !hasFlag(row, 'compaction')) continue;
    context.fillStyle = colourOf(element, hasFlag(row, 'handover') ? 'accent' : 'muted');
    context.fillRect((number - 1) * step, 0, 2, 6);
  }
}
