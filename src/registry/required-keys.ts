/** Models without a key, found before their first call. */
import type { AgentSpec } from '../core/contract/spec.ts';
import type { Registry } from '../define/definition/definitions.ts';
import { missingKey } from '../models/missing-key.ts';

/** A model of this worker, and the environment variable that should hold its key. */
export interface KeylessModel {
  readonly id: string;
  readonly variable: string;
}

/** The models of the worker whose keys are missing. */
export function keylessModels({ models }: Registry): readonly KeylessModel[] {
  return [...models.values()].flatMap(({ id, model }) => {
    const variable = missingKey(model);
    return variable === undefined ? [] : [{ id, variable }];
  });
}

/** Why a run ends before its first call. */
export interface KeyRefusal {
  readonly code: 'model_auth';
  readonly message: string;
}

/**
 * Why a run cannot begin here: its model and all fallbacks lack their keys. Undefined if one has a
 * key, or may need none because middleware can answer for it.
 */
export function keyRefusal(registry: Registry, spec: AgentSpec): KeyRefusal | undefined {
  const around = registry.agents.get(spec.name)?.definition.middleware?.model ?? [];
  if (spec.compiled !== undefined || around.length > 0) return undefined;
  const ids = spec.models.map(({ id }) => id);
  const keyless = keylessModels(registry).filter(({ id }) => ids.includes(id));
  const [first] = keyless;
  if (first === undefined || keyless.length < ids.length) return undefined;
  const variables = [...new Set(keyless.map(({ variable }) => variable))];
  const message = `Expected a key for model \`${first.id}\` in ${variables.join(' or ')}, got none. Set ${variables.length === 1 ? 'it' : 'one of them'} in the environment of the worker and start again.`;
  return { code: 'model_auth', message };
}
