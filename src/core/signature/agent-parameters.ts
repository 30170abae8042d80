/** An agent as a function: the schema of its arguments. */
import { canonicalJson, type JsonObject } from '../base/json.ts';
import type { SignatureField } from '../contract/signature.ts';
import { inputsSchema, parametersSchema } from './json-schema.ts';

/** The arguments of an agent without a signature. */
export const TASK_PARAMETERS: JsonObject = {
  type: 'object',
  properties: { task: { type: 'string', description: 'what it should do, with all it must know' } },
  required: ['task'],
  additionalProperties: false,
};

/**
 * The inputs of an agent as arguments; those of a text signature in the form that providers accept.
 * `inputs` is the full schema of the inputs.
 */
export function agentParameters(
  params: readonly SignatureField[] = [],
  inputs?: JsonObject,
): JsonObject {
  if (params.length === 0 || inputs === undefined) return TASK_PARAMETERS;
  const isInWords = canonicalJson(inputs) === canonicalJson(inputsSchema(params));
  return isInWords ? parametersSchema(params) : inputs;
}
