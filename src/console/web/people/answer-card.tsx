/** One thing that waits for a person: what is asked, and the answer to it. */
import { useSignal, type Signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { InboxRow } from '../../api.ts';
import { durationText } from '../../view/amounts.ts';
import { say, send, type Sent } from '../base/actions.ts';
import { newRequestId, runPath } from '../base/api.ts';
import { now } from '../base/clock.ts';
import { canAct, mayAct } from '../base/connection.ts';
import { bindKeys } from '../base/keys.ts';
import { toolOf } from '../base/tools.ts';
import { JsonText } from '../parts/code.tsx';
import { Pill } from '../parts/marks.tsx';
import { Prose } from '../parts/prose.tsx';
import { Since } from '../parts/times.tsx';
import { oneLine, Plain } from '../parts/words.tsx';
import { EditArguments } from './edit-arguments.tsx';
import { settleHere } from './inbox-state.ts';

/** What an answer card shows. */
export interface AnswerCardProps {
  readonly row: InboxRow;
  /** Whether the keys `a`, `e`, `d` and digits act on it. */
  readonly hasKeys: boolean;
  /** Called when it was answered. */
  readonly onDone?: () => void;
}

interface Answering {
  readonly isSent: Signal<boolean>;
  readonly refusal: Signal<string>;
  answer(value: unknown): Promise<void>;
  decide(decision: object): Promise<void>;
}

function useAnswering(row: InboxRow, onDone: () => void): Answering {
  const isSent = useSignal(false);
  const refusal = useSignal('');
  const requestId = useSignal(newRequestId());
  const isGone = useRef(false);
  useEffect(() => () => void (isGone.current = true), []);
  const take = (sent: Sent): void => {
    isSent.value = false;
    if (sent.kind === 'accepted') {
      settleHere(row);
      onDone();
      return;
    }
    // Somebody else's answer has taken the card away meanwhile.
    if (isGone.current) say(sent.message);
    refusal.value = sent.message;
    requestId.value = newRequestId();
  };
  const act = async (action: 'answer' | 'decide', body: object): Promise<void> => {
    if (isSent.value || !canAct.value) return;
    isSent.value = true;
    refusal.value = '';
    take(await send(runPath(row.run, `/${action}`), { ...body, id: row.item.id }, requestId.value));
  };
  return {
    isSent,
    refusal,
    answer: async (value) => act('answer', { value }),
    decide: async (decision) => act('decide', { decision }),
  };
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
    <article class="ask" aria-label={`${item.kind} ${item.id}`}>
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
      {mayAct.value ? <Answer row={row} answering={answering} hasKeys={hasKeys} /> : null}
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
          {item.details === undefined ? null : <JsonText value={item.details} />}
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

function Answer({ row, answering, hasKeys }: AnswerProps): JSX.Element | null {
  switch (row.item.kind) {
    case 'approval':
      return <Decide row={row} answering={answering} hasKeys={hasKeys} />;
    case 'question':
      return <Options row={row} answering={answering} hasKeys={hasKeys} />;
    case 'external':
      return <OutsideResult answering={answering} />;
    case 'pause':
      return null;
  }
}

function Decide({ row, answering, hasKeys }: AnswerProps): JSX.Element {
  const mode = useSignal<'choose' | 'edit' | 'deny'>('choose');
  const reason = useSignal('');
  const isOff = answering.isSent.value || !canAct.value;
  const approve = (): void => void answering.decide({ approve: true });
  // Before it is painted: a key that is pressed as the item appears is meant for this item.
  useLayoutEffect(() => {
    if (!hasKeys) return undefined;
    return bindKeys([
      { key: 'a', text: 'Approve', run: approve },
      { key: 'e', text: 'Edit the arguments', run: () => (mode.value = 'edit') },
      { key: 'd', text: 'Deny', run: () => (mode.value = 'deny') },
      { key: 'Escape', text: 'Back', run: () => (mode.value = 'choose') },
    ]);
  }, [hasKeys, row.item.id]);
  if (mode.value === 'edit' && row.item.kind === 'approval') {
    return (
      <EditArguments
        args={row.item.args}
        schema={toolOf(row.item.agent, row.item.tool)?.schema}
        isOff={isOff}
        onBack={() => (mode.value = 'choose')}
        onSend={(args) => void answering.decide({ args })}
      />
    );
  }
  if (mode.value === 'deny') {
    return (
      <form
        class="deny"
        onSubmit={(event) => {
          event.preventDefault();
          void answering.decide({ deny: reason.value });
        }}
      >
        <input
          aria-label="Reason, which the model reads"
          placeholder="Reason, which the model reads"
          autofocus
          value={reason.value}
          onInput={(event) => (reason.value = event.currentTarget.value)}
        />
        <div class="acts">
          <button type="submit" class="btn danger" disabled={isOff}>
            Deny
          </button>
          <button type="button" class="btn" onClick={() => (mode.value = 'choose')}>
            Back
          </button>
        </div>
      </form>
    );
  }
  return (
    <div class="acts">
      <button type="button" class="btn primary" disabled={isOff} onClick={approve}>
        {answering.isSent.value ? 'Sent' : 'Approve'} <Key on={hasKeys} name="a" />
      </button>
      <button type="button" class="btn" disabled={isOff} onClick={() => (mode.value = 'edit')}>
        Edit <Key on={hasKeys} name="e" />
      </button>
      <button
        type="button"
        class="btn danger"
        disabled={isOff}
        onClick={() => (mode.value = 'deny')}
      >
        Deny <Key on={hasKeys} name="d" />
      </button>
    </div>
  );
}

function Key({ on, name }: { readonly on: boolean; readonly name: string }): JSX.Element | null {
  return on ? <kbd aria-hidden="true">{name}</kbd> : null;
}

function Options({ row, answering, hasKeys }: AnswerProps): JSX.Element {
  const text = useSignal('');
  const { item } = row;
  const options = item.kind === 'question' ? (item.options ?? []) : [];
  const isFree = item.kind === 'question' && (item.free || options.length === 0);
  const isOff = answering.isSent.value || !canAct.value;
  useLayoutEffect(() => {
    if (!hasKeys) return undefined;
    return bindKeys(
      options.slice(0, 9).map((option, index) => ({
        key: String(index + 1),
        text: `Answer ${oneLine(option, 60)}`,
        run: () => void answering.answer(option),
      })),
    );
  }, [hasKeys, item.id]);
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
            <Key on={hasKeys && index < 9} name={String(index + 1)} /> <Plain text={option} />
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
      {problem.value === '' ? null : <p class="tone-bad">{problem.value}</p>}
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
