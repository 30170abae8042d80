/** Tries an agent: a form from its parameters, the first request before anything is spent. */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { Json, JsonObject } from '../../../core/base/json.ts';
import type { MediaPart } from '../../../core/base/message.ts';
import type { AgentCard, PreviewAnswer } from '../../api.ts';
import { send } from '../base/actions.ts';
import { newRequestId, post, RequestFailed } from '../base/api.ts';
import { canAct } from '../base/connection.ts';
import { go, hrefOf } from '../base/route.ts';
import { FileField, mediaOf } from '../parts/file-field.tsx';
import { Messages } from '../parts/messages.tsx';
import { readField, SchemaField } from '../parts/schema-field.tsx';
import { Chat } from './chat.tsx';

/** Tries `agent`: by a form, or in a conversation if it takes text alone. */
export function Try({ agent }: { readonly agent: AgentCard }): JSX.Element {
  const isChat = useSignal(agent.mode === 'chat');
  const mayChat = fieldsOf(agent).length === 0;
  return (
    <section class="card" aria-label="Try">
      <header class="card-head">
        <h2>Try</h2>
        {mayChat ? (
          <span class="acts end">
            {[false, true].map((value) => (
              <button
                key={String(value)}
                type="button"
                class="btn quiet small"
                aria-pressed={isChat.value === value}
                onClick={() => (isChat.value = value)}
              >
                {value ? 'Chat' : 'One run'}
              </button>
            ))}
          </span>
        ) : null}
      </header>
      {mayChat && isChat.value ? <Chat agent={agent} /> : <StartForm agent={agent} />}
    </section>
  );
}

interface Field {
  readonly name: string;
  readonly schema: JsonObject;
  readonly isRequired: boolean;
}

function fieldsOf({ parameters }: AgentCard): readonly Field[] {
  const required = (parameters?.['required'] ?? []) as readonly Json[];
  return Object.entries((parameters?.['properties'] ?? {}) as JsonObject).map(([name, schema]) => ({
    name,
    schema: schema as JsonObject,
    isRequired: required.includes(name),
  }));
}

/** The form that starts `agent`. */
function StartForm({ agent }: { readonly agent: AgentCard }): JSX.Element {
  const task = useSignal('');
  const files = useSignal<readonly MediaPart[]>([]);
  const texts = useSignal<Readonly<Record<string, string>>>({});
  const refusal = useSignal('');
  const isSent = useSignal(false);
  const preview = useSignal<PreviewAnswer | null>(null);
  const fields = fieldsOf(agent);
  /** Null: a field has no value, and the form says which. */
  const body = (): { readonly task: string; readonly context?: JsonObject } | null => {
    const context: Record<string, Json> = {};
    for (const { name, schema } of fields) {
      const text = texts.value[name] ?? '';
      if (text === '') continue;
      const read = readField(name, schema, text);
      if ('problem' in read) {
        refusal.value = read.problem;
        return null;
      }
      context[name] = read.value;
    }
    return fields.length === 0 ? { task: task.value } : { task: task.value, context };
  };
  const start = async (): Promise<void> => {
    const given = body();
    if (given === null) return;
    isSent.value = true;
    const sent = await send(
      '/runs',
      { agent: agent.name, ...given, ...mediaOf(files.value) },
      newRequestId(),
    );
    isSent.value = false;
    if (sent.kind === 'accepted') go(hrefOf({ page: 'run', id: sent.answer.run }));
    else refusal.value = sent.message;
  };
  const show = async (): Promise<void> => {
    const given = body();
    if (given === null) return;
    try {
      const path = `/agents/${encodeURIComponent(agent.name)}/preview`;
      preview.value = await post<PreviewAnswer>(path, given);
      refusal.value = '';
    } catch (error) {
      if (error instanceof RequestFailed) refusal.value = error.message;
    }
  };
  return (
    <>
      <form
        class="card-body"
        onSubmit={(event) => {
          event.preventDefault();
          void start();
        }}
      >
        <div class="field">
          <label for="try-task">Task</label>
          <textarea
            id="try-task"
            value={task.value}
            onInput={(event) => (task.value = event.currentTarget.value)}
          />
        </div>
        <FileField id="try-files" files={files} refusal={refusal} />
        {fields.map(({ name, schema, isRequired }) => (
          <SchemaField
            key={name}
            name={name}
            schema={schema}
            isRequired={isRequired}
            text={texts.value[name] ?? ''}
            onText={(text) => (texts.value = { ...texts.value, [name]: text })}
          />
        ))}
        <div class="acts">
          <button
            type="submit"
            class="btn primary"
            disabled={
              isSent.value || !canAct.value || (task.value === '' && files.value.length === 0)
            }
          >
            {isSent.value ? 'Starting' : 'Start'}
          </button>
          {agent.hasPreview ? (
            <button type="button" class="btn" onClick={() => void show()}>
              Show the first request
            </button>
          ) : null}
        </div>
        {agent.hasPreview ? null : (
          <p class="faint">
            The first request can be shown by a console that has the definitions: start it with{' '}
            <code>--agents FILE</code>.
          </p>
        )}
        {refusal.value === '' ? null : (
          <p class="notice bad" role="alert">
            {refusal.value}
          </p>
        )}
      </form>
      {preview.value === null ? null : <Messages messages={preview.value.messages} />}
    </>
  );
}
