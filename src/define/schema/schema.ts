/**
 * JSON Schema by ajv: draft 2020-12, all errors, formats asserted. Compiled once per schema object
 * and once per equal schema; ajv's own errors never leave this file, its texts change between
 * versions.
 */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { errorText } from '../../core/base/error-text.ts';
import { canonicalJson, type Json, type JsonObject } from '../../core/base/json.ts';
import { isIsoDuration, isIsoTime } from '../../core/section/coerce.ts';
import { utcOf } from '../../core/signature/align-value.ts';
import { DATETIME_FORMAT } from '../../core/signature/json-schema.ts';

/** The most schemas that stay compiled; a worker has one per tool, answer and section. */
export const MAX_COMPILED_SCHEMAS = 1_000;

/** Decimals in which the quotient of a `multipleOf` may differ from a whole number. */
const MULTIPLE_PRECISION = 6;

/** One thing that ajv found. */
export type SchemaError = ErrorObject;

type Compiled =
  | { readonly kind: 'check'; readonly check: ValidateFunction }
  | { readonly kind: 'broken'; readonly cause: string };

/** By identity: definitions keep their schema objects, so this finds nearly all. */
const byObject = new WeakMap<JsonObject, Compiled>();

/** By canonical text, oldest first: equal schemas of several definitions are compiled once. */
const byText = new Map<string, Compiled>();

/** Why `schema` does not compile, in ajv's words, or undefined when it does. For programmers only. */
export function schemaProblem(schema: JsonObject): string | undefined {
  const compiled = compile(schema);
  return compiled.kind === 'broken' ? compiled.cause : undefined;
}

/**
 * What ajv has against `value`, and `value` with the schema's `default`s filled in. The value
 * given is not changed. Throws when the schema does not compile: definitions have checked that.
 */
export function checkJson(
  schema: JsonObject,
  value: Json,
): { readonly errors: readonly SchemaError[]; readonly value: Json } {
  const compiled = compile(schema);
  if (compiled.kind === 'broken') {
    throw new Error(`Expected a schema that compiles, got one that does not: ${compiled.cause}.`);
  }
  const copy = structuredClone(value) as Json;
  compiled.check(copy);
  return { errors: compiled.check.errors ?? [], value: copy };
}

function compile(schema: JsonObject): Compiled {
  const known = byObject.get(schema);
  if (known !== undefined) return known;
  // Key order matters to nobody here, so equal schemas share one function.
  const text = canonicalJson(schema);
  const equal = byText.get(text) ?? compileNew(schema);
  byText.delete(text);
  byText.set(text, equal);
  if (byText.size > MAX_COMPILED_SCHEMAS) {
    for (const oldest of byText.keys()) {
      byText.delete(oldest);
      break;
    }
  }
  byObject.set(schema, equal);
  return equal;
}

function compileNew(schema: JsonObject): Compiled {
  const ajv = newAjv();
  try {
    return { kind: 'check', check: ajv.compile(schema) };
  } catch (error) {
    const cause = errorText(error);
    return { kind: 'broken', cause: cause.replace(/\.$/, '') };
  }
}

/**
 * One instance per schema: an instance keeps what it compiled for ever and refuses a second
 * schema with the same `$id`. An instance costs about 10 ms.
 */
function newAjv(): Ajv2020 {
  const ajv = new Ajv2020({
    allErrors: true,
    // Schemas of users and of libraries carry keywords of their own.
    strict: false,
    useDefaults: true,
    // The schema and the value beside each error: lines for the model are made of them.
    verbose: true,
    // 79.99 is a multiple of 0.01, though its quotient as a double is 7998.999999999999.
    multipleOfPrecision: MULTIPLE_PRECISION,
    logger: false,
  });
  formats.default(ajv);
  // The form that coercion writes: with a sign and fractions, which RFC 3339 has not.
  ajv.addFormat('duration', isIsoDuration);
  // RFC 3339 demands a zone, which the times of libraries and of people do not have.
  ajv.addFormat('time', isIsoTime);
  ajv.addFormat(DATETIME_FORMAT, (text: string) => utcOf(text) !== undefined);
  return ajv;
}
