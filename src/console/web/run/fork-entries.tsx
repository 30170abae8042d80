/** The conversation at the moment of a fork: each entry can be edited or dropped. */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { MomentAnswer } from '../../api-forks.ts';
import type { EditableEntry, ForkForm } from '../../view/forks/moments.ts';
import { Long, oneLine, Plain } from '../parts/words.tsx';

/** What the list is of. */
export interface ForkEntriesProps {
  readonly moment: MomentAnswer;
  readonly form: ForkForm;
  readonly set: (change: Partial<ForkForm>) => void;
}

/** The entries of `moment`, folded until somebody looks. */
export function ForkEntries({ moment, form, set }: ForkEntriesProps): JSX.Element {
  const { entries, moreEntries } = moment;
  const changed = form.texts.size + form.dropped.size;
  return (
    <details class="field">
      <summary>
        The conversation: {entries.length + moreEntries}{' '}
        {entries.length + moreEntries === 1 ? 'entry' : 'entries'}
        {changed === 0 ? ', to be edited' : `, ${changed} changed`}
      </summary>
      {moreEntries === 0 ? null : <p class="muted">The last {entries.length} are shown.</p>}
      <ol class="messages">
        {entries.map((entry) => (
          <Row key={entry.index} entry={entry} form={form} set={set} />
        ))}
      </ol>
    </details>
  );
}

interface RowProps extends Omit<ForkEntriesProps, 'moment'> {
  readonly entry: EditableEntry;
}

function Row({ entry, form, set }: RowProps): JSX.Element {
  const { index, role, text, editable, together } = entry;
  const isOpen = useSignal(false);
  const edited = form.texts.get(index);
  const isDropped = form.dropped.has(index);
  const others = together.filter((other) => other !== index);
  const edit = (words: string | null): void => {
    const texts = new Map(form.texts);
    if (words === null) texts.delete(index);
    else texts.set(index, words);
    set({ texts });
  };
  const drop = (): void => {
    const dropped = new Set(form.dropped);
    for (const each of together) {
      if (isDropped) dropped.delete(each);
      else dropped.add(each);
    }
    set({ dropped });
  };
  return (
    <li>
      <header class="row">
        <span class="tag">{index}</span>
        <span class="tag">{role}</span>
        {isDropped ? <span class="tag bad">dropped</span> : null}
        <span class="acts right">
          {editable === null || isDropped ? null : (
            <button
              type="button"
              class="btn small"
              aria-label={`${edited === undefined ? 'Edit' : 'Restore'} entry ${index}`}
              onClick={() => edit(edited === undefined ? editable : null)}
            >
              {edited === undefined ? 'Edit' : 'Restore'}
            </button>
          )}
          <button
            type="button"
            class="btn small"
            aria-label={`${isDropped ? 'Keep' : 'Drop'} entry ${index}`}
            title={others.length === 0 ? undefined : `With ${others.join(', ')}: calls and results`}
            onClick={drop}
          >
            {isDropped ? 'Keep' : 'Drop'}
          </button>
        </span>
      </header>
      {edited !== undefined && !isDropped ? (
        <textarea
          aria-label={`Text of entry ${index}`}
          value={edited}
          onInput={(event) => edit(event.currentTarget.value)}
        />
      ) : isOpen.value ? (
        <pre tabIndex={0}>
          <Long text={text} />
        </pre>
      ) : (
        <button type="button" class="text-button" onClick={() => (isOpen.value = true)}>
          <Plain text={oneLine(text, 120) || 'nothing'} />
        </button>
      )}
    </li>
  );
}
