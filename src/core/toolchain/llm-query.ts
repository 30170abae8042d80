/** The built-in tool by which a model asks a model: prompt, signature and model are arguments. */
import type { ToolSpec } from '../contract/spec.ts';
import type { JsonObject } from '../base/json.ts';

/** The name of the built-in tool. */
export const LLM_QUERY_TOOL = 'llm_query';

/** Default attempts of an LLM tool: models repair an answer at once or hardly ever. */
export const DEFAULT_LLM_TURNS = 3;

const PARAMETERS: JsonObject = {
  type: 'object',
  properties: {
    prompt: {
      type: 'string',
      minLength: 1,
      description: 'what to ask; {{name}} stands for the argument of that name',
    },
    signature: {
      type: 'string',
      minLength: 1,
      description: 'what comes back, such as {label :string, score :float?}; without it a text',
    },
    model: { type: 'string', minLength: 1, description: 'id of another model to ask' },
  },
  required: ['prompt'],
  additionalProperties: true,
};

/** The built-in tool as plain data. Fields for tool activities are not used. */
export function llmQuerySpec(): ToolSpec {
  return {
    name: LLM_QUERY_TOOL,
    description: 'Ask a model one question, without tools and without this conversation.',
    policy: 'Give all that is needed to answer in `prompt` and in further arguments.',
    parameters: PARAMETERS,
    ...NO_ACTIVITY_FIELDS,
    llm: { params: [], maxTurns: DEFAULT_LLM_TURNS },
  };
}

/** The fields about the activity of a tool, for tools that have none. */
export const NO_ACTIVITY_FIELDS: Pick<
  ToolSpec,
  'effect' | 'local' | 'timeoutMs' | 'retry' | 'sequential' | 'maxResultBytes'
> = {
  effect: 'read',
  local: false,
  timeoutMs: 60_000,
  retry: { attempts: 1, initialMs: 1_000, factor: 2 },
  sequential: false,
  maxResultBytes: 65_536,
};
