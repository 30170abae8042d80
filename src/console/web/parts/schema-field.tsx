/** One field of a form that is made from a schema, and what its text means. */
import type { JSX } from 'preact';
import type { Json, JsonObject } from '../../../core/base/json.ts';
import { Plain } from './words.tsx';

/** A field and its text. */
export interface SchemaFieldProps {
  readonly name: string;
  readonly schema: JsonObject;
  readonly isRequired: boolean;
  readonly text: string;
  readonly onText: (text: string) => void;
}

/** A field for `schema`: a choice, a number, a line, or JSON for what is nested. */
export function SchemaField(props: SchemaFieldProps): JSX.Element {
  const { name, schema, isRequired } = props;
  const hint = typeof schema['description'] === 'string' ? schema['description'] : '';
  return (
    <label class="field">
      <span class="mono">
        <Plain text={name} />
        {isRequired ? null : <span class="faint"> optional</span>}
      </span>
      <SchemaControl {...props} />
      {hint === '' ? null : (
        <span class="hint">
          <Plain text={hint} />
        </span>
      )}
    </label>
  );
}

/** Why the texts of a form cannot be read; nothing if they can. */
export function Problem({ text }: { readonly text: string }): JSX.Element | null {
  if (text === '') return null;
  return (
    <p class="tone-bad" role="alert">
      <Plain text={text} />
    </p>
  );
}

/** What takes the text of a field. */
export interface SchemaControlProps extends Pick<
  SchemaFieldProps,
  'schema' | 'isRequired' | 'text' | 'onText'
> {
  /** The text has several lines, which a field of one line would join. */
  readonly hasLines?: boolean;
}

/** The control of a field. */
export function SchemaControl(props: SchemaControlProps): JSX.Element {
  const { schema, isRequired, text, onText, hasLines = false } = props;
  const choices = choicesOf(schema);
  if (choices !== null) {
    return (
      <select value={text} required={isRequired} onChange={(e) => onText(e.currentTarget.value)}>
        <option value="">{isRequired ? 'Choose' : 'Leave out'}</option>
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {choice}
          </option>
        ))}
      </select>
    );
  }
  const shared = { class: 'mono', value: text, required: isRequired };
  if (isNested(schema) || hasLines) {
    return (
      <textarea
        {...shared}
        placeholder={schema['type'] === 'array' ? '[ ]' : '{ }'}
        onInput={(event) => onText(event.currentTarget.value)}
      />
    );
  }
  return (
    <input
      {...shared}
      inputMode={isNumber(schema) ? 'decimal' : 'text'}
      onInput={(event) => onText(event.currentTarget.value)}
    />
  );
}

/** The value of a field, or why its text is none. */
export function readField(
  name: string,
  schema: JsonObject,
  text: string,
): { readonly value: Json } | { readonly problem: string } {
  const choice = (schema['enum'] as readonly Json[] | undefined)?.find(
    (one) => choiceText(one) === text,
  );
  if (choice !== undefined) return { value: choice };
  if (schema['type'] === 'boolean') return { value: text === 'true' };
  if (isNumber(schema)) {
    const value = Number(text);
    if (Number.isFinite(value)) return { value };
    return { problem: `Expected a number in ${name}, got ${text}.` };
  }
  if (!isNested(schema)) return { value: text };
  try {
    return { value: JSON.parse(text) as Json };
  } catch {
    return { problem: `Expected JSON in ${name}, got ${text.slice(0, 80)}.` };
  }
}

/** What may be chosen for `schema`, as texts; null: it is no choice. */
export function choicesOf(schema: JsonObject): readonly string[] | null {
  if (Array.isArray(schema['enum'])) return (schema['enum'] as readonly Json[]).map(choiceText);
  return schema['type'] === 'boolean' ? ['true', 'false'] : null;
}

function choiceText(choice: Json): string {
  return typeof choice === 'string' ? choice : JSON.stringify(choice);
}

function isNumber(schema: JsonObject): boolean {
  return schema['type'] === 'number' || schema['type'] === 'integer';
}

/** A schema without a type may be anything, so its field takes text. */
function isNested(schema: JsonObject): boolean {
  return schema['type'] === 'object' || schema['type'] === 'array';
}
