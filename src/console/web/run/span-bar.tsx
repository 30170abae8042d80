/** One span of the timeline, and what its colours mean. */
import type { JSX } from 'preact';
import { durationText } from '../../view/amounts.ts';
import { spanText, type Lane, type TimelineSpan } from '../../view/spans.ts';
import type { TimeAxis } from '../../view/time-axis.ts';
import { query, setQuery } from '../base/route.ts';
import { Plain } from '../parts/words.tsx';

/** The width of a letter of a label, and of the padding beside it. */
export const LETTER_PX = 6.6;
export const PADDING_PX = 9;
/** The same of a note, which has few digits. */
const NOTE_LETTER_PX = 5.3;
const NOTE_PADDING_PX = 10;

/** What the colours mean, of those that are there. */
export function Legend({
  kinds,
  spans,
}: {
  readonly kinds: ReadonlySet<Lane['kind']>;
  readonly spans: readonly TimelineSpan[];
}): JSX.Element {
  const entries: readonly (readonly [key: string, name: string, holds: boolean])[] = [
    ['model', 'model', kinds.has('model')],
    ['tool', 'tool', kinds.has('tool')],
    ['child', 'child run', kinds.has('child')],
    ['program', 'program', kinds.has('program')],
    ['wait', 'waits for a person', kinds.has('wait')],
    ['lost', 'lost attempt', spans.some(({ lost }) => lost !== undefined && lost.attempt > 0)],
    ['lost', 'no worker', spans.some(({ lost }) => lost?.attempt === 0)],
    ['bad', 'failed', spans.some(({ isFailed }) => isFailed)],
  ];
  return (
    <span class="legend optional">
      {entries
        .filter(([, , holds]) => holds)
        .map(([key, name]) => (
          <span key={name}>
            <i class={`swatch ${key}`} aria-hidden="true" />
            {name}
          </span>
        ))}
    </span>
  );
}

interface SpanBarProps {
  readonly span: TimelineSpan;
  readonly axis: TimeAxis;
  /** The width of the plot. */
  readonly plotPx: number;
}

/** A span as a button: a press shows its iteration. */
export function SpanBar({ span, axis, plotPx }: SpanBarProps): JSX.Element {
  const to = span.to ?? axis.to;
  const left = axis.place(span.from);
  const width = axis.place(to) - left;
  const duration = durationText(to - span.from);
  const label = span.kind === 'wait' ? span.label : duration;
  // The label of a wait may be cut; a duration is shown whole or not at all.
  const needed = span.kind === 'wait' ? 40 : label.length * LETTER_PX + PADDING_PX;
  const { lost } = span;
  const shareAt = (at: number): number =>
    width === 0 ? 0 : Math.min(1, Math.max(0, (axis.place(Math.min(at, to)) - left) / width));
  const lostFrom = lost === undefined || lost.attempt > 0 ? 0 : shareAt(lost.from);
  const lostShare = lost === undefined ? 0 : shareAt(lost.to ?? to) - lostFrom;
  const queueShare = lost === undefined ? queueOf(span, axis, left, width, plotPx) : 0;
  // A bar that ends in silence has no duration yet.
  const fits = lost?.attempt !== 0 && width * (1 - lostShare - queueShare) * plotPx > needed;
  const room = (width * lostShare * plotPx - NOTE_PADDING_PX) / NOTE_LETTER_PX;
  // Without room for its reason, it says what was lost.
  const note = [lost?.note, lost?.note.split(':')[0]].find((text = '') => text.length < room);
  const isPicked = query.value.get('span') === span.id;
  const name = spanText(span);
  // The name begins with what the bar shows.
  const visible = [note, fits ? label : undefined].filter(Boolean).join(' ');
  return (
    <span role="listitem">
      <button
        type="button"
        class={`span ${span.kind}${span.isFailed ? ' failed' : ''}${span.to === undefined ? ' open' : ''}`}
        aria-pressed={isPicked}
        aria-label={name.includes(visible) ? name : `${visible} ${name}`}
        title={name}
        style={{ left: `${left * 100}%`, width: `max(3px, ${width * 100}%)` }}
        onClick={() => setQuery({ span: span.id, iteration: String(span.iteration) })}
      >
        {queueShare > 0 ? <span class="queue" style={{ width: `${queueShare * 100}%` }} /> : null}
        {lostShare > 0 ? (
          <span class="lost" style={{ left: `${lostFrom * 100}%`, width: `${lostShare * 100}%` }}>
            {note === undefined ? null : <em>{note}</em>}
          </span>
        ) : null}
        {lostShare > 0 && fits ? ' ' : null}
        {fits ? (
          <span class="label">
            <Plain text={label} />
          </span>
        ) : null}
      </button>
    </span>
  );
}

/** A queue that is seen, in pixels. */
const MIN_QUEUE_PX = 3;

/** The part of a bar in which the work waited for a worker. */
function queueOf(
  { from, to, startedAt }: TimelineSpan,
  axis: TimeAxis,
  left: number,
  width: number,
  plotPx: number,
): number {
  if (startedAt === undefined || startedAt <= from || width === 0) return 0;
  const end = axis.place(Math.min(startedAt, to ?? startedAt));
  return (end - left) * plotPx < MIN_QUEUE_PX ? 0 : Math.min(1, (end - left) / width);
}
