/** Checks a value against a schema, as the spec orders it: coercion, defaults, ajv, the library. */
import type { Json } from '../core/json.ts';
import { checkJson, type SchemaError } from './schema.ts';
import type { StandardIssue } from './standard-schema.ts';
import type { ValueSchema } from './value-schema.ts';

/** A value that fits, as it should arrive, or a line for each problem. */
export type Fit =
  /** What a schema library returned need not be JSON: it may make a Date of a text. */
  | { readonly kind: 'fits'; readonly value: unknown }
  | { readonly kind: 'unfit'; readonly lines: readonly string[] };

/** Rejects only when the schema library itself throws. */
export async function fitValue(schema: ValueSchema, given: Json): Promise<Fit> {
  const { errors, value } = checkJson(schema.json, given);
  if (errors.length > 0) return { kind: 'unfit', lines: errors.map(line) };
  if (schema.standard === null) return { kind: 'fits', value };
  const result = await schema.standard['~standard'].validate(value);
  if (result.issues === undefined) return { kind: 'fits', value: result.value };
  return { kind: 'unfit', lines: result.issues.map(issueLine) };
}

function line(error: SchemaError): string {
  return `${error.instancePath}: does not fit (${error.keyword})`;
}

function issueLine(issue: StandardIssue): string {
  return `(value): ${issue.message}`;
}
