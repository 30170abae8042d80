/** Forks a run before one of its iterations, with other words, another model, or other limits. */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { MomentAnswer } from '../../api-forks.ts';
import { FORK_EFFECTS, type ForkEffects } from '../../../core/base/fork.ts';
import { forkBody, type ForkForm } from '../../view/forks/moments.ts';
import { runPath } from '../base/api.ts';
import { useResource } from '../base/resource.ts';
import { go, hrefOf } from '../base/route.ts';
import { ActionDialog } from '../parts/action-dialog.tsx';
import { Failure, Skeleton } from '../parts/marks.tsx';
import { Said } from '../parts/words.tsx';
import { ForkEntries } from './fork-entries.tsx';
import type { RunModel } from './run-state.ts';

/** What the dialog forks. */
export interface ForkDialogProps {
  readonly run: RunModel;
  /** The iteration before which the fork begins. */
  readonly at: number;
  readonly onClose: () => void;
}

/** What calls of a fork do, in words. */
const EFFECTS: Readonly<Record<ForkEffects, readonly [name: string, effect: string]>> = {
  run: ['Run', 'Calls run, also those that the run has made already.'],
  approve: ['Approve', 'Each call that is not a read waits for a person.'],
  reuse: ['Reuse', 'Equal calls get the recorded result, others run.'],
  'replay-only': ['Replay only', 'As reuse, but of the others only reads run.'],
};

/** The dialog of a fork; opens the new run. */
export function ForkDialog({ run, at, onClose }: ForkDialogProps): JSX.Element {
  const form = useSignal<ForkForm>({
    at,
    append: '',
    instructions: '',
    model: '',
    tokens: '',
    cost: '',
    definition: 'recorded',
    effects: null,
    texts: new Map(),
    dropped: new Set(),
  });
  const set = (change: Partial<ForkForm>): void => {
    form.value = { ...form.value, ...change };
  };
  const path = runPath(run.id, `/moment?iteration=${form.value.at}`);
  const { data, error, load } = useResource<MomentAnswer>(path);
  const moment = data.value;
  return (
    <ActionDialog
      title="Fork this run"
      verb="Fork"
      path={runPath(run.id, '/fork')}
      body={() => forkBody(form.value)}
      isReady={isNumber(form.value.tokens) && isNumber(form.value.cost)}
      onClose={onClose}
      onAccepted={(answer) => go(hrefOf({ page: 'run', id: answer.run }))}
      done={() => 'The fork has begun. Its source is not touched.'}
    >
      <Moment form={form.value} newest={run.newest} set={set} />
      <Failure error={error.value} again={() => void load()} />
      {moment === null ? (
        error.value === null ? (
          <Skeleton lines={2} />
        ) : null
      ) : (
        <ForkEntries moment={moment} form={form.value} set={set} />
      )}
      <Words form={form.value} model={moment?.model ?? null} set={set} />
      <Effects form={form.value} mayRepeat={moment?.mayRepeat ?? ''} set={set} />
    </ActionDialog>
  );
}

function isNumber(text: string): boolean {
  return /^(\d+(\.\d+)?)?$/.test(text.trim());
}

/** What the parts of the form are given. */
export interface ForkFormProps {
  readonly form: ForkForm;
  readonly set: (change: Partial<ForkForm>) => void;
}

function Moment({ form, newest, set }: ForkFormProps & { readonly newest: number }): JSX.Element {
  return (
    <div class="field narrow">
      <label for="fork-at">Before iteration</label>
      <input
        id="fork-at"
        type="number"
        min={1}
        max={Math.max(1, newest)}
        value={form.at}
        onChange={(event) => {
          const at = Math.round(event.currentTarget.valueAsNumber);
          // Edits are of the conversation of one moment.
          if (at >= 1) set({ at, texts: new Map(), dropped: new Set() });
        }}
      />
    </div>
  );
}

function Words({
  form,
  model,
  set,
}: ForkFormProps & { readonly model: string | null }): JSX.Element {
  const field = (
    name: 'model' | 'tokens' | 'cost',
    label: string,
    placeholder: string,
  ): JSX.Element => (
    <div class="field">
      <label for={`fork-${name}`}>{label}</label>
      <input
        id={`fork-${name}`}
        autocomplete="off"
        placeholder={placeholder}
        value={form[name]}
        onInput={(event) => set({ [name]: event.currentTarget.value })}
      />
    </div>
  );
  return (
    <>
      {(['append', 'instructions'] as const).map((name) => (
        <div class="field" key={name}>
          <label for={`fork-${name}`}>
            {name === 'append' ? 'An input that it reads first' : 'Instructions of the agent'}
          </label>
          <textarea
            id={`fork-${name}`}
            placeholder={name === 'append' ? '' : 'as recorded'}
            value={form[name]}
            onInput={(event) => set({ [name]: event.currentTarget.value })}
          />
        </div>
      ))}
      <div class="pair">
        {field('model', 'Model', model ?? 'as recorded')}
        <div class="field">
          <label for="fork-definition">Definition</label>
          <select
            id="fork-definition"
            value={form.definition}
            onChange={(event) => {
              const isCurrent = event.currentTarget.value === 'current';
              set({ definition: isCurrent ? 'current' : 'recorded' });
            }}
          >
            <option value="recorded">as recorded</option>
            <option value="current">that of today</option>
          </select>
        </div>
        {field('tokens', 'Token limit', 'as recorded')}
        {field('cost', 'Cost limit in dollars', 'as recorded')}
      </div>
    </>
  );
}

function Effects({
  form,
  mayRepeat,
  set,
}: ForkFormProps & { readonly mayRepeat: string }): JSX.Element {
  return (
    <fieldset class="choices">
      <legend class="strong">What its calls do</legend>
      {mayRepeat === '' ? null : (
        <p class="notice wait">
          <span>
            The run made calls from there on that the fork may repeat: <Said text={mayRepeat} />.
            Choose what its calls do.
          </span>
        </p>
      )}
      {FORK_EFFECTS.map((value) => (
        <label key={value}>
          <input
            type="radio"
            name="effects"
            checked={form.effects === value}
            onChange={() => set({ effects: value })}
          />
          <span>
            <b class="strong">{EFFECTS[value][0]}</b> <span class="muted">{EFFECTS[value][1]}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
