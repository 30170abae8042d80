/** Small parts: states, bars, icons, empty and failing parts. */
import type { ComponentChildren, JSX } from 'preact';
import { amountText } from '../../view/amounts.ts';
import type { BudgetBar } from '../../view/budgets.ts';
import type { RequestFailed } from '../base/api.ts';

/** A colour for a state; the word always stands beside it. */
export type Tone = 'run' | 'ok' | 'wait' | 'bad' | 'idle';

const TONES: Readonly<Record<string, Tone>> = {
  running: 'run',
  evaluating: 'run',
  waiting: 'wait',
  question: 'wait',
  approval: 'wait',
  external: 'wait',
  silent: 'wait',
  success: 'ok',
  completed: 'ok',
  done: 'ok',
  ok: 'ok',
  failed: 'bad',
  error: 'bad',
  limit_exceeded: 'bad',
  compaction_failed: 'bad',
  terminated: 'bad',
  timed_out: 'bad',
  unknown: 'bad',
  rejected: 'bad',
  refused: 'bad',
  denied: 'bad',
};

const WORDS: Readonly<Record<string, string>> = {
  limit_exceeded: 'limit',
  compaction_failed: 'compaction failed',
  timed_out: 'timed out',
};

/** The colour of `state`. */
function toneOf(state: string): Tone {
  return Object.hasOwn(TONES, state) ? (TONES[state] ?? 'idle') : 'idle';
}

/** A dot in the colour of `state`; the word stands beside it. */
export function Dot({ state }: { readonly state: string }): JSX.Element {
  const tone = toneOf(state);
  return <span class={`dot tone-${tone}${tone === 'run' ? ' alive' : ''}`} aria-hidden="true" />;
}

/** A state in its colour. */
export function Pill({
  state,
  children,
}: {
  readonly state: string;
  readonly children?: ComponentChildren;
}): JSX.Element {
  return (
    <span class={`pill tone-${toneOf(state)}`}>
      <Dot state={state} />
      {children ?? WORDS[state] ?? state.replaceAll('_', ' ')}
    </span>
  );
}

/** The bar of one limit: used solid, reserved for children hatched, the rest free. */
export function Bar({
  bar,
  mini,
  ticks = [],
}: {
  readonly bar: BudgetBar;
  readonly mini?: true;
  /** What the limit was before it was changed. */
  readonly ticks?: readonly number[];
}): JSX.Element {
  const used = percent(bar.used, bar.max);
  const reserved = Math.min(100 - used, percent(bar.reserved, bar.max));
  const tone = bar.tone === 'calm' ? '' : bar.tone;
  return (
    <span
      class={mini === true ? 'bar mini' : 'bar'}
      role="meter"
      aria-label={bar.label}
      aria-valuenow={Math.round(used)}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuetext={barText(bar)}
      title={`${bar.label}: ${barText(bar)}`}
    >
      <i class={tone} style={{ width: `${used}%` }} />
      {reserved > 0 ? <i class="reserved" style={{ width: `${reserved}%` }} /> : null}
      {ticks
        .filter((tick) => tick < bar.max)
        .map((tick) => (
          <b key={tick} class="tick-at" style={{ left: `${percent(tick, bar.max)}%` }} />
        ))}
    </span>
  );
}

/** `$0.0014 of $0.50, $0.10 reserved for children` */
export function barText({ unit, used, reserved, max }: BudgetBar): string {
  const base = `${amountText(unit, used)} of ${amountText(unit, max)}`;
  return reserved > 0 ? `${base}, ${amountText(unit, reserved)} reserved for children` : base;
}

function percent(value: number, max: number): number {
  if (max <= 0) return value > 0 ? 100 : 0;
  return Math.min(100, Math.max(0, (value / max) * 100));
}

const ICONS = {
  copy: 'M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z',
  close: 'M4 4l8 8M12 4l-8 8',
  open: 'M6 4l4 4-4 4',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM11 11l3 3',
  theme: 'M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5a5.5 5.5 0 0 1 0 11',
  more: 'M3 8h.01M8 8h.01M13 8h.01',
} as const;

/** A stroke icon, always beside a word or with a label on its button. */
export function Icon({ name }: { readonly name: keyof typeof ICONS }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={ICONS[name]} />
    </svg>
  );
}

/** A part that could not be loaded. Its old data stays beside it. */
export function Failure({
  error,
  again,
}: {
  readonly error: RequestFailed | null;
  readonly again: () => void;
}): JSX.Element | null {
  if (error === null || error.code === 'offline') return null;
  const tone = error.code === 'not_recorded' ? '' : error.status === 503 ? 'wait' : 'bad';
  return (
    <div class={`notice ${tone}`} role="alert">
      <span>{error.message}</span>
      <button type="button" class="btn small right" onClick={again}>
        Try again
      </button>
    </div>
  );
}

/** Lines that stand for text which is loading; seen after 150 ms. */
export function Skeleton({ lines = 4 }: { readonly lines?: number }): JSX.Element {
  return (
    <div class="card-body" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, index) => (
        <div
          key={index}
          class="skeleton"
          style={{ width: `${88 - ((index * 23) % 47)}%`, margin: '11px 0' }}
        />
      ))}
    </div>
  );
}

/** Text that a click copies. */
export function Copy({
  text,
  label,
}: {
  readonly text: string;
  readonly label: string;
}): JSX.Element {
  const copy = (): void => void navigator.clipboard?.writeText(text).catch(() => undefined);
  return (
    <button type="button" class="btn quiet small" aria-label={label} title={label} onClick={copy}>
      <Icon name="copy" />
    </button>
  );
}

/** The key that does what a button does, where keys act. */
export function KeyHint({
  on,
  name,
}: {
  readonly on: boolean;
  readonly name: string;
}): JSX.Element | null {
  return on ? <kbd aria-hidden="true">{name}</kbd> : null;
}
