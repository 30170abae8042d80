/**
 * JSON Schema by ajv: draft 2020-12, all errors, formats asserted. Equal schemas are compiled once.
 * Messages of ajv are for programmers only, because they change between versions.
 */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { LRUCache } from 'lru-cache';
import { errorText } from '../../core/base/error-text.ts';
import { canonicalJson, type Json, type JsonObject } from '../../core/base/json.ts';
import { isIsoDuration, isIsoTime } from '../../core/section/coerce.ts';
import { utcOf } from '../../core/signature/align-value.ts';
import { DATETIME_FORMAT } from '../../core/signature/json-schema.ts';

/** The most schemas that stay compiled; a worker has one per tool, answer and section. */
export const MAX_COMPILED_SCHEMAS = 1_000;

/** Decimals after which the quotient of a `multipleOf` may differ from a whole number. */
const MULTIPLE_PRECISION = 6;

/** One error of ajv. */
export type SchemaError = ErrorObject;

type Compiled =
  | { readonly kind: 'check'; readonly check: ValidateFunction }
  | { readonly kind: 'broken'; readonly cause: string };

/** By identity, which finds nearly all, because agents and tools keep their schema objects. */
const byObject = new WeakMap<JsonObject, Compiled>();

/** By canonical text, for equal schemas of several definitions. */
const byText = new LRUCache<string, Compiled>({ max: MAX_COMPILED_SCHEMAS });

/**
 * Why `schema` does not compile, in ajv's words, or undefined when it does. For programmers only.
 */
export function schemaProblem(schema: JsonObject): string | undefined {
  const compiled = compile(schema);
  return compiled.kind === 'broken' ? compiled.cause : undefined;
}

/**
 * The errors of `value`, and a copy of it with the schema's `default`s filled in. Throws when the
 * schema does not compile; this was checked when the agent or tool was defined.
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
  // The order of keys does not matter, so equal schemas share one function.
  const text = canonicalJson(schema);
  const equal = byText.get(text) ?? compileNew(schema);
  byText.set(text, equal);
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
 * A new instance for each schema, because an instance never frees what it compiled and refuses a
 * second schema with the same `$id`. It costs about 10 ms.
 */
function newAjv(): Ajv2020 {
  const ajv = new Ajv2020({
    allErrors: true,
    // Schemas of users and libraries may have keywords of their own.
    strict: false,
    useDefaults: true,
    // Adds schema and value to each error; the lines for the model need them.
    verbose: true,
    // 79.99 is a multiple of 0.01, though its quotient as a double is 7998.999999999999.
    multipleOfPrecision: MULTIPLE_PRECISION,
    logger: false,
  });
  formats.default(ajv);
  // The form that coercion writes, with a sign and fractions, which RFC 3339 does not allow.
  ajv.addFormat('duration', isIsoDuration);
  // RFC 3339 requires a zone, which times of libraries and people often lack.
  ajv.addFormat('time', isIsoTime);
  ajv.addFormat(DATETIME_FORMAT, (text: string) => utcOf(text) !== undefined);
  return ajv;
}
