/** Reads the signature of an agent: a text, or schemas for inputs and output. */
import { isJsonObject, isPlainObject, type Json, type JsonObject } from '../../core/base/json.ts';
import { describeFields, withDescriptions } from '../../core/signature/describe-output.ts';
import { toSignature } from '../../core/signature/from-json-schema.ts';
import { inputsSchema, validationSchema } from '../../core/signature/json-schema.ts';
import { explainSignature, parseSignature } from '../../core/signature/parse-signature.ts';
import { printSignature, printType } from '../../core/signature/print-signature.ts';
import {
  fieldsWithin,
  hiddenFields,
  type SignatureField,
  type SignatureType,
} from '../../core/contract/signature.ts';
import { shown } from '../../core/text/shown.ts';
import type { UsageProblem } from '../../core/base/usage-error.ts';
import { expected } from '../checks/fields.ts';
import type { StandardSchema } from './standard-schema.ts';
import { readSchema, type SchemaInput, type ValueSchema } from './value-schema.ts';

/** A signature as a user gives it: its text, or schemas. */
export type SignatureInput =
  | string
  | {
      /** The schema of the context; must describe an object. Default: no parameters. */
      readonly input?: SchemaInput;
      /** The schema of the answer. Default: any answer. */
      readonly output?: SchemaInput;
    };

/** A signature that was read. */
export interface DefinedSignature {
  /** In its printed form. */
  readonly text: string;
  readonly params: readonly SignatureField[];
  /** Full JSON Schema of the inputs. */
  readonly inputs: JsonObject;
  /** Null when the signature has no output. */
  readonly output: {
    readonly type: SignatureType;
    /** Full JSON Schema of the answer. */
    readonly schema: JsonObject;
    readonly standard: StandardSchema | null;
  } | null;
}

/** A signature, or its problems. */
export type SignatureDefinition =
  | { readonly kind: 'signature'; readonly signature: DefinedSignature }
  | { readonly kind: 'problems'; readonly problems: readonly UsageProblem[] };

/** Reads a signature; `descriptions` explain fields of the output by name. */
export function defineSignature(
  input: SignatureInput,
  descriptions: { readonly [name: string]: string } = {},
): SignatureDefinition {
  if (typeof input === 'string') return ofText(input, descriptions);
  if (!isPlainObject(input)) {
    const what = '`signature` to be a text or { input?, output? } with schemas';
    return { kind: 'problems', problems: [expected('bad_signature', what, shown(input))] };
  }
  return ofSchemas(input, descriptions);
}

function ofText(
  text: string,
  descriptions: { readonly [name: string]: string },
): SignatureDefinition {
  const reading = parseSignature(text);
  if (reading.kind === 'problem') {
    const message = explainSignature(reading);
    return { kind: 'problems', problems: [{ code: 'bad_signature', message }] };
  }
  const { params, output } = reading.signature;
  const type = withDescriptions(output, descriptions);
  const signature: DefinedSignature = {
    text: printSignature(reading.signature),
    params: describeFields(params, {}),
    inputs: inputsSchema(params),
    output: { type, schema: validationSchema(output), standard: null },
  };
  return { kind: 'signature', signature };
}

function ofSchemas(
  { input, output }: Exclude<SignatureInput, string>,
  descriptions: { readonly [name: string]: string },
): SignatureDefinition {
  const problems: UsageProblem[] = [];
  const read = (field: 'input' | 'output', schema: SchemaInput | undefined): ValueSchema | null => {
    if (schema === undefined) return null;
    const reading = readSchema(schema);
    if (reading.kind === 'schema') return reading.schema;
    const what = `\`signature.${field}\` to be a schema`;
    problems.push(expected('bad_signature', what, reading.got, reading.advice));
    return null;
  };
  const inputs = read('input', input);
  const answer = read('output', output);
  const given = inputs === null ? undefined : toSignature(inputs.json);
  if (given !== undefined && given.kind !== 'record' && given.kind !== 'map') {
    const what = '`signature.input` to be the schema of an object';
    const advice = 'Name the inputs as its properties.';
    problems.push(expected('bad_signature', what, 'another one', advice));
  }
  if (problems.length > 0) return { kind: 'problems', problems };
  const params = given === undefined ? [] : fieldsWithin(given);
  const type = answer === null ? null : withDescriptions(toSignature(answer.json), descriptions);
  const signature: DefinedSignature = {
    text:
      type === null
        ? `(${params.map((field) => `${field.name} ${printType(field.type)}`).join(', ')})`
        : printSignature({ params, output: type }),
    params,
    inputs: inputs?.json ?? inputsSchema([]),
    output:
      answer === null || type === null
        ? null
        : { type, schema: describedSchema(answer.json, descriptions), standard: answer.standard },
  };
  return { kind: 'signature', signature };
}

/** `schema` with `descriptions` of its fields, by path or by name; they replace its own. */
function describedSchema(
  schema: JsonObject,
  descriptions: { readonly [name: string]: string },
  path = '',
): JsonObject {
  if (Object.keys(descriptions).length === 0) return schema;
  const { properties, items } = schema;
  const said = new Map(Object.entries(descriptions));
  const fields = Object.entries(isJsonObject(properties) ? properties : {}).map(
    ([name, field]): readonly [string, Json] => {
      const place = path === '' ? name : `${path}.${name}`;
      const description = said.get(place) ?? said.get(name);
      if (!isJsonObject(field)) return [name, field];
      const inner = describedSchema(field, descriptions, place);
      return [name, description === undefined ? inner : { ...inner, description }];
    },
  );
  const next: { [keyword: string]: Json } = { ...schema };
  if (fields.length > 0) next['properties'] = Object.fromEntries(fields);
  if (isJsonObject(items)) next['items'] = describedSchema(items, descriptions, path);
  return next;
}

/** The names of the parameters of a signature; undefined when it cannot be read. */
export function paramNames(input: SignatureInput): readonly string[] | undefined {
  const defined = defineSignature(input);
  return defined.kind === 'signature'
    ? defined.signature.params.map(({ name }) => name)
    : undefined;
}

/** A problem when the signature has hidden fields; `place` names what does not allow them. */
export function hiddenFieldProblems(
  { params, output }: DefinedSignature,
  place: string,
  advice: string,
): readonly UsageProblem[] {
  const result = output === null ? [] : [{ name: 'output', type: output.type }];
  const names = hiddenFields([...params, ...result]).map((name) => `\`${name}\``);
  if (names.length === 0) return [];
  return [expected('hidden_field', `no hidden fields ${place}`, names.join(', '), advice)];
}
