/**
 * What an answer has to be, as its model and its provider are told: the schema of its author. The
 * type of the signature is the short form that programs read. An output that was written as the
 * text of a signature is told by its type.
 */
import { canonicalJson, type Json, type JsonObject } from '../base/json.ts';
import { isHidden, type SignatureType } from '../contract/signature.ts';
import type { AnswerSpec } from '../contract/spec.ts';
import { readShape, type ShapeReading } from '../section/schema-shape.ts';
import { exampleJson, outputFormat, tellingExample } from './describe-output.ts';
import { jsonFieldLines, jsonTypeText } from './json-type-text.ts';
import { providerSchema, rootField, validationSchema } from './json-schema.ts';
import { wrappedRoot } from './root-schema.ts';
import { isTelling, shapeExample } from './shape-example.ts';

/** The parts of an answer's specification that say what it has to be. */
export type AnswerForm = Pick<AnswerSpec, 'output' | 'schema' | 'hasExample'>;

/** Models neither see hidden fields nor are asked for them. */
const shows = (name: string): boolean => !isHidden(name);

/** The type of an answer. */
export function outputOf({ output }: AnswerForm): SignatureType {
  return output ?? { kind: 'any' };
}

const inWords = new WeakMap<JsonObject, boolean>();

/** The schema of an answer's author; undefined if its type says all. */
export function ownSchema(form: AnswerForm): JsonObject | undefined {
  const { schema, hasExample } = form;
  if (schema === undefined || hasExample === false) return schema;
  const known =
    inWords.get(schema) ??
    canonicalJson(schema) === canonicalJson(validationSchema(outputOf(form)));
  inWords.set(schema, known);
  return known ? undefined : schema;
}

/** The schema of an answer for its provider; a root that is no object is the field of one. */
export function answerSchema(form: AnswerForm): JsonObject {
  const schema = ownSchema(form);
  if (schema === undefined) return providerSchema(outputOf(form));
  const field = rootField(outputOf(form));
  return field === null ? schema : wrappedRoot(schema, field);
}

/** The example of an answer that its model is shown; undefined: none fits the schema. */
export function answerExample(form: AnswerForm): Json | undefined {
  const { schema, hasExample } = form;
  if (schema === undefined || hasExample === false) return undefined;
  return shapeExample(readShape(schema), shows);
}

/** The example, if an answer hardly equals it by chance. */
export function tellingAnswer(form: AnswerForm): Json | undefined {
  const schema = ownSchema(form);
  if (schema === undefined) return tellingExample(outputOf(form));
  return isTelling(readShape(schema)) ? answerExample(form) : undefined;
}

/** How the JSON of an answer looks: an example in a fence, or its type if no example fits. */
export function answerJson(form: AnswerForm): string {
  const schema = ownSchema(form);
  if (schema === undefined) return fenced(exampleJson(outputOf(form)));
  const example = answerExample(form);
  if (example === undefined) return jsonTypeText(wrapped(form, schema).shape);
  const field = rootField(outputOf(form));
  return fenced(spaced(field === null ? example : { [field]: example }));
}

/** The prompt of an answer: `head`, how its JSON looks, and a line for each field. */
export function answerFormat(
  form: AnswerForm,
  head = 'Answer with one JSON object of this form:',
): string {
  const schema = ownSchema(form);
  if (schema === undefined) return outputFormat(outputOf(form), head);
  return [head, answerJson(form), ...jsonFieldLines(wrapped(form, schema), shows)].join('\n');
}

/** The lines on an answer that is no field of an object. */
export function answerLines(form: AnswerForm): readonly string[] {
  const schema = ownSchema(form);
  return schema === undefined ? [] : jsonFieldLines(readShape(schema), shows);
}

function wrapped(form: AnswerForm, schema: JsonObject): ShapeReading {
  const { shape, named } = readShape(schema);
  const name = rootField(outputOf(form));
  if (name === null) return { shape, named };
  return { shape: { kind: 'record', fields: [{ name, shape, isRequired: true }] }, named };
}

function fenced(text: string): string {
  return `\`\`\`json\n${text}\n\`\`\``;
}

/** JSON on one line with blanks, as people write it. */
function spaced(value: Json): string {
  if (Array.isArray(value)) return `[${value.map((item: Json) => spaced(item)).join(', ')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const fields = Object.entries(value as JsonObject).map(
    ([name, item]) => `${JSON.stringify(name)}: ${spaced(item)}`,
  );
  return `{${fields.join(', ')}}`;
}
