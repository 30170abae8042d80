/**
 * Keywords of the validator whose work is counted. A check of a schema spends steps: one for each
 * schema that is tried on a value, and more for what a keyword reads. When they have ended, the
 * check ends with an `OutOfSteps`, so that no value holds a worker, whatever its schema refers to.
 */
import { _, type Ajv2020, type FuncKeywordDefinition } from 'ajv/dist/2020.js';
import { canonicalJson, isJsonObject, type Json, type JsonObject } from '../../core/base/json.ts';
import { spendSteps, type StepBudget } from '../pattern/pattern.ts';
import { SCHEMA_MAPS } from './subschemas.ts';

/** In each schema of a counted schema: the keyword that counts. */
const COUNTED = 'x-everloop-counted';

/** Keywords whose values are data, not schemas. */
export const DATA_KEYWORDS: readonly string[] = ['default', 'const', 'enum', 'examples'];

/** Keywords that read a text to its end; patterns count their own steps. */
const TEXT_KEYWORDS: readonly string[] = ['minLength', 'maxLength', 'format'];

/** Keywords that walk all keys of an object. */
const KEY_KEYWORDS: readonly string[] = [
  'additionalProperties',
  'patternProperties',
  'propertyNames',
  'unevaluatedProperties',
  'minProperties',
  'maxProperties',
];

/** Keywords with a list of names or a map by name, each of which is looked for. */
const NAME_KEYWORDS: readonly string[] = [
  'required',
  'properties',
  'dependentRequired',
  'dependentSchemas',
  'dependencies',
];

/** `schema` with the counting keyword in each schema inside it, wherever a reference may lead. */
export function countedSchema(schema: JsonObject): JsonObject {
  const entries = Object.entries(schema).map(([keyword, value]): readonly [string, Json] => {
    if (DATA_KEYWORDS.includes(keyword)) return [keyword, value];
    if (!SCHEMA_MAPS.includes(keyword) || !isJsonObject(value)) return [keyword, counted(value)];
    const parts = Object.entries(value).map(([name, part]) => [name, counted(part)]);
    return [keyword, Object.fromEntries(parts) as Json];
  });
  return Object.fromEntries([...entries, [COUNTED, true]]) as JsonObject;
}

function counted(value: Json): Json {
  if (Array.isArray(value)) return value.map(counted);
  return isJsonObject(value) ? countedSchema(value) : value;
}

/** Adds the counting keyword, and keywords in place of those that compare all values with all. */
export function addCountedKeywords(ajv: Ajv2020, budget: StepBudget): void {
  ajv.addKeyword(countingKeyword(budget));
  ajv.removeKeyword('enum').addKeyword(enumKeyword(budget));
  ajv.removeKeyword('uniqueItems').addKeyword(uniqueKeyword(budget));
}

function countingKeyword(budget: StepBudget): FuncKeywordDefinition {
  return {
    keyword: COUNTED,
    // Not `valid: true`: then ajv leaves the call out, since nothing reads its result.
    errors: false,
    compile: (_value: unknown, parent: JsonObject) => {
      const names = NAME_KEYWORDS.reduce((sum, keyword) => sum + namesIn(parent[keyword]), 0);
      const constant = parent['const'];
      const compared = typeof constant === 'object' ? canonicalJson(constant).length >> 3 : 0;
      const readsText = TEXT_KEYWORDS.some((keyword) => Object.hasOwn(parent, keyword));
      const walksKeys = KEY_KEYWORDS.some((keyword) => Object.hasOwn(parent, keyword));
      const perKey = 1 + namesIn(parent['patternProperties']);
      return (data: Json) => {
        let steps = 1 + names + compared;
        if (readsText && typeof data === 'string') steps += data.length >> 4;
        else if (walksKeys && isJsonObject(data)) steps += 4 * perKey * Object.keys(data).length;
        spendSteps(budget, steps);
        return true;
      };
    },
  };
}

function namesIn(value: Json | undefined): number {
  if (Array.isArray(value)) return value.length;
  return value !== undefined && isJsonObject(value) ? Object.keys(value).length : 0;
}

/** `enum`, which compares with each value in turn in ajv. */
function enumKeyword(budget: StepBudget): FuncKeywordDefinition {
  return {
    keyword: 'enum',
    schemaType: 'array',
    errors: false,
    error: {
      message: 'must be equal to one of the allowed values',
      params: ({ schemaCode }) => _`{allowedValues: ${schemaCode}}`,
    },
    compile: (allowed: readonly Json[]) => {
      const texts = new Set(allowed.map(canonicalJson));
      const hasObjects = allowed.some((value) => typeof value === 'object' && value !== null);
      return (data: Json) => {
        if (typeof data === 'object' && data !== null && !hasObjects) return false;
        return texts.has(countedText(data, budget));
      };
    },
  };
}

/** A check that leaves its errors in a property of its own, as ajv reads them. */
interface ItemCheck {
  (items: readonly Json[]): boolean;
  errors?: { readonly keyword: string; readonly params: JsonObject }[];
}

/** `uniqueItems`, which compares each item with all others in ajv. */
function uniqueKeyword(budget: StepBudget): FuncKeywordDefinition {
  return {
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    errors: true,
    compile: (isAsked: boolean) => {
      const check: ItemCheck = (items: readonly Json[]) => {
        const places = new Map<string, number>();
        for (const [i, item] of isAsked ? items.entries() : []) {
          const text = countedText(item, budget);
          const j = places.get(text);
          if (j !== undefined) {
            check.errors = [{ keyword: 'uniqueItems', params: { i, j } }];
            return false;
          }
          places.set(text, i);
        }
        return true;
      };
      return check;
    },
  };
}

function countedText(value: Json, budget: StepBudget): string {
  const text = canonicalJson(value);
  spendSteps(budget, 1 + (text.length >> 4));
  return text;
}
