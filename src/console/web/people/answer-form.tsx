/** The form by which a person answers a tool, or the server of one: a field for each that it asks for. */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { Json, JsonObject } from '../../../core/base/json.ts';
import type { InboxRow } from '../../api.ts';
import { Problem, readField, SchemaField } from '../parts/schema-field.tsx';
import { Plain } from '../parts/words.tsx';

/** What the form asks for. */
export interface AnswerFormProps {
  readonly form: JsonObject;
  readonly isOff: boolean;
  readonly onSend: (value: Json) => void;
}

/** The form of an item that is answered by one; undefined: it is answered in words. */
export function formOf(row: InboxRow): JsonObject | undefined {
  const { tool, form } = detailsOf(row);
  const isForm = tool !== undefined && Object(form)['properties'] instanceof Object;
  return isForm ? (form as JsonObject) : undefined;
}

function detailsOf({ item }: InboxRow): JsonObject {
  return Object(item.kind === 'question' ? item.details : {}) as JsonObject;
}

/** Who asks by the form: `ops deploy asks`, for a tool of a server. */
export function Asker({ row }: { readonly row: InboxRow }): JSX.Element {
  const { server = '', tool = '' } = detailsOf(row) as { server?: string; tool?: string };
  return (
    <p class="muted">
      <Plain text={`${server} ${tool} asks`} />
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
      <Problem text={read.problem} />
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
