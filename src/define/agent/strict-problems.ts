/** The schemas of an agent whose model is to be strict: each must have a strict form. */
import type { UsageProblem } from '../../core/base/usage-error.ts';
import type { AgentSpec } from '../../core/contract/spec.ts';
import { answerSchema } from '../../core/signature/answer-form.ts';
import type { JsonObject } from '../../core/base/json.ts';
import { expected } from '../checks/fields.ts';
import type { ToolDefinition } from '../definition/definitions.ts';
import { dialectOf } from '../dialect/dialect.ts';
import { wireSchema } from '../dialect/wire-schema.ts';
import type { AgentModel } from '../model/model-entry.ts';

/**
 * The places of an agent's schemas that the provider of `entry` could not hold the model to. Functions
 * get schemas as they are. Tools of servers are sent without `strict` if need be.
 */
export function strictProblems(
  entry: AgentModel | undefined,
  { mode, answer }: Pick<AgentSpec, 'mode' | 'answer'>,
  tools: readonly ToolDefinition[],
): readonly UsageProblem[] {
  if (typeof entry !== 'object' || entry === null || !('model' in entry)) return [];
  const { strict, structuredOutput, model } = entry;
  if (strict !== true || typeof model === 'function') return [];
  const provider = typeof model === 'string' ? model : model.provider;
  const found = (what: string, schema: JsonObject): readonly UsageProblem[] =>
    wireSchema(schema, dialectOf(provider, true)).problems.map(({ path, message }) =>
      expected(
        'model_strict',
        `${what} to have a strict schema`,
        `${message} at \`${path}\``,
        'Name its fields and types, or leave `strict` out.',
      ),
    );
  const ofTools = tools.flatMap(({ spec: { name, parameters } }) =>
    parameters === null ? [] : found(`tool \`${name}\``, parameters),
  );
  const isSent = mode === 'json' && structuredOutput !== 'prompt';
  return [
    ...(mode === 'chat' ? ofTools : []),
    ...(isSent ? found('the output', answerSchema(answer)) : []),
  ];
}
