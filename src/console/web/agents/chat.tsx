/** A new conversation with an agent. */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { AgentCard, RunHeaderAnswer } from '../../api.ts';
import { newRequestId, runPath } from '../base/api.ts';
import { useResource } from '../base/resource.ts';
import { hrefOf } from '../base/route.ts';
import { AnswerCard } from '../people/answer-card.tsx';
import { Conversation } from '../run/conversation.tsx';

/** How often the conversation is looked at. */
const LOOK_MS = 1_000;

/** A new conversation with `agent`. */
export function Chat({ agent }: { readonly agent: AgentCard }): JSX.Element {
  const id = useSignal(`${agent.name}-${newRequestId().slice(0, 8)}`);
  const run = useSignal<string | null>(null);
  const path = run.value === null ? null : runPath(run.value);
  const { data, load } = useResource<RunHeaderAnswer>(path, LOOK_MS);
  const header = data.value?.run;
  return (
    <>
      <Conversation
        id={id.value}
        agent={agent.name}
        run={run.value}
        header={header}
        onSaid={(where) => {
          run.value = where;
          void load();
        }}
      />
      {(header?.pending ?? [])
        .filter(({ kind }) => kind !== 'pause')
        .map((item) => (
          <AnswerCard
            key={item.id}
            row={{ run: run.value ?? '', agent: agent.name, task: '', item }}
            hasKeys={false}
            onDone={() => void load()}
          />
        ))}
      {run.value === null ? null : (
        <p class="row faint">
          <a class="link" href={hrefOf({ page: 'run', id: run.value })}>
            Open the conversation
          </a>
        </p>
      )}
    </>
  );
}
