/** The form by which a person answers a tool, or the server of one: a field for each that it asks for. */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { isJsonObject, type Json, type JsonObject } from '../../../core/base/json.ts';
import type { InboxRow } from '../../api.ts';
import { readField, SchemaField } from '../parts/schema-field.tsx';
import { Plain } from '../parts/words.tsx';

/** What the form asks for. */
export interface AnswerFormProps {
  readonly form: JsonObject;
  readonly isOff: boolean;
  readonly onSend: (value: Json) => void;
}

/** The form of an item that is answered by one; undefined: it is answered in words. */
export function formOf({ item }: InboxRow): JsonObject | undefined {
  if (item.kind !== 'question' || !isJsonObject(item.details)) return undefined;
  const { tool, form } = item.details;
  if (tool === undefined || !isJsonObject(form) || !isJsonObject(form['properties']))
    return undefined;
  return form;
}

/** Who asks by the form: `ops, deploy asks`, for a tool of a server. */
export function Asker({ row: { item } }: { readonly row: InboxRow }): JSX.Element {
  const details = item.kind === 'question' && isJsonObject(item.details) ? item.details : {};
  const names = [details['server'], details['tool']].filter((name) => typeof name === 'string');
  return (
    <p class="muted">
      <Plain text={`${names.join(', ')} asks`} />
    </p>
  );
}

/** A form for one answer. */
export function AnswerForm({ form, isOff, onSend }: AnswerFormProps): JSX.Element {
  const texts = useSignal<ReadonlyMap<string, string>>(new Map());
  const fields = Object.entries((form['properties'] ?? {}) as Readonly<Record<string, JsonObject>>);
  const required = Array.isArray(form['required']) ? form['required'] : [];
  const textOf = (name: string): string => texts.value.get(name) ?? '';
  const read = readAnswer(fields, textOf);
  return (
    <form
      class="edit"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isOff && read.problem === '') onSend(read.value);
      }}
    >
      {fields.map(([name, schema]) => (
        <SchemaField
          key={name}
          name={name}
          schema={schema}
          isRequired={required.includes(name)}
          text={textOf(name)}
          onText={(text) => (texts.value = new Map([...texts.value, [name, text]]))}
        />
      ))}
      {read.problem === '' ? null : (
        <p class="tone-bad" role="alert">
          <Plain text={read.problem} />
        </p>
      )}
      <div class="acts">
        <button type="submit" class="btn primary" disabled={isOff || read.problem !== ''}>
          Answer
        </button>
        <button
          type="button"
          class="btn"
          disabled={isOff}
          onClick={() => onSend({ decline: true })}
        >
          Decline
        </button>
      </div>
    </form>
  );
}

/** The fields that have a text; the run checks them, and knows the defaults of the others. */
function readAnswer(
  fields: readonly (readonly [string, JsonObject])[],
  textOf: (name: string) => string,
): { readonly value: JsonObject; readonly problem: string } {
  const read: [string, Json][] = [];
  for (const [name, schema] of fields) {
    const text = textOf(name);
    if (text === '') continue;
    const found = readField(name, schema, text);
    if ('problem' in found) return { value: {}, problem: found.problem };
    read.push([name, found.value]);
  }
  // Not by assignment: a field may be named `__proto__`.
  return { value: Object.fromEntries(read), problem: '' };
}
