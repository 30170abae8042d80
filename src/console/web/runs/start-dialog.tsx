/** Starts a run: the agent, its task, limits. */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { MediaPart } from '../../../core/base/message.ts';
import type { AgentsAnswer } from '../../api.ts';
import type { StartRequest } from '../../api-actions.ts';
import { send } from '../base/actions.ts';
import { newRequestId } from '../base/api.ts';
import { useResource } from '../base/resource.ts';
import { go, hrefOf } from '../base/route.ts';
import { Dialog } from '../parts/dialog.tsx';
import { FileField, mediaOf } from '../parts/file-field.tsx';

/** What a start begins with. */
export interface StartDialogProps {
  readonly onClose: () => void;
  readonly agent?: string;
  readonly task?: string;
}

/** The dialog that starts a run and opens its page. */
export function StartDialog({ onClose, agent = '', task = '' }: StartDialogProps): JSX.Element {
  const agents = useResource<AgentsAnswer>('/agents').data.value?.agents ?? [];
  const name = useSignal(agent);
  const words = useSignal(task);
  const files = useSignal<readonly MediaPart[]>([]);
  const tokens = useSignal('');
  const cost = useSignal('');
  const state = useSignal<'open' | 'sent'>('open');
  const refusal = useSignal('');
  const requestId = useSignal(newRequestId());
  const start = async (): Promise<void> => {
    const limits = {
      ...(tokens.value === '' ? {} : { totalTokens: Number(tokens.value) }),
      ...(cost.value === '' ? {} : { costUsd: Number(cost.value) }),
    };
    const body: Omit<StartRequest, 'requestId'> = {
      agent: name.value.trim(),
      task: words.value,
      ...mediaOf(files.value),
      ...(Object.keys(limits).length === 0 ? {} : { limits }),
    };
    state.value = 'sent';
    const sent = await send('/runs', body, requestId.value);
    if (sent.kind === 'accepted') {
      onClose();
      go(hrefOf({ page: 'run', id: sent.answer.run }));
      return;
    }
    state.value = 'open';
    refusal.value = sent.message;
    requestId.value = newRequestId();
  };
  return (
    <Dialog
      title="Start a run"
      onClose={onClose}
      onSubmit={() => void start()}
      foot={
        <>
          <button type="button" class="btn" onClick={onClose}>
            Close
          </button>
          <button
            type="submit"
            class="btn primary"
            disabled={
              state.value === 'sent' ||
              name.value.trim() === '' ||
              (words.value === '' && files.value.length === 0)
            }
          >
            {state.value === 'sent' ? 'Starting' : 'Start'}
          </button>
        </>
      }
    >
      <div class="field">
        <label for="start-agent">Agent</label>
        <input
          id="start-agent"
          class="mono"
          list="start-agents"
          autocomplete="off"
          value={name.value}
          onInput={(event) => (name.value = event.currentTarget.value)}
        />
        <datalist id="start-agents">
          {agents.map((each) => (
            <option key={each.name} value={each.name} />
          ))}
        </datalist>
      </div>
      <div class="field">
        <label for="start-task">Task</label>
        <textarea
          id="start-task"
          value={words.value}
          onInput={(event) => (words.value = event.currentTarget.value)}
        />
      </div>
      <FileField id="start-files" files={files} refusal={refusal} />
      <div class="pair">
        <div class="field">
          <label for="start-tokens">Token limit, empty for the agent&rsquo;s own</label>
          <input
            id="start-tokens"
            inputMode="numeric"
            pattern="[0-9]*"
            value={tokens.value}
            onInput={(event) => (tokens.value = event.currentTarget.value)}
          />
        </div>
        <div class="field">
          <label for="start-cost">Cost limit in dollars</label>
          <input
            id="start-cost"
            inputMode="decimal"
            pattern="[0-9.]*"
            value={cost.value}
            onInput={(event) => (cost.value = event.currentTarget.value)}
          />
        </div>
      </div>
      {refusal.value === '' ? null : (
        <p class="notice bad" role="alert">
          {refusal.value}
        </p>
      )}
    </Dialog>
  );
}
