/** One thing that waits for a person: what is asked, and the answer to it. */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import type { InboxRow } from '../../api.ts';
import { durationText } from '../../view/amounts.ts';
import { now } from '../base/clock.ts';
import { canAct, mayAct } from '../base/connection.ts';
import { bindKeys } from '../base/keys.ts';
import { toolOf } from '../base/tools.ts';
import { JsonText } from '../parts/code.tsx';
import { Problem } from '../parts/schema-field.tsx';
import { KeyHint, Pill } from '../parts/marks.tsx';
import { Prose } from '../parts/prose.tsx';
import { Since } from '../parts/times.tsx';
import { oneLine, Plain } from '../parts/words.tsx';
import { AnswerForm, Asker, formOf } from './answer-form.tsx';
import { UNAPPLIED, useAnswering, type Answering } from './answering.ts';
import { Decide } from './decide.tsx';
import { KeyQuestion } from './key-question.tsx';

/** What an answer card shows. */
export interface AnswerCardProps {
  readonly row: InboxRow;
  /** Whether the keys `a`, `e`, `d` and digits act on it. */
  readonly hasKeys: boolean;
  /** Called when it was answered. */
  readonly onDone?: () => void;
}

/** What waits, with the means to answer it. */
export function AnswerCard({
  row,
  hasKeys,
  onDone = () => undefined,
}: AnswerCardProps): JSX.Element {
  const { item } = row;
  const answering = useAnswering(row, onDone);
  const effect = 'tool' in item ? toolOf(item.agent, item.tool)?.effect : undefined;
  return (
    <article
      class="ask"
      aria-label={`${item.kind} ${item.id}`}
      onClickCapture={(event) => {
        // The second click of a double click finds what has taken the place of the first.
        if (event.detail > 1) event.stopPropagation();
      }}
    >
      <header class="row ask-head">
        <Pill state={item.kind} />
        {'tool' in item ? (
          <span class="mono strong">
            <Plain text={item.tool} />
          </span>
        ) : null}
        <span class="muted right row">
          {effect === undefined ? null : <span class="tag">effect {effect}</span>}
          <span>
            waits <Since at={item.since} />
            <TimeLeft deadline={item.deadline} />
          </span>
        </span>
      </header>
      <Asked row={row} />
      {mayAct.value ? (
        <Answer row={row} answering={answering} hasKeys={hasKeys} effect={effect} />
      ) : null}
      {answering.isUnapplied.value ? (
        <p class="notice wait" role="status">
          {UNAPPLIED}
        </p>
      ) : null}
      {answering.refusal.value === '' ? null : (
        <p class="notice bad" role="alert">
          {answering.refusal.value}
        </p>
      )}
    </article>
  );
}

function TimeLeft({ deadline }: { readonly deadline: number | undefined }): JSX.Element {
  if (deadline === undefined) return <> · no deadline</>;
  const left = deadline - now.value;
  return left <= 0 ? <> · its time is over</> : <> · {durationText(left)} left</>;
}

function Asked({ row }: { readonly row: InboxRow }): JSX.Element {
  const { item } = row;
  switch (item.kind) {
    case 'question':
      return (
        <>
          <div class="question">
            <Prose text={item.question} />
          </div>
          {formOf(row) !== undefined ? (
            <Asker row={row} />
          ) : item.details === undefined ? null : (
            <JsonText value={item.details} />
          )}
        </>
      );
    case 'approval':
      return (
        <>
          {item.reasoning === undefined ? null : (
            <div class="muted reason">
              <Prose text={item.reasoning} />
            </div>
          )}
          <div class="sunk">
            <JsonText value={item.args} />
          </div>
        </>
      );
    case 'external':
      return (
        <div class="sunk">
          <JsonText value={item.details ?? item.args} />
        </div>
      );
    case 'pause':
      return <p class="muted">The run is paused.</p>;
  }
}

interface AnswerProps {
  readonly row: InboxRow;
  readonly answering: Answering;
  readonly hasKeys: boolean;
}

function Answer({
  effect,
  ...props
}: AnswerProps & { readonly effect: string | undefined }): JSX.Element | null {
  const { row, answering, hasKeys } = props;
  switch (row.item.kind) {
    case 'approval':
      // Of a tool that is not known, or not yet, an approval may be one of a payment.
      return (
        <Decide
          row={row}
          item={row.item}
          answering={answering}
          hasKeys={hasKeys}
          asksAgain={effect === undefined || effect === 'once'}
        />
      );
    case 'question': {
      const form = formOf(row);
      if (form === undefined) return <Options row={row} answering={answering} hasKeys={hasKeys} />;
      const isOff = answering.isSent.value || !canAct.value;
      return (
        <AnswerForm form={form} isOff={isOff} onSend={(value) => void answering.answer(value)} />
      );
    }
    case 'external':
      return <OutsideResult answering={answering} />;
    case 'pause':
      return null;
  }
}

function Options({ row, answering, hasKeys }: AnswerProps): JSX.Element {
  const text = useSignal('');
  const asked = useSignal<string | null>(null);
  const { item } = row;
  const options = item.kind === 'question' ? (item.options ?? []) : [];
  const isFree = item.kind === 'question' && (item.free || options.length === 0);
  const isOff = answering.isSent.value || !canAct.value;
  useLayoutEffect(() => {
    if (!hasKeys || asked.value !== null) return undefined;
    return bindKeys(
      options.slice(0, 9).map((option, index) => ({
        key: String(index + 1),
        text: `Answer ${oneLine(option, 60)}`,
        // A digit may also begin an answer in one's own words.
        run: () => (isFree ? (asked.value = option) : void answering.answer(option)),
      })),
    );
  }, [hasKeys, row.run, item.id, asked.value === null]);
  if (asked.value !== null) {
    const option = asked.value;
    return (
      <KeyQuestion
        text={`Answer ${oneLine(option, 60)}?`}
        verb="Answer"
        isOff={isOff}
        onBack={() => (asked.value = null)}
        onYes={() => void answering.answer(option)}
      />
    );
  }
  return (
    <>
      <div class="acts options">
        {options.map((option, index) => (
          <button
            key={option}
            type="button"
            class="btn"
            disabled={isOff}
            onClick={() => void answering.answer(option)}
          >
            <KeyHint on={hasKeys && index < 9} name={String(index + 1)} /> <Plain text={option} />
          </button>
        ))}
      </div>
      {isFree ? (
        <form
          class="free"
          onSubmit={(event) => {
            event.preventDefault();
            if (text.value !== '') void answering.answer(text.value);
          }}
        >
          <input
            aria-label="Answer in your words"
            placeholder="Answer in your words"
            value={text.value}
            onInput={(event) => (text.value = event.currentTarget.value)}
          />
          <button type="submit" class="btn primary" disabled={isOff || text.value === ''}>
            Answer
          </button>
        </form>
      ) : null}
    </>
  );
}

function OutsideResult({ answering }: { readonly answering: Answering }): JSX.Element {
  const text = useSignal('{}');
  const problem = useSignal('');
  const finish = (): void => {
    try {
      const value: unknown = JSON.parse(text.value);
      problem.value = '';
      void answering.answer(value);
    } catch (error) {
      problem.value = error instanceof Error ? error.message : 'This is not JSON.';
    }
  };
  return (
    <>
      <textarea
        class={`mono ${problem.value === '' ? '' : 'invalid'}`}
        aria-label="Result as JSON"
        value={text.value}
        onInput={(event) => (text.value = event.currentTarget.value)}
      />
      <Problem text={problem.value} />
      <div class="acts">
        <button
          type="button"
          class="btn primary"
          disabled={answering.isSent.value || !canAct.value}
          onClick={finish}
        >
          Finish with this result
        </button>
      </div>
    </>
  );
}
