/** Paints the spans of a long run: thousands of elements would be too slow. */
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { spanText, type Lane, type TimelineSpan } from '../../view/spans.ts';
import type { TimeAxis } from '../../view/time-axis.ts';
import { setQuery } from '../base/route.ts';
import { theme } from '../base/session.ts';
import { colourOf } from '../parts/paint.ts';

const LANE_PX = 22;

/** What is painted. */
export interface SpanCanvasProps {
  readonly lanes: readonly Lane[];
  readonly spans: readonly TimelineSpan[];
  readonly axis: TimeAxis;
}

/** A canvas with the spans; a click opens the iteration. The table has the same as text. */
export function SpanCanvas({ lanes, spans, axis }: SpanCanvasProps): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  const rows = new Map(lanes.map(({ name }, index) => [name, index]));
  const height = lanes.length * LANE_PX;
  useEffect(() => {
    const element = canvas.current;
    if (element === null) return undefined;
    const draw = (): void => paint(element, spans, rows, axis, height);
    draw();
    const observer = new ResizeObserver(draw);
    observer.observe(element);
    return () => observer.disconnect();
  }, [spans, axis, height, theme.value]);
  const spanAt = (event: MouseEvent): TimelineSpan | undefined => {
    const box = canvas.current?.getBoundingClientRect();
    if (box === undefined) return undefined;
    const lane = lanes[Math.floor((event.clientY - box.top) / LANE_PX)]?.name;
    const at = axis.timeAt((event.clientX - box.left) / box.width);
    const slack = axis.timeAt(3 / box.width) - axis.from;
    return spans.find(
      (span) => span.lane === lane && span.from - slack <= at && (span.to ?? axis.to) + slack >= at,
    );
  };
  return (
    <canvas
      ref={canvas}
      class="spans"
      role="img"
      aria-label={`${spans.length} spans. The table shows them as text.`}
      style={{ height: `${height}px` }}
      onMouseMove={(event) => {
        const span = spanAt(event);
        event.currentTarget.title = span === undefined ? '' : spanText(span);
      }}
      onClick={(event) => {
        const span = spanAt(event);
        if (span !== undefined) setQuery({ span: span.id, iteration: String(span.iteration) });
      }}
    />
  );
}

/** Tokens of the colours of spans. */
const TOKENS = {
  model: 'span-model',
  tool: 'span-tool',
  child: 'span-child',
  wait: 'wait',
  program: 'line-strong',
  failed: 'span-bad',
  lost: 'lost-text',
  lostGround: 'lost-ground',
} as const;

/** A lost part: stripes, as beside the canvas. */
function hatch(
  context: CanvasRenderingContext2D,
  { left, top, width }: { readonly left: number; readonly top: number; readonly width: number },
  { lost, lostGround }: { readonly lost: string; readonly lostGround: string },
): void {
  context.save();
  context.beginPath();
  context.rect(left, top, width, 16);
  context.clip();
  context.fillStyle = lostGround;
  context.fillRect(left, top, width, 16);
  context.strokeStyle = lost;
  context.beginPath();
  for (let x = left - 16; x < left + width; x += 6) {
    context.moveTo(x, top + 16);
    context.lineTo(x + 16, top);
  }
  context.stroke();
  context.restore();
}

function paint(
  element: HTMLCanvasElement,
  spans: readonly TimelineSpan[],
  rows: ReadonlyMap<string, number>,
  axis: TimeAxis,
  height: number,
): void {
  const width = element.clientWidth;
  const scale = devicePixelRatio;
  element.width = width * scale;
  element.height = height * scale;
  const context = element.getContext('2d');
  if (context === null) return;
  context.scale(scale, scale);
  const names = Object.keys(TOKENS) as (keyof typeof TOKENS)[];
  const colours = Object.fromEntries(
    names.map((name) => [name, colourOf(element, TOKENS[name])]),
  ) as Record<keyof typeof TOKENS, string>;
  for (const span of spans) {
    const left = axis.place(span.from) * width;
    const right = axis.place(span.to ?? axis.to) * width;
    const top = (rows.get(span.lane) ?? 0) * LANE_PX + 3;
    context.fillStyle = colours[span.isFailed ? 'failed' : span.kind];
    context.fillRect(left, top, Math.max(1.5, right - left), 16);
    if (span.lost === undefined) continue;
    const begin = span.lost.attempt > 0 ? left : axis.place(span.lost.from) * width;
    const end = axis.place(span.lost.to ?? axis.to) * width;
    hatch(context, { left: begin, top, width: Math.max(2, end - begin) }, colours);
  }
}
