/** Checks a value against a schema, in this order: coercion, defaults, ajv, the schema library. */
import {
  isDeeperThan,
  isJsonObject,
  MAX_JSON_DEPTH,
  type Json,
  type JsonObject,
} from '../core/base/json.ts';
import { coerce } from '../core/section/coerce.ts';
import { OPTIONAL_KEYWORD } from '../core/signature/json-schema.ts';
import {
  pathOfPointer,
  problemLines,
  type PathSegment,
  type Violation,
} from '../core/section/problem-lines.ts';
import { checkJson, STEPS_ENDED, type SchemaError } from '../define/schema/schema.ts';
import type { StandardIssue } from '../define/schema/standard-schema.ts';
import type { ValueSchema } from '../define/schema/value-schema.ts';
import { cutOff } from './cut-off.ts';

/** A value that fits, with coercions and defaults applied, or a line for each problem. */
export type Fit =
  /** Need not be JSON: a schema library may turn a text into a Date. */
  | { readonly kind: 'fits'; readonly value: unknown }
  | { readonly kind: 'unfit'; readonly lines: readonly string[] };

/**
 * Maximum number of errors that are read. A list of 40,000 wrong items has more, but the model gets
 * 20 lines, and errors inside a union are compared with each other.
 */
const MAX_VIOLATIONS = 1_000;

/** Rejects only when the schema library itself throws. */
export async function fitValue(schema: ValueSchema, given: Json): Promise<Fit> {
  const checked = checkJson(schema.json, coerceFlat(given, schema.json));
  const { value } = checked;
  const lines = linesOf(checked.errors, value);
  if (lines.length > 0) return { kind: 'unfit', lines };
  const { standard } = schema;
  if (standard === null) return { kind: 'fits', value };
  const begun = cutOff(() => standard['~standard'].validate(value));
  if (begun === undefined) return { kind: 'unfit', lines: problemLines([TOO_SLOW]) };
  const result = await begun.result;
  if (result.issues === undefined) return { kind: 'fits', value: result.value };
  const issues = result.issues.slice(0, MAX_VIOLATIONS).map(issueViolation);
  return { kind: 'unfit', lines: problemLines(issues) };
}

/** The library's own check did not end. */
const TOO_SLOW: Violation = { path: [], keyword: STEPS_ENDED, params: {}, value: undefined };

/** A value that is nested too deep to be walked stays as it is; its check says so. */
function coerceFlat(value: Json, schema: JsonObject): Json {
  return isDeeperThan(value, MAX_JSON_DEPTH) ? value : coerce(value, schema);
}

/** A line for each error of `value` against a JSON Schema, without coercion. */
export function schemaLines(schema: JsonObject, value: Json): readonly string[] {
  return linesOf(checkJson(schema, value).errors, value);
}

/**
 * The errors of one property of an object by its JSON Schema. Keywords over several properties and
 * references at the root are not checked.
 */
export function propertyViolations(
  schema: JsonObject,
  name: string,
  value: Json,
): readonly Violation[] {
  if (JOINT_KEYWORDS.some((keyword) => Object.hasOwn(schema, keyword))) return [];
  const object = coerceFlat({ [name]: value }, schema);
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
  // With `verbose` each error has the value itself, which is a part of the JSON that was checked.
  const value = error.data as Json | undefined;
  return { path: pathOfPointer(error.instancePath, root), keyword, params, value, schemaPath };
}

/** The parameters of ajv's error, and further facts for the line. */
function paramsOf({ keyword, params, schema, parentSchema }: SchemaError): JsonObject {
  const given = params as JsonObject;
  switch (keyword) {
    case 'anyOf':
      return unionParams(schema);
    case 'oneOf':
      return { ...unionParams(schema), passing: lengthOf(given['passingSchemas']) };
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

/** The shapes of a union: how many, what marks each, and where a reference leads. */
function unionParams(schema: unknown): JsonObject {
  const shapes = Array.isArray(schema) ? (schema as readonly Json[]).slice(0, MAX_SHAPES) : [];
  const parts = shapes.map((shape): JsonObject => (isJsonObject(shape) ? shape : {}));
  const pointers = parts.map(({ $ref }) => (typeof $ref === 'string' ? $ref : ''));
  return { shapes: lengthOf(schema), labels: parts.map(labelOf), pointers };
}

/** Shapes of a union that are compared. */
const MAX_SHAPES = 64;

/** The marks of a shape: `type "circle"`. */
function labelOf({ properties, title, $ref }: JsonObject): string {
  const fields = Object.entries(isJsonObject(properties) ? properties : {});
  const marks = fields.flatMap(([name, field]) =>
    isJsonObject(field) && field['const'] !== undefined
      ? [`${name} ${JSON.stringify(field['const'])}`]
      : [],
  );
  if (marks.length > 0) return `the one with ${marks.join(' and ')}`;
  if (typeof title === 'string') return title;
  return typeof $ref === 'string' ? (/[^/]*$/.exec($ref)?.[0] ?? '') : '';
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
