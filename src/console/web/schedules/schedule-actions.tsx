/** What can be done with a schedule, and the dialogs that ask before it is done. */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { ActionAnswer } from '../../api-actions.ts';
import type { ScheduleRow } from '../../view/schedules.ts';
import { canAct, mayAct } from '../base/connection.ts';
import { ActionDialog } from '../parts/action-dialog.tsx';
import { oneLine } from '../parts/words.tsx';

type Action = 'pause' | 'resume' | 'trigger' | 'delete';

const WORDS: Readonly<
  Record<Action, { readonly name: string; readonly effect: string; readonly done: string }>
> = {
  pause: {
    name: 'Pause',
    effect: 'It starts nothing until it is resumed. Runs go on.',
    done: 'The schedule is paused.',
  },
  resume: {
    name: 'Resume',
    effect: 'It starts runs again at its next time.',
    done: 'The schedule is resumed.',
  },
  trigger: {
    name: 'Start a run now',
    effect: 'It starts a run now, also while it is paused. Its overlap policy holds.',
    done: 'A run was started.',
  },
  delete: {
    name: 'Delete',
    effect: 'The schedule is deleted. Its runs go on and stay in the list.',
    done: 'The schedule is deleted.',
  },
};

/** The buttons of a schedule; none for those who may only look. */
export function ScheduleActions({
  schedule,
  onDone,
}: {
  readonly schedule: ScheduleRow;
  readonly onDone: () => void;
}): JSX.Element | null {
  const shown = useSignal<Action | null>(null);
  if (!mayAct.value) return null;
  const actions: readonly Action[] = [schedule.paused ? 'resume' : 'pause', 'trigger', 'delete'];
  return (
    <span class="acts end">
      {actions.map((action) => (
        <button
          key={action}
          type="button"
          class={action === 'delete' ? 'btn small danger' : 'btn small'}
          disabled={!canAct.value}
          onClick={() => (shown.value = action)}
        >
          {WORDS[action].name}
        </button>
      ))}
      {shown.value === null ? null : (
        <Ask
          key={shown.value}
          schedule={schedule}
          action={shown.value}
          onClose={() => {
            shown.value = null;
            onDone();
          }}
        />
      )}
    </span>
  );
}

interface AskProps {
  readonly schedule: ScheduleRow;
  readonly action: Action;
  readonly onClose: () => void;
}

function Ask({ schedule: { id }, action, onClose }: AskProps): JSX.Element {
  const note = useSignal('');
  const { name, effect } = WORDS[action];
  const hasNote = action === 'pause' || action === 'resume';
  return (
    <ActionDialog
      title={`${name}: ${oneLine(id, 80)}`}
      verb={name}
      {...(action === 'delete' ? { isDanger: true as const } : {})}
      path={`/schedules/${encodeURIComponent(id)}/${action}`}
      body={() => (note.value === '' ? {} : { note: note.value })}
      isReady
      onClose={onClose}
      done={(answer) => doneText(action, answer)}
    >
      <p class="muted">{effect}</p>
      {hasNote ? (
        <div class="field spaced">
          <label for="schedule-note">Note, which is not encrypted</label>
          <input
            id="schedule-note"
            maxLength={1_000}
            autofocus
            value={note.value}
            onInput={(event) => (note.value = event.currentTarget.value)}
          />
        </div>
      ) : null}
    </ActionDialog>
  );
}

function doneText(action: Action, { started }: ActionAnswer): string {
  const nothing = 'No run was started: another one goes on, or it begins later.';
  return action === 'trigger' && started === null ? nothing : WORDS[action].done;
}
