/**
 * The part of Standard Schema (https://standardschema.dev) that is used here, so that zod, valibot,
 * arktype and others work without a dependency: the interfaces `StandardSchemaV1` (version 1) and
 * `StandardJSONSchemaV1` (its member `jsonSchema`, which zod has since 4.2).
 */

/** A part of the path of an issue: a key, or an object with one. */
export type StandardPathSegment = PropertyKey | { readonly key: PropertyKey };

/** One error of a schema's own check. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly StandardPathSegment[] | undefined;
}

/** The result of a schema's own check: a value, or issues. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** A schema object of any library that follows the standard. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema?:
      | {
          readonly input: (options: { readonly target: 'draft-2020-12' }) => {
            readonly [key: string]: unknown;
          };
        }
      | undefined;
  };
}

/** Whether `value` follows the standard; it may be a function, as with arktype. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  const standard: unknown = (value as { readonly '~standard'?: unknown })['~standard'];
  return typeof standard === 'object' && standard !== null && 'validate' in standard;
}
