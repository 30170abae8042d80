/**
 * Edits the arguments of a call: a field for each, and for each that its schema also has; shows what
 * changes.
 */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { Json, JsonObject } from '../../../core/base/json.ts';
import { OpenForm } from '../parts/open-form.tsx';
import { choicesOf, Problem, readField, SchemaControl } from '../parts/schema-field.tsx';
import { Plain } from '../parts/words.tsx';

/** What the form edits. */
export interface EditArgumentsProps {
  readonly args: JsonObject;
  /** Of the arguments; undefined: it is not known. */
  readonly schema: Json | undefined;
  readonly isOff: boolean;
  readonly onBack: () => void;
  readonly onSend: (args: JsonObject) => void;
}

/** One argument. */
interface Field {
  readonly name: string;
  /** As the call has it; undefined: it leaves it out. */
  readonly value: Json | undefined;
  /** The text of `value`; empty: it is left out. */
  readonly before: string;
  /** By which it is shown and read. */
  readonly schema: JsonObject;
}

/** A form for `args`. */
export function EditArguments(props: EditArgumentsProps): JSX.Element {
  const { args, schema, isOff, onBack, onSend } = props;
  const texts = useSignal<ReadonlyMap<string, string>>(new Map());
  const fields = fieldsOf(args, schema);
  const textOf = ({ name, before }: Field): string => texts.value.get(name) ?? before;
  const read = readTexts(fields, textOf);
  const changed = fields.filter((field) => textOf(field) !== field.before);
  return (
    <OpenForm
      class="edit"
      onBack={onBack}
      onSubmit={() => {
        if (!isOff && read.problem === '' && changed.length > 0) onSend(read.args);
      }}
    >
      {fields.map((field) => (
        <label class="field" key={field.name}>
          <span class="mono">
            <Plain text={field.name} />
            {field.value === undefined ? <span class="faint"> left out</span> : null}
          </span>
          <SchemaControl
            schema={field.schema}
            isRequired={field.value !== undefined && field.schema['type'] !== undefined}
            text={textOf(field)}
            hasLines={field.before.includes('\n')}
            onText={(text) => (texts.value = new Map([...texts.value, [field.name, text]]))}
          />
        </label>
      ))}
      <Changes fields={changed} textOf={textOf} />
      <Problem text={read.problem} />
      <div class="acts">
        <button
          type="submit"
          class="btn primary"
          disabled={isOff || read.problem !== '' || changed.length === 0}
        >
          Approve with changes
        </button>
        <button type="button" class="btn" onClick={onBack}>
          Back
        </button>
      </div>
    </OpenForm>
  );
}

interface ChangesProps {
  readonly fields: readonly Field[];
  readonly textOf: (field: Field) => string;
}

function Changes({ fields, textOf }: ChangesProps): JSX.Element | null {
  if (fields.length === 0) return null;
  return (
    <pre class="diff" aria-label="What changes">
      {fields.map((field) => (
        <span key={field.name}>
          {field.value === undefined ? null : (
            <del>
              - <Plain text={field.name} />: <Plain text={field.before} />
            </del>
          )}
          <ins>
            + <Plain text={field.name} />: <Plain text={textOf(field)} />
          </ins>
        </span>
      ))}
    </pre>
  );
}

/** The arguments that the call has, then those that its schema has besides. */
function fieldsOf(args: JsonObject, schema: Json | undefined): readonly Field[] {
  const properties = (schema as JsonObject | undefined)?.['properties'];
  const known = new Map(Object.entries((properties ?? {}) as Readonly<Record<string, JsonObject>>));
  const given = new Map(Object.entries(args));
  return [...new Set([...given.keys(), ...known.keys()])].map((name) => {
    const value = given.get(name);
    const before = fieldText(value);
    return { name, value, before, schema: schemaOf(value, before, known.get(name) ?? {}) };
  });
}

/** What the schema says, where the call left it out or chose; else what its value is. */
function schemaOf(value: Json | undefined, before: string, schema: JsonObject): JsonObject {
  if (value === undefined || choicesOf(schema)?.includes(before) === true) return schema;
  return typeof value === 'string' ? {} : { type: typeof value };
}

function fieldText(value: Json | undefined): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

/** A value that was not touched stays as it is. */
function readTexts(
  fields: readonly Field[],
  textOf: (field: Field) => string,
): { readonly args: JsonObject; readonly problem: string } {
  const read: [string, Json][] = [];
  for (const field of fields) {
    const { name, value, before } = field;
    const text = textOf(field);
    if (text === before) {
      if (value !== undefined) read.push([name, value]);
      continue;
    }
    const found = readField(name, field.schema, text);
    if ('problem' in found) return { args: {}, problem: found.problem };
    read.push([name, found.value]);
  }
  // Not by assignment: an argument may be named `__proto__`.
  return { args: Object.fromEntries(read), problem: '' };
}
