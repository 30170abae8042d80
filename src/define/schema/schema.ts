/**
 * JSON Schema by ajv: draft 2020-12, all errors, formats asserted. Equal schemas are compiled once.
 * Messages of ajv are for programmers only, because they change between versions.
 *
 * I1  A check ends after a bounded number of steps, whatever the schema and the value are: patterns
 *     and formats run on our own engine, and `keywords.ts` counts what is tried on the value.
 * I2  A verdict does not depend on time.
 */
import { Ajv2020, type ErrorObject, type Options, type ValidateFunction } from 'ajv/dist/2020.js';
import { LRUCache } from 'lru-cache';
import { errorText } from '../../core/base/error-text.ts';
import {
  canonicalJson,
  isDeeperThan,
  MAX_JSON_DEPTH,
  type Json,
  type JsonObject,
} from '../../core/base/json.ts';
import { compilePattern, OutOfSteps, type StepBudget } from '../pattern/pattern.ts';
import { PatternError } from '../pattern/pattern-tree.ts';
import { addFormats } from './formats.ts';
import { addCountedKeywords, countedSchema } from './keywords.ts';

/** The most schemas that stay compiled; a worker has one per tool, answer and section. */
export const MAX_COMPILED_SCHEMAS = 1_000;

/** Decimals after which the quotient of a `multipleOf` may differ from a whole number. */
const MULTIPLE_PRECISION = 6;

/** Steps of a check: some 100 ms. A value of 1 MB needs fewer, unless its schema is hostile. */
const MAX_STEPS = 2_000_000;

/** Steps of a check that collects all errors: each may leave one in memory. */
const MAX_STEPS_FOR_ALL = 100_000;

/** Characters of a schema as JSON; compiling takes some 100 ms for each 100,000. */
const MAX_SCHEMA_CHARACTERS = 500_000;

/** One error of ajv, or {@link STEPS_ENDED}. */
export type SchemaError = ErrorObject;

/** The keyword of the error of a value that takes more steps to check than it may. */
export const STEPS_ENDED = 'steps';

/** The check of a schema: the first error is found in few steps, all of them in many. */
interface Check {
  readonly first: MeteredCheck;
  /** Compiled when a value first does not fit. */
  readonly all: () => MeteredCheck;
}

/** Checks a value, which gets its defaults; undefined: the steps have ended. */
type MeteredCheck = (value: Json, steps: number) => readonly SchemaError[] | undefined;

type Compiled =
  | { readonly kind: 'check'; readonly check: Check }
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
 *
 * A value with very many errors gets the first alone.
 */
export function checkJson(
  schema: JsonObject,
  value: Json,
): { readonly errors: readonly SchemaError[]; readonly value: Json } {
  if (isDeeperThan(value, MAX_JSON_DEPTH)) return { errors: [stepsEnded(value)], value };
  const compiled = compile(schema);
  if (compiled.kind === 'broken') {
    throw new Error(`Expected a schema that compiles, got one that does not: ${compiled.cause}.`);
  }
  const { first, all } = compiled.check;
  const copy = structuredClone(value) as Json;
  const found = first(copy, MAX_STEPS);
  if (found === undefined) return { errors: [stepsEnded(value)], value };
  if (found.length === 0) return { errors: [], value: copy };
  const whole = structuredClone(value) as Json;
  const errors = all()(whole, MAX_STEPS_FOR_ALL);
  return errors === undefined ? { errors: found, value: copy } : { errors, value: whole };
}

function stepsEnded(data: Json): SchemaError {
  return { keyword: STEPS_ENDED, instancePath: '', schemaPath: '#', params: {}, data };
}

function compile(schema: JsonObject): Compiled {
  const known = byObject.get(schema);
  if (known !== undefined) return known;
  if (isDeeperThan(schema, MAX_JSON_DEPTH)) {
    return { kind: 'broken', cause: `expected a schema of at most ${MAX_JSON_DEPTH} levels` };
  }
  // The order of keys does not matter, so equal schemas share one function.
  const text = canonicalJson(schema);
  if (text.length > MAX_SCHEMA_CHARACTERS) {
    const most = `expected a schema of at most ${MAX_SCHEMA_CHARACTERS} characters`;
    return { kind: 'broken', cause: `${most}, got one of ${text.length}` };
  }
  const equal = byText.get(text) ?? compileNew(schema);
  byText.set(text, equal);
  byObject.set(schema, equal);
  return equal;
}

function compileNew(schema: JsonObject): Compiled {
  try {
    const first = meteredCheck(schema, false);
    let whole: MeteredCheck | undefined;
    const all = (): MeteredCheck => (whole ??= meteredCheck(schema, true));
    return { kind: 'check', check: { first, all } };
  } catch (error) {
    const cause = error instanceof PatternError ? `expected ${error.message}` : errorText(error);
    return { kind: 'broken', cause: cause.replace(/\.$/, '') };
  }
}

function meteredCheck(schema: JsonObject, allErrors: boolean): MeteredCheck {
  // Schemas of schemas are checked with this budget, too, before there is a value.
  const budget: StepBudget = { left: Number.POSITIVE_INFINITY };
  const check: ValidateFunction = newAjv(allErrors, budget).compile(countedSchema(schema));
  return (value, steps) => {
    budget.left = steps;
    try {
      check(value);
      return check.errors ?? [];
    } catch (error) {
      // References that lead to themselves without a value in between end the stack.
      if (error instanceof OutOfSteps || error instanceof RangeError) return undefined;
      throw error;
    } finally {
      check.errors = null;
    }
  };
}

/**
 * A new instance for each schema, because an instance never frees what it compiled and refuses a
 * second schema with the same `$id`. It costs about 10 ms.
 */
function newAjv(allErrors: boolean, budget: StepBudget): Ajv2020 {
  const ajv = new Ajv2020({
    allErrors,
    // Schemas of users and libraries may have keywords of their own.
    strict: false,
    useDefaults: true,
    // Adds schema and value to each error; the lines for the model need them.
    verbose: true,
    // 79.99 is a multiple of 0.01, though its quotient as a double is 7998.999999999999.
    multipleOfPrecision: MULTIPLE_PRECISION,
    logger: false,
    code: { regExp: patternEngine(budget) },
  });
  addCountedKeywords(ajv, budget);
  addFormats(ajv, budget);
  return ajv;
}

/** The engine of `pattern` and `patternProperties`. V8 only says whether a pattern is one. */
function patternEngine(budget: StepBudget): RegExpEngine {
  const engine = (source: string, flags: string): RegExpLike => {
    const native = new RegExp(source, flags);
    const matches = compilePattern(source);
    // Ajv keeps one engine for each text of it.
    const name = String(native);
    return Object.assign(Object.create({ toString: () => name }) as object, {
      test: (text: string) => matches(text, budget),
    });
  };
  return Object.assign(engine, { code: 'everloopPattern' });
}

type RegExpEngine = NonNullable<NonNullable<Options['code']>['regExp']>;
type RegExpLike = ReturnType<RegExpEngine>;
