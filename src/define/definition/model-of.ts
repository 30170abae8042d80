import type { AgentModel } from './definitions.ts';
import type { ModelEntry } from './model-entry.ts';

/** A model of `owner` as an id or an entry: one without an entry is named after its provider or owner. */
export function modelOf(owner: string, model: AgentModel): string | ModelEntry {
  if (typeof model === 'string') return model;
  if (typeof model === 'function') return { id: `${owner}/model`, model };
  if ('specificationVersion' in model) {
    return { id: `${model.provider}/${model.modelId}`, model };
  }
  return model;
}
