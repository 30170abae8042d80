/** A conversation: its newest turns, and a field to say more. */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { RunHeader, TurnRow, TurnsAnswer } from '../../api.ts';
import { amountText } from '../../view/amounts.ts';
import { send } from '../base/actions.ts';
import { runPath } from '../base/api.ts';
import { canAct, mayAct } from '../base/connection.ts';
import { useResource } from '../base/resource.ts';
import { hrefOf } from '../base/route.ts';
import { JsonText } from '../parts/code.tsx';
import { Pill } from '../parts/marks.tsx';
import { Prose } from '../parts/prose.tsx';
import { Plain } from '../parts/words.tsx';

/** Turns that are shown at first, and at most. */
const SHOWN = 20;
const MOST = 100;

/** Which conversation, and with whom. */
export interface ConversationProps {
  readonly id: string;
  readonly agent: string;
  readonly tenant?: string;
  /** Its run; null: nothing was said yet. */
  readonly run: string | null;
  readonly header: RunHeader | undefined;
  /** Called with the id of the run when something was said. */
  readonly onSaid: (run: string) => void;
}

/** A message that no turn has read yet, as far as this page knows. */
interface Said {
  readonly messageId: string;
  readonly text: string;
}

/** The newest turns of a conversation, and a field to say more. */
export function Conversation(props: ConversationProps): JSX.Element {
  const { run, header } = props;
  const last = useSignal(SHOWN);
  const said = useSignal<readonly Said[]>([]);
  const path = run === null ? null : runPath(run, `/turns?last=${last.value}`);
  const { data, load } = useResource<TurnsAnswer>(path);
  const { count = 0, isOpen = false } = header?.status?.conversation ?? {};
  const lastSeq = said.value.length === 0 ? 0 : (header?.status?.version ?? 0);
  // A message is read, or a turn has ended.
  useEffect(() => void load(), [count, isOpen, header?.state, lastSeq]);
  const turns = data.value?.turns ?? [];
  const read = new Set(turns.flatMap(({ messageId, more }) => [messageId, ...more.map(idOf)]));
  const unread = said.value.filter(({ messageId }) => !read.has(messageId));
  const first = turns[0]?.number ?? 1;
  return (
    <div class="chat">
      {first > 1 && last.value < MOST ? (
        <button type="button" class="btn small" onClick={() => (last.value = MOST)}>
          Show earlier turns
        </button>
      ) : null}
      <div role="log" aria-label="Conversation">
        {turns.map((turn) => (
          <TurnView key={turn.number} run={run ?? ''} turn={turn} />
        ))}
        {unread.map(({ messageId, text }) => (
          <p class="said faint" key={messageId}>
            <Plain text={text} />
          </p>
        ))}
      </div>
      {mayAct.value ? (
        <SayForm
          {...props}
          isNew={turns.length === 0 && unread.length === 0}
          onSaid={(where, message) => {
            said.value = [...unread, message];
            props.onSaid(where);
          }}
        />
      ) : null}
    </div>
  );
}

function idOf({ messageId }: Said): string {
  return messageId;
}

interface SayFormProps extends Omit<ConversationProps, 'onSaid'> {
  readonly isNew: boolean;
  readonly onSaid: (run: string, message: Said) => void;
}

function SayForm({ id, agent, tenant, isNew, onSaid }: SayFormProps): JSX.Element {
  const text = useSignal('');
  const isSent = useSignal(false);
  const refusal = useSignal('');
  const say = async (): Promise<void> => {
    const words = text.value.trim();
    if (words === '' || isSent.value) return;
    isSent.value = true;
    const ofTenant = tenant === undefined ? {} : { tenant };
    const path = `/conversations/${encodeURIComponent(id)}/say`;
    const sent = await send(path, { agent, text: words, ...ofTenant });
    isSent.value = false;
    refusal.value = sent.kind === 'refused' ? sent.message : '';
    if (sent.kind === 'refused') return;
    text.value = '';
    onSaid(sent.answer.run, { messageId: sent.answer.requestId, text: words });
  };
  return (
    <>
      <form
        class="free"
        onSubmit={(event) => {
          event.preventDefault();
          void say();
        }}
      >
        <input
          aria-label="Message"
          placeholder={isNew ? 'Say something' : 'Say more'}
          value={text.value}
          onInput={(event) => (text.value = event.currentTarget.value)}
        />
        <button
          type="submit"
          class="btn primary"
          disabled={!canAct.value || isSent.value || text.value.trim() === ''}
        >
          {isSent.value ? 'Sent' : 'Send'}
        </button>
      </form>
      {refusal.value === '' ? null : (
        <p class="notice bad" role="alert">
          {refusal.value}
        </p>
      )}
    </>
  );
}

function TurnView({ run, turn }: { readonly run: string; readonly turn: TurnRow }): JSX.Element {
  const { number, by, text, more, step, expired, replaced, iteration } = turn;
  const cost = step?.usage.costMicroUsd ?? expired?.costMicroUsd;
  return (
    <div class={replaced === true ? 'turn faint' : 'turn'}>
      {[text, ...more.map((one) => one.text)].map((said, index) => (
        <p class="said" key={index}>
          <Plain text={said} />
        </p>
      ))}
      <Answer turn={turn} />
      <p class="row faint">
        <Pill
          state={step?.status ?? expired?.status ?? (number === 0 ? 'brought along' : 'running')}
        />
        <span>
          {`turn ${number}`}
          {by === undefined ? null : (
            <>
              {' by '}
              <Plain text={by} />
            </>
          )}
          {replaced === true ? ', replaced' : ''}
        </span>
        {cost === undefined ? null : amountText('usd', cost)}
        <a class="link" href={hrefOf({ page: 'run', id: run }, { iteration: String(iteration) })}>
          {`Iteration ${iteration}`}
        </a>
      </p>
    </div>
  );
}

function Answer({
  turn: { step, value, expired },
}: {
  readonly turn: TurnRow;
}): JSX.Element | null {
  const { status, reason = '' } = step ?? expired ?? {};
  if (status === undefined) return null;
  if (status !== 'success') {
    return (
      <p class="tone-bad">
        <Plain text={step?.message ?? reason} />
      </p>
    );
  }
  if (step === null) return <Prose text={expired?.answer ?? ''} />;
  return typeof value === 'string' ? <Prose text={value} /> : <JsonText value={value} />;
}
