/**
 * When everything happened: a lane for the model, people, programs and each tool; lost attempts
 * hatched, long waits folded. Drag selects, Ctrl and the wheel zoom, `0` shows all.
 */
import { useComputed, useSignal, type Signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Lane, Timeline as TimelineView, TimelineSpan } from '../../view/spans.ts';
import { timeAxis, type TimeAxis } from '../../view/time-axis.ts';
import { now } from '../base/clock.ts';
import { bindViewKeys } from '../base/keys.ts';
import { recall, keep } from '../base/session.ts';
import { Plain } from '../parts/words.tsx';
import type { RunModel } from './run-state.ts';
import { Legend, LETTER_PX, PADDING_PX, SpanBar } from './span-bar.tsx';
import { SpanCanvas } from './span-canvas.tsx';
import { SpanTable } from './span-table.tsx';

/** Spans in the page at most; beyond, they are painted. */
const MAX_DOM_SPANS = 400;

interface Range {
  readonly from: number;
  readonly to: number;
}

/** What a timeline shows. */
export interface TimelineProps {
  readonly run: RunModel;
  readonly isFoldable?: true;
  readonly isTall?: true;
}

/** The timeline of `run`. */
export function Timeline({ run, isFoldable, isTall }: TimelineProps): JSX.Element | null {
  const isFolded = useSignal(isFoldable === true && recall('timeline') === 'folded');
  const isTable = useSignal(false);
  const zoom = useSignal<Range | null>(null);
  const { timeline } = run.attempts;
  const bounds = useComputed(() => boundsOf(run, timeline.value.spans));
  useEffect(
    () =>
      bindViewKeys([{ key: '0', text: 'Show the whole timeline', run: () => (zoom.value = null) }]),
    [],
  );
  const { spans, lanes, iterations, handovers } = timeline.value;
  if (spans.length === 0) return null;
  const { from, to } = zoom.value ?? bounds.value;
  const axis = timeAxis(spans, from, to);
  const kinds = new Set(lanes.map(({ kind }) => kind));
  return (
    <section class={`card timeline${isTall === true ? ' tall' : ''}`} aria-label="Timeline">
      <header class="card-head">
        <h2>Timeline</h2>
        {isFolded.value ? null : <Legend kinds={kinds} spans={spans} />}
        <span class="acts end">
          {zoom.value === null ? null : (
            <button type="button" class="btn quiet small" onClick={() => (zoom.value = null)}>
              Show all <kbd aria-hidden="true">0</kbd>
            </button>
          )}
          <button
            type="button"
            class="btn quiet small"
            aria-pressed={isTable.value}
            onClick={() => (isTable.value = !isTable.value)}
          >
            Table
          </button>
          {isFoldable === true ? (
            <button
              type="button"
              class="btn quiet small"
              aria-expanded={!isFolded.value}
              onClick={() => {
                isFolded.value = !isFolded.value;
                keep('timeline', isFolded.value ? 'folded' : 'open');
              }}
            >
              {isFolded.value ? 'Show' : 'Hide'}
            </button>
          ) : null}
        </span>
      </header>
      {isFolded.value ? null : isTable.value ? (
        <SpanTable spans={spans} />
      ) : (
        <Grid
          lanes={lanes}
          spans={spans}
          axis={axis}
          iterations={iterations}
          run={run}
          handovers={handovers}
          zoom={zoom}
          bounds={bounds.value}
        />
      )}
    </section>
  );
}

function boundsOf(run: RunModel, spans: readonly TimelineSpan[]): Range {
  const views = run.section.value;
  const from = Math.min(views[0]?.from ?? 0, spans[0]?.from ?? Infinity);
  const isLive = run.header.value?.state !== 'ended';
  const ends = spans.map((span) => span.to ?? span.from);
  const last = ends.reduce((latest, end) => Math.max(latest, end), from + 1);
  const hasOpen = spans.some((span) => span.to === undefined);
  return { from, to: isLive && hasOpen ? Math.max(last, now.value) : last };
}

interface GridProps {
  readonly lanes: readonly Lane[];
  readonly spans: readonly TimelineSpan[];
  readonly axis: TimeAxis;
  readonly run: RunModel;
  readonly iterations: TimelineView['iterations'];
  readonly handovers: readonly number[];
  readonly zoom: Signal<Range | null>;
  /** All of the run that is shown. */
  readonly bounds: Range;
}

function Grid(props: GridProps): JSX.Element {
  const { run, lanes, spans, axis, iterations, handovers, zoom, bounds } = props;
  const plot = useRef<HTMLDivElement>(null);
  const drag = useSignal<{ readonly from: number; readonly to: number } | null>(null);
  const plotPx = useSignal(900);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) plotPx.value = entry.contentRect.width;
    });
    if (plot.current !== null) observer.observe(plot.current);
    return () => observer.disconnect();
  }, []);
  const shown = spans.filter((span) => span.from <= axis.to && (span.to ?? axis.to) >= axis.from);
  const isPainted = shown.length > MAX_DOM_SPANS;
  const placeOf = (event: MouseEvent): number => {
    const box = plot.current?.getBoundingClientRect();
    return box === undefined ? 0 : Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  };
  useEffect(() => {
    const element = plot.current;
    const turn = (event: WheelEvent): void => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      const at = axis.timeAt(placeOf(event));
      const factor = event.deltaY > 0 ? 1.25 : 0.8;
      const from = Math.max(bounds.from, at - (at - axis.from) * factor);
      const to = Math.min(bounds.to, at + (axis.to - at) * factor);
      const isAll = from <= bounds.from && to >= bounds.to;
      if (isAll || to - from > 2) zoom.value = isAll ? null : { from, to };
    };
    element?.addEventListener('wheel', turn, { passive: false });
    return () => element?.removeEventListener('wheel', turn);
  }, [axis, bounds]);
  const release = (): void => {
    const range = drag.value;
    drag.value = null;
    if (range === null || !isWide(range)) return;
    const [a, b] = [axis.timeAt(range.from), axis.timeAt(range.to)];
    zoom.value = { from: Math.min(a, b), to: Math.max(a, b) };
  };
  const range = drag.value;
  return (
    <div class="grid">
      <div class="lane-names" aria-hidden="true">
        <div class="axis" />
        {lanes.map(({ name, kind }) => (
          <div class={`lane-name${kind === 'model' ? ' strong' : ''}`} key={name} title={name}>
            <Plain text={name} />
          </div>
        ))}
      </div>
      <div
        class="plot"
        ref={plot}
        onPointerDown={(event) => {
          if (event.button !== 0 || event.pointerType === 'touch') return;
          drag.value = { from: placeOf(event), to: placeOf(event) };
        }}
        onPointerMove={(event) => {
          if (drag.value === null) return;
          drag.value = { ...drag.value, to: placeOf(event) };
          // From here on it is no click on a span, and may end outside of the plot.
          if (isWide(drag.value)) event.currentTarget.setPointerCapture(event.pointerId);
        }}
        onPointerUp={release}
        onPointerCancel={() => (drag.value = null)}
      >
        <div class="axis" aria-hidden="true">
          {ticksThatFit(axis, plotPx.value).map(({ at, text }) => (
            <span class="tick" key={at} style={{ left: `${axis.place(at) * 100}%` }}>
              {text}
            </span>
          ))}
        </div>
        {iterations.length > 300
          ? null
          : iterations
              .filter(({ at }) => at >= axis.from && at <= axis.to)
              .map(({ at, number }) => (
                <i class="hairline" key={number} style={{ left: `${axis.place(at) * 100}%` }} />
              ))}
        <Here run={run} iterations={iterations} axis={axis} />
        {handovers.map((at) => (
          <i
            class="notch"
            key={at}
            title="Handed over to the next link"
            style={{ left: `${axis.place(at) * 100}%` }}
          />
        ))}
        {axis.folds.map((fold) => (
          <span
            class="fold"
            key={fold.from}
            style={{
              left: `${axis.place(fold.from) * 100}%`,
              width: `${(axis.place(fold.to) - axis.place(fold.from)) * 100}%`,
            }}
          >
            {fold.text}
          </span>
        ))}
        {isPainted ? (
          <SpanCanvas lanes={lanes} spans={shown} axis={axis} />
        ) : (
          <div role="list" aria-label="Spans">
            {lanes.map(({ name }) => (
              <div class="lane" key={name}>
                {shown
                  .filter((span) => span.lane === name)
                  .map((span) => (
                    <SpanBar key={span.id} span={span} axis={axis} plotPx={plotPx.value} />
                  ))}
              </div>
            ))}
          </div>
        )}
        {range === null || !isWide(range) ? null : (
          <i
            class="selection"
            style={{
              left: `${Math.min(range.from, range.to) * 100}%`,
              width: `${Math.abs(range.to - range.from) * 100}%`,
            }}
          />
        )}
      </div>
    </div>
  );
}

/** Whether a drag selects; a shorter one is a click. */
function isWide({ from, to }: Range): boolean {
  return Math.abs(to - from) >= 0.01;
}

/** The marks of the axis that have room beside each other. */
function ticksThatFit(axis: TimeAxis, plotPx: number): TimeAxis['ticks'] {
  let end = -1;
  return axis.ticks.filter(({ at, text }) => {
    const left = axis.place(at) * plotPx;
    const right = left + text.length * LETTER_PX + PADDING_PX;
    if (left < end || right > plotPx) return false;
    end = right;
    return true;
  });
}

/** Marks the iteration that stands at the top of the transcript. */
function Here({
  run,
  iterations,
  axis,
}: Pick<GridProps, 'run' | 'iterations' | 'axis'>): JSX.Element | null {
  const place = iterations.findIndex(({ number }) => number === run.top.value);
  const here = iterations[place];
  if (here === undefined || here.at < axis.from || here.at > axis.to) return null;
  const left = axis.place(here.at);
  const right = axis.place(iterations[place + 1]?.at ?? axis.to);
  return <i class="here" style={{ left: `${left * 100}%`, width: `${(right - left) * 100}%` }} />;
}
