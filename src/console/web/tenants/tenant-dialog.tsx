/** Sets what the runs of a tenant may do at once, and in a day. */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { changeOf, DAY_FIELDS, fieldsOf, type TenantRow } from '../../view/tenants.ts';
import { ActionDialog } from '../parts/action-dialog.tsx';

/** Whom the dialog is about. */
export interface TenantDialogProps {
  /** Null: one that is named in the dialog. */
  readonly row: TenantRow | null;
  readonly onClose: () => void;
}

const NOTHING = { timeZone: 'UTC', perDay: {} };

/** The dialog of the settings of a tenant; an empty field removes its setting. */
export function TenantDialog({ row, onClose }: TenantDialogProps): JSX.Element {
  const before = fieldsOf(row ?? NOTHING);
  const name = useSignal(row?.tenant ?? '');
  const fields = useSignal(before);
  const { change, problem } = changeOf(before, fields.value);
  const tenant = name.value.trim();
  const field = (id: string, label: string, mode: 'numeric' | 'decimal' | 'text'): JSX.Element => (
    <div class="field" key={id}>
      <label for={`tenant-${id}`}>{label}</label>
      <input
        id={`tenant-${id}`}
        inputMode={mode}
        autocomplete="off"
        value={fields.value[id] ?? ''}
        onInput={(event) => (fields.value = { ...fields.value, [id]: event.currentTarget.value })}
      />
    </div>
  );
  return (
    <ActionDialog
      title={row === null ? 'Set a tenant' : `Set ${row.tenant}`}
      verb="Set"
      path={`/tenants/${encodeURIComponent(tenant)}`}
      body={() => change}
      isReady={problem === '' && tenant !== '' && Object.keys(change).length > 0}
      onClose={onClose}
      done={() => 'It holds for runs that begin from now on.'}
    >
      {row === null ? (
        <div class="field">
          <label for="tenant-name">Tenant</label>
          <input
            id="tenant-name"
            class="mono"
            autofocus
            autocomplete="off"
            value={name.value}
            onInput={(event) => (name.value = event.currentTarget.value)}
          />
        </div>
      ) : null}
      <p class="muted">An empty field is no limit.</p>
      <div class="pair">
        {field('concurrency', 'Runs at once', 'numeric')}
        {field('weight', 'Share of a busy queue', 'decimal')}
        {field('timeZone', 'Time zone of the day', 'text')}
        {DAY_FIELDS.map(([id, label]) =>
          field(id, `${label} in a day`, id === 'costUsd' ? 'decimal' : 'numeric'),
        )}
      </div>
      {problem === '' ? null : (
        <p class="tone-bad" role="alert">
          {problem}
        </p>
      )}
    </ActionDialog>
  );
}
