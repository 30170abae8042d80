import { shown } from '../../core/text/shown.ts';
import type { UsageProblem } from '../../core/base/usage-error.ts';
import type { AgentModel, ModelEntry } from './model-entry.ts';

/** A model of `owner` as an id or an entry: one without an entry is named after its provider or owner. */
export function modelOf(owner: string, model: AgentModel): string | ModelEntry {
  if (typeof model === 'string') return model;
  if (typeof model === 'function') return { id: `${owner}/model`, model };
  if ('specificationVersion' in model) {
    return { id: `${model.provider}/${model.modelId}`, model };
  }
  return model;
}

/** What is wrong with a model as an agent or a tool names it. */
export function modelProblems(model: unknown): readonly UsageProblem[] {
  const isObject = typeof model === 'object' && model !== null;
  if (typeof model === 'function' || (typeof model === 'string' && model !== '')) return [];
  if (isObject && ('specificationVersion' in model || 'model' in model)) return [];
  const message = `Expected \`model\` to be the id of a model entry, an entry, a model of the AI SDK or a function, got ${shown(model)}. Choose a model.`;
  return [{ code: 'agent_model', message }];
}
