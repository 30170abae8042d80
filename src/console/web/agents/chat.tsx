/** A conversation with an agent: each message begins the next turn, or goes to the one that runs. */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { AgentCard, RunHeaderAnswer, StatsAnswer } from '../../api.ts';
import { amountText } from '../../view/amounts.ts';
import { send } from '../base/actions.ts';
import { newRequestId, runPath } from '../base/api.ts';
import { canAct } from '../base/connection.ts';
import { useResource } from '../base/resource.ts';
import { hrefOf } from '../base/route.ts';
import { JsonText } from '../parts/code.tsx';
import { Pill } from '../parts/marks.tsx';
import { Prose } from '../parts/prose.tsx';
import { Plain } from '../parts/words.tsx';
import { AnswerCard } from '../people/answer-card.tsx';

/** How often a turn that runs is looked at. */
const LOOK_MS = 1_000;

/** A run of the conversation, and what was said to it. */
interface Turn {
  readonly run: string;
  readonly texts: readonly string[];
}

/** A new conversation with `agent`. */
export function Chat({ agent }: { readonly agent: AgentCard }): JSX.Element {
  const id = useSignal(`${agent.name}-${newRequestId().slice(0, 8)}`);
  const turns = useSignal<readonly Turn[]>([]);
  const text = useSignal('');
  const isSent = useSignal(false);
  const refusal = useSignal('');
  const say = async (): Promise<void> => {
    const said = text.value.trim();
    if (said === '' || isSent.value) return;
    isSent.value = true;
    const path = `/conversations/${encodeURIComponent(id.value)}/say`;
    const sent = await send(path, { agent: agent.name, text: said });
    isSent.value = false;
    refusal.value = sent.kind === 'refused' ? sent.message : '';
    if (sent.kind === 'refused') return;
    const { run } = sent.answer;
    const known = turns.value.find((turn) => turn.run === run);
    turns.value =
      known === undefined
        ? [...turns.value, { run, texts: [said] }]
        : turns.value.map((turn) =>
            turn === known ? { run, texts: [...turn.texts, said] } : turn,
          );
    text.value = '';
  };
  return (
    <div class="chat">
      <div role="log" aria-label="Conversation">
        {turns.value.map((turn) => (
          <TurnView key={turn.run} turn={turn} />
        ))}
      </div>
      <form
        class="free"
        onSubmit={(event) => {
          event.preventDefault();
          void say();
        }}
      >
        <input
          aria-label="Message"
          placeholder={turns.value.length === 0 ? 'Say something' : 'Say more'}
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
    </div>
  );
}

function TurnView({ turn }: { readonly turn: Turn }): JSX.Element {
  const isOver = useSignal(false);
  const { data, load } = useResource<RunHeaderAnswer>(
    runPath(turn.run),
    isOver.value ? undefined : LOOK_MS,
  );
  const run = data.value?.run;
  if (run?.state === 'ended' && !isOver.value) isOver.value = true;
  const usage = run?.step?.usage ?? run?.status?.usage;
  return (
    <div class="turn">
      {turn.texts.map((said, index) => (
        <p class="said" key={index}>
          <Plain text={said} />
        </p>
      ))}
      {isOver.value ? <Answer id={turn.run} /> : null}
      {(run?.pending ?? [])
        .filter(({ kind }) => kind !== 'pause')
        .map((item) => (
          <AnswerCard
            key={item.id}
            row={{ run: turn.run, agent: run?.agent ?? '', task: '', item }}
            hasKeys={false}
            onDone={() => void load()}
          />
        ))}
      <p class="row faint">
        {run === undefined ? null : <Pill state={run.step?.status ?? run.state} />}
        {usage === undefined ? null : amountText('usd', usage.costMicroUsd)}
        <a class="link" href={hrefOf({ page: 'run', id: turn.run })}>
          Open the run
        </a>
      </p>
    </div>
  );
}

function Answer({ id }: { readonly id: string }): JSX.Element | null {
  const step = useResource<StatsAnswer>(runPath(id, '/stats')).data.value?.step;
  if (step == null) return null;
  const { value, message, reason, status } = step;
  if (status !== 'success') {
    return (
      <p class="tone-bad">
        <Plain text={message ?? reason} />
      </p>
    );
  }
  return typeof value === 'string' ? <Prose text={value} /> : <JsonText value={value ?? null} />;
}
