/** Checks a value against a schema, as the spec orders it: coercion, defaults, ajv, the library. */
import type { Json, JsonObject } from '../core/base/json.ts';
import { isJsonObject } from '../core/base/json.ts';
import { coerce } from '../core/section/coerce.ts';
import { OPTIONAL_KEYWORD } from '../core/signature/json-schema.ts';
import {
  pathOfPointer,
  problemLines,
  type PathSegment,
  type Violation,
} from '../core/section/problem-lines.ts';
import { checkJson, type SchemaError } from '../define/schema/schema.ts';
import type { StandardIssue } from '../define/schema/standard-schema.ts';
import type { ValueSchema } from '../define/schema/value-schema.ts';

/** A value that fits, as it should arrive, or a line for each problem. */
export type Fit =
  /** What a schema library returned need not be JSON: it may make a Date of a text. */
  | { readonly kind: 'fits'; readonly value: unknown }
  | { readonly kind: 'unfit'; readonly lines: readonly string[] };

/**
 * Errors that are looked at. A list of 40,000 wrong items has more, and the model reads 20 lines;
 * what belongs inside a union is found by comparing errors with each other.
 */
const MAX_VIOLATIONS = 1_000;

/** Rejects only when the schema library itself throws. */
export async function fitValue(schema: ValueSchema, given: Json): Promise<Fit> {
  const checked = checkJson(schema.json, coerce(given, schema.json));
  const { value } = checked;
  const lines = linesOf(checked.errors, value);
  if (lines.length > 0) return { kind: 'unfit', lines };
  if (schema.standard === null) return { kind: 'fits', value };
  const result = await schema.standard['~standard'].validate(value);
  if (result.issues === undefined) return { kind: 'fits', value: result.value };
  const issues = result.issues.slice(0, MAX_VIOLATIONS).map(issueViolation);
  return { kind: 'unfit', lines: problemLines(issues) };
}

/** A line for each thing that a JSON Schema has against `value`, which is not coerced. */
export function schemaLines(schema: JsonObject, value: Json): readonly string[] {
  return linesOf(checkJson(schema, value).errors, value);
}

/**
 * What a JSON Schema of an object says of its property `name` with this value, whatever the others are:
 * what judges several together, or leads elsewhere at its root, is not looked at.
 */
export function propertyViolations(
  schema: JsonObject,
  name: string,
  value: Json,
): readonly Violation[] {
  if (JOINT_KEYWORDS.some((keyword) => Object.hasOwn(schema, keyword))) return [];
  const object = coerce({ [name]: value }, schema);
  return checkJson(schema, object)
    .errors.slice(0, MAX_VIOLATIONS)
    .map((error) => violationOf(error, object))
    .filter(({ path }) => path[0] === name);
}

const JOINT_KEYWORDS: readonly string[] = [
  '$ref',
  '$dynamicRef',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'dependentSchemas',
];

function linesOf(errors: readonly SchemaError[], value: Json): readonly string[] {
  if (errors.length === 0) return [];
  return problemLines(errors.slice(0, MAX_VIOLATIONS).map((error) => violationOf(error, value)));
}

function violationOf(error: SchemaError, root: Json): Violation {
  const { keyword, schemaPath } = error;
  const params = paramsOf(error);
  // With `verbose` ajv hands over the value itself, which is part of the JSON that was checked.
  const value = error.data as Json | undefined;
  return { path: pathOfPointer(error.instancePath, root), keyword, params, value, schemaPath };
}

/** ajv's parameters of an error, and what the lines say beyond them. */
function paramsOf({ keyword, params, schema, parentSchema }: SchemaError): JsonObject {
  const given = params as JsonObject;
  switch (keyword) {
    case 'anyOf':
      return { shapes: lengthOf(schema) };
    case 'oneOf':
      return { shapes: lengthOf(schema), passing: lengthOf(given['passingSchemas']) };
    case 'additionalProperties': {
      const properties = (parentSchema as JsonObject | undefined)?.['properties'];
      const names = isJsonObject(properties) ? Object.keys(properties) : [];
      return { ...given, properties: names };
    }
    case 'type': {
      const types = given['type'];
      const isOptional = (parentSchema as JsonObject | undefined)?.[OPTIONAL_KEYWORD] === true;
      if (!isOptional || !Array.isArray(types)) return given;
      return { ...given, type: types.filter((type) => type !== 'null') };
    }
    default:
      return given;
  }
}

function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}

function issueViolation(issue: StandardIssue): Violation {
  const path = (issue.path ?? []).map((segment): PathSegment => {
    const key = typeof segment === 'object' ? segment.key : segment;
    return typeof key === 'symbol' ? String(key) : key;
  });
  return { path, keyword: 'standard', params: { message: issue.message }, value: undefined };
}
