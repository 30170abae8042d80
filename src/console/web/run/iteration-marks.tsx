/** What happened in an iteration beside what was said and called: one line each. */
import type { JSX } from 'preact';
import { durationText } from '../../view/amounts.ts';
import { lossText, type LostTime } from '../../view/attempts.ts';
import type { MarkView, WaitView } from '../../view/iteration-view.ts';
import { clockText, Since } from '../parts/times.tsx';
import { Long, Plain } from '../parts/words.tsx';

/** An attempt that was lost: which, when, why, and how the call went on. */
export function LossLine({ lost }: { readonly lost: LostTime }): JSX.Element {
  return (
    <p class="mark loss">
      <span class="tag bad">lost attempt</span>
      <span>
        <Plain text={lossText(lost, clockText)} />
      </span>
    </p>
  );
}

/** A call in flight of a run for which no worker answers. */
export function SilentLine({ since }: { readonly since: number }): JSX.Element {
  return (
    <p class="mark">
      <span class="tag wait">silent</span>
      <span>No worker has answered since {clockText(since)}. The call waits for one.</span>
    </p>
  );
}

const MARK_NAMES: Readonly<Partial<Record<MarkView['kind'], string>>> = {
  said: 'message',
  turn: 'turn',
  input: 'input',
  compaction: 'compaction',
  handover: 'hand-over',
  limit: 'limit',
  warning: 'warning',
  error: 'error',
  problem: 'problem',
  paused: 'pause',
  resumed: 'pause',
  adjusted: 'limits',
  verdict: 'validator',
  own: 'event',
};

const BAD_MARKS: ReadonlySet<MarkView['kind']> = new Set(['limit', 'error', 'problem']);

/** Something that happened, at its place. */
export function Mark({ mark }: { readonly mark: MarkView }): JSX.Element {
  const { kind, text, detail } = mark;
  const tone = BAD_MARKS.has(kind)
    ? ' bad'
    : kind === 'warning' || kind === 'paused'
      ? ' wait'
      : '';
  return (
    <div class={`mark ${kind}`}>
      <span class={`tag${tone}`}>{MARK_NAMES[kind] ?? kind}</span>
      <span class={kind === 'input' ? 'faint' : ''}>
        <Plain text={text} />
      </span>
      {detail === undefined ? null : (
        <span class="detail">
          <Long text={detail} />
        </span>
      )}
    </div>
  );
}

/** A question to a person, and what came of it. */
export function QuestionLine({ wait }: { readonly wait: WaitView }): JSX.Element {
  const { text, from, to, result, by } = wait;
  return (
    <div class="mark question-line">
      <span class={`tag${to === undefined ? ' wait' : ''}`}>question</span>
      <span>
        <Plain text={text} />
      </span>
      <span class="muted">
        {to === undefined ? (
          <>
            waits <Since at={from} />
          </>
        ) : (
          `${result ?? 'answered'}${by === undefined ? '' : ` by ${by}`} after ${durationText(to - from)}`
        )}
      </span>
    </div>
  );
}
