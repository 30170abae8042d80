/**
 * The part of Standard Schema that is used here, so that zod, valibot, arktype and others work
 * without a package: https://standardschema.dev, interfaces `StandardSchemaV1` (version 1) and
 * `StandardJSONSchemaV1` (its `jsonSchema` member, which zod has from 4.2 on).
 */

/** Where an issue lies: a key, or an object that holds one. */
export type StandardPathSegment = PropertyKey | { readonly key: PropertyKey };

/** One thing that a schema's own check found. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly StandardPathSegment[] | undefined;
}

/** What a schema's own check returns: a value, or issues. */
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

/** Whether `value` is a schema object that follows the standard; arktype's are functions. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  const standard: unknown = (value as { readonly '~standard'?: unknown })['~standard'];
  return typeof standard === 'object' && standard !== null && 'validate' in standard;
}
