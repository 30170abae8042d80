/** One iteration of the transcript: its number in the gutter, what was said and done beside it. */
import { useSignal } from '@preact/signals';
import type { ComponentClass, JSX } from 'preact';
import { durationText, moneyText, numberText } from '../../view/amounts.ts';
import { attemptsOf, lostTimeOf, type AttemptView, type LostTime } from '../../view/attempts.ts';
import type {
  CallView,
  IterationView,
  MarkView,
  ModelCallView,
} from '../../view/iteration-view.ts';
import { replyOf, type ReplyPart, type ReplyView } from '../../view/reply.ts';
import type { StreamedReply } from '../../view/streamed-reply.ts';
import { mayAct } from '../base/connection.ts';
import { LispText } from '../parts/code.tsx';
import { Prose } from '../parts/prose.tsx';
import { Since } from '../parts/times.tsx';
import { whenChanged } from '../parts/unchanged.ts';
import { Long, Plain } from '../parts/words.tsx';
import { CallLine } from './call-line.tsx';
import { LossLine, Mark, QuestionLine, SilentLine } from './iteration-marks.tsx';
import type { RunModel } from './run-state.ts';

/** What a block shows. */
export interface IterationBlockProps {
  readonly view: IterationView;
  readonly run: RunModel;
  readonly attempts: readonly AttemptView[];
  /** What is being written, if it is this iteration's. */
  readonly reply: StreamedReply | null;
  readonly isNewest: boolean;
  /** Since when no worker answers for its calls in flight; null: one does. */
  readonly silentSince: number | null;
  /** The quiet before it; null: none worth a line. */
  readonly pauseBefore: string | null;
  readonly isPicked: boolean;
}

/** For who comes to an agent that streams only while somebody reads. */
const COMES_WHOLE = 'The model writes. Nobody looked when it began, so its reply comes as a whole.';

/** One iteration; drawn again only when it changes. */
export const IterationBlock: ComponentClass<IterationBlockProps> = whenChanged(Block);

function Block(props: IterationBlockProps): JSX.Element | null {
  const { view, run, attempts, reply, isNewest, silentSince, pauseBefore, isPicked } = props;
  const { number, models, calls, marks, waits, programs, sections } = view;
  const main = models.filter(({ callId }) => callId === undefined);
  const shownMarks = marks.filter(({ kind }) => kind !== 'started' && kind !== 'ended');
  if (number === 0 && shownMarks.length === 0) return null;
  // A program that runs is shown below, so what was streamed of it is not.
  const streamed = programs.length === 0 ? reply : null;
  const said =
    view.reply ?? (streamed === null ? null : replyOf(streamed.text, streamed.reasoning, sections));
  const isWriting = isNewest && view.reply === undefined && main.some(({ to }) => to === undefined);
  const isAwaited = isWriting && streamed?.comesWhole === true && streamed.text === '';
  const isLate = (mark: MarkView): boolean => isAfter(mark, main.at(-1));
  const early = shownMarks.filter((mark) => !isLate(mark));
  const late = shownMarks.filter(isLate);
  const isLost = main.some((call) => lostOf(call, view, attempts) !== null);
  return (
    <article
      class={`iteration${isPicked ? ' picked' : ''}`}
      id={`iteration-${number}`}
      aria-label={number === 0 ? 'Before the first iteration' : `Iteration ${number}`}
    >
      {pauseBefore === null ? null : <p class="quiet-time">{pauseBefore} later</p>}
      <div class="gutter">
        <span class="number">{number === 0 ? '·' : number}</span>
      </div>
      <div class="block">
        {main.map((call) => (
          <ModelHead key={call.seq} call={call} view={view} run={run} attempts={attempts} />
        ))}
        {silentSince === null || isLost ? null : <SilentLine since={silentSince} />}
        {early.map((mark) => (
          <Mark key={mark.seq} mark={mark} />
        ))}
        {said === null || isAwaited ? null : (
          <Reply said={said} isWriting={isWriting} hasProgram={programs.length > 0} />
        )}
        {isWriting && (said === null || isAwaited) ? (
          <p class="muted">
            <span class="caret" />{' '}
            {isAwaited ? COMES_WHOLE : <span class="sr">The model is asked</span>}
          </p>
        ) : null}
        {view.reply === undefined && view.reasoning !== undefined && said === null ? (
          <div class="thinking">
            <Prose text={view.reasoning} />
          </div>
        ) : null}
        {programs.map(({ programId, source, outcome, error }) => (
          <div class="program-source" key={programId}>
            <pre tabIndex={0}>
              <LispText text={source} />
            </pre>
            {outcome === undefined ? null : (
              <p class="faint">
                program {programId}: {outcome}
              </p>
            )}
            {error === undefined ? null : (
              <pre class="tone-bad">
                <Long text={error} />
              </pre>
            )}
          </div>
        ))}
        {calls.length === 0 ? null : (
          <div
            class={`calls${isParallel(calls) ? ' parallel' : ''}`}
            role="group"
            aria-label={isParallel(calls) ? `${calls.length} calls at the same time` : 'Calls'}
          >
            {calls.map((call) => (
              <CallLine key={call.callId} call={call} view={view} run={run} attempts={attempts} />
            ))}
          </div>
        )}
        {waits
          .filter(({ kind }) => kind === 'question')
          .map((wait) => (
            <QuestionLine key={wait.id} wait={wait} />
          ))}
        {late.map((mark) => (
          <Mark key={mark.seq} mark={mark} />
        ))}
      </div>
    </article>
  );
}

const LATE_MARKS: ReadonlySet<MarkView['kind']> = new Set(['handover', 'adjusted', 'said', 'turn']);

/** Whether a mark stands below what was said and called: it came when the reply was there. */
function isAfter({ kind, at }: MarkView, main: ModelCallView | undefined): boolean {
  if (LATE_MARKS.has(kind)) return true;
  return kind === 'input' && main?.to !== undefined && at >= main.to;
}

/** Whether calls ran at the same time: the second began before the first ended. */
function isParallel([first, second]: readonly CallView[]): boolean {
  if (first === undefined || second === undefined) return false;
  return second.from < (first.to ?? Infinity);
}

interface ModelHeadProps {
  readonly call: ModelCallView;
  readonly view: IterationView;
  readonly run: RunModel;
  readonly attempts: readonly AttemptView[];
}

/** What a model call lost; null: nothing. */
function lostOf(
  { from, to }: ModelCallView,
  { number: iteration }: IterationView,
  attempts: readonly AttemptView[],
): LostTime | null {
  return lostTimeOf(attemptsOf(attempts, { iteration, from, ...(to === undefined ? {} : { to }) }));
}

function ModelHead({ call, view, run, attempts }: ModelHeadProps): JSX.Element {
  const { model, purpose, from, to, durationMs, firstTokenMs, usage, usageKnown } = call;
  const { error, isCanceled } = call;
  const lost = lostOf(call, view, attempts);
  const tries = call.attempts + call.losses;
  const tokens = (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0);
  return (
    <>
      <header class="model-head">
        <span class="mono">
          <Plain text={model} />
        </span>
        {purpose === 'reply' ? null : <span class="tag">{purpose}</span>}
        <span class="muted">
          {to === undefined ? <Since at={from} /> : durationText(durationMs ?? to - from)}
        </span>
        {firstTokenMs === undefined ? null : (
          <span class="muted optional">first token {durationText(firstTokenMs)}</span>
        )}
        {usage === undefined ? null : (
          <span
            class="muted"
            title={`${numberText(usage.inputTokens)} in, ${numberText(usage.outputTokens)} out`}
          >
            {usageKnown === false ? 'tokens not reported' : `${numberText(tokens)} tokens`}
            {usage.cachedInputTokens > 0 ? ` (${numberText(usage.cachedInputTokens)} cached)` : ''}
          </span>
        )}
        {usage === undefined || usage.costMicroUsd === 0 ? null : (
          <span class="muted">{moneyText(usage.costMicroUsd)}</span>
        )}
        {tries > 1 && lost === null ? <span class="tag bad">{tries} attempts</span> : null}
        {purpose === 'reply' && mayAct.value ? (
          <button
            type="button"
            class="btn quiet small hidden"
            aria-label={`Fork before iteration ${view.number}`}
            onClick={() => (run.forkAt.value = view.number)}
          >
            fork
          </button>
        ) : null}
      </header>
      {lost === null ? null : <LossLine lost={lost} />}
      {call.failures.map((failure) => (
        <p class="mark" key={failure.attempt}>
          <span class="tag bad">attempt {failure.attempt} failed</span>{' '}
          <span class="muted">
            <Plain text={failure.message} /> Tried again after {durationText(failure.retryInMs)}.
          </span>
        </p>
      ))}
      {error === undefined ? null : (
        <p class={isCanceled === true ? 'muted' : 'tone-bad'}>
          <Long text={error} />
        </p>
      )}
    </>
  );
}

function Reply({
  said,
  isWriting,
  hasProgram,
}: {
  readonly said: ReplyView;
  readonly isWriting: boolean;
  readonly hasProgram: boolean;
}): JSX.Element {
  const isSource = useSignal(false);
  const parts = said.parts.filter(({ kind }) => kind !== 'action' || isWriting);
  const hasSections = said.parts.some(({ kind }) => kind !== 'text');
  return (
    <div class="reply">
      {said.reasoning === '' ? null : (
        <div class="thinking">
          <Prose text={said.reasoning} />
        </div>
      )}
      {isSource.value ? (
        <pre class="sunk source" tabIndex={0}>
          <Long text={said.source} />
        </pre>
      ) : (
        parts.map((part, index) => <Section key={index} part={part} hasProgram={hasProgram} />)
      )}
      {isWriting ? <span class="caret" aria-hidden="true" /> : null}
      {hasSections && !isWriting ? (
        <button
          type="button"
          class="btn quiet small source-toggle"
          aria-pressed={isSource.value}
          onClick={() => (isSource.value = !isSource.value)}
        >
          source
        </button>
      ) : null}
    </div>
  );
}

function Section({
  part,
  hasProgram,
}: {
  readonly part: ReplyPart;
  readonly hasProgram: boolean;
}): JSX.Element | null {
  switch (part.kind) {
    case 'thinking':
      return (
        <div class="thinking">
          <Prose text={part.text} />
        </div>
      );
    case 'answer':
      return (
        <div class="answer">
          <Prose text={part.text} />
        </div>
      );
    case 'action':
      return (
        <pre class="sunk">
          <Long text={part.text} />
        </pre>
      );
    case 'program':
      return hasProgram ? null : (
        <pre class="sunk">
          <LispText text={part.text} />
        </pre>
      );
    case 'section':
      return (
        <div class="own-section">
          <h3>
            <Plain text={part.name} />
          </h3>
          <Prose text={part.text} />
        </div>
      );
    case 'text':
      return (
        <Prose
          text={
            hasProgram ? part.text.replace(/```[a-z]*\n[\s\S]*?(```|$)/g, '').trim() : part.text
          }
        />
      );
  }
}
