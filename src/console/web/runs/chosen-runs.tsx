/** What can be done with the runs that are chosen, and how it went. */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { say, send } from '../base/actions.ts';
import { runPath } from '../base/api.ts';
import { canAct } from '../base/connection.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Plain } from '../parts/words.tsx';

/** Actions that are under way at once. */
const AT_ONCE = 6;

type Action = 'pause' | 'resume' | 'cancel';

const DONE: Readonly<Record<Action, string>> = {
  pause: 'told to pause',
  resume: 'told to go on',
  cancel: 'told to end',
};

interface Refused {
  readonly id: string;
  readonly message: string;
}

/** The line above the list while runs are chosen. */
export function ChosenRuns({
  chosen,
  onDone,
}: {
  readonly chosen: ReadonlySet<string>;
  readonly onDone: (left: readonly string[]) => void;
}): JSX.Element | null {
  const progress = useSignal('');
  const refused = useSignal<readonly Refused[]>([]);
  const isAsking = useSignal(false);
  const reason = useSignal('');
  if (chosen.size === 0) return null;
  const count = countText(chosen.size);
  const act = async (action: Action): Promise<void> => {
    isAsking.value = false;
    const ids = [...chosen];
    const found: Refused[] = [];
    const body = action === 'cancel' && reason.value !== '' ? { reason: reason.value } : {};
    let sent = 0;
    const work = async (): Promise<void> => {
      for (let id = ids.shift(); id !== undefined; id = ids.shift()) {
        sent += 1;
        progress.value = `Sent to ${sent} of ${chosen.size}`;
        const answer = await send(runPath(id, `/${action}`), body);
        if (answer.kind === 'refused') found.push({ id, message: answer.message });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    progress.value = '';
    refused.value = found;
    const accepted = chosen.size - found.length;
    if (accepted > 0)
      say(`${countText(accepted)} ${accepted === 1 ? 'was' : 'were'} ${DONE[action]}.`);
    onDone(found.map(({ id }) => id));
  };
  const isBusy = progress.value !== '';
  return (
    <section class="notice chosen" aria-label="Chosen runs">
      <span role="status">{isBusy ? progress.value : `${count} chosen`}</span>
      <span class="acts right">
        {(['pause', 'resume', 'cancel'] as const).map((action) => (
          <button
            key={action}
            type="button"
            class={`btn small${action === 'cancel' ? ' danger' : ''}`}
            disabled={isBusy || !canAct.value}
            onClick={() => {
              if (action === 'cancel') isAsking.value = true;
              else void act(action);
            }}
          >
            {action.charAt(0).toUpperCase() + action.slice(1)}
          </button>
        ))}
        <button type="button" class="btn quiet small" onClick={() => onDone([])}>
          Choose none
        </button>
      </span>
      {refused.value.length === 0 ? null : (
        <ul class="refusals" role="alert">
          {refused.value.slice(0, 8).map(({ id, message }) => (
            <li key={id}>
              <span class="mono">
                <Plain text={id} />
              </span>{' '}
              {message}
            </li>
          ))}
        </ul>
      )}
      {isAsking.value ? (
        <Dialog
          title={`Cancel ${count}`}
          onClose={() => (isAsking.value = false)}
          onSubmit={() => void act('cancel')}
          foot={
            <>
              <button type="button" class="btn" onClick={() => (isAsking.value = false)}>
                Close
              </button>
              <button type="submit" class="btn danger">
                Cancel {count}
              </button>
            </>
          }
        >
          <p class="muted">
            They end with the status canceled and keep what they have done. All runs below them end
            too.
          </p>
          <div class="field spaced">
            <label for="chosen-reason">Reason</label>
            <input
              id="chosen-reason"
              autofocus
              value={reason.value}
              onInput={(event) => (reason.value = event.currentTarget.value)}
            />
          </div>
        </Dialog>
      ) : null}
    </section>
  );
}

function countText(count: number): string {
  return `${count} ${count === 1 ? 'run' : 'runs'}`;
}
