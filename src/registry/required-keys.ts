/** Models without a key, found before their first call. */
import type { AgentSpec } from '../core/contract/spec.ts';
import type { Registry } from '../define/definition/definitions.ts';
import { findEntry } from '../define/model/provider-models.ts';
import { missingKey } from '../models/missing-key.ts';
import { withModel } from '../models/providers/load-model.ts';
import { modelsOf } from './provider-packages.ts';

/** A model of this worker, and the environment variable that should hold its key. */
export interface KeylessModel {
  readonly id: string;
  readonly variable: string;
}

/** The models that a worker's agents and entries name, and whose keys are missing. */
export function keylessModels(registry: Registry): Promise<readonly KeylessModel[]> {
  return keylessOf(registry, [...modelsOf(registry)]);
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
export async function keyRefusal(
  registry: Registry,
  spec: AgentSpec,
): Promise<KeyRefusal | undefined> {
  const around = registry.agents.get(spec.name)?.definition.middleware?.model ?? [];
  if (spec.compiled !== undefined || around.length > 0) return undefined;
  const ids = spec.models.map(({ id }) => id);
  const keyless = await keylessOf(registry, ids);
  const [first] = keyless;
  if (first === undefined || keyless.length < ids.length) return undefined;
  const variables = [...new Set(keyless.map(({ variable }) => variable))];
  const message = `Expected a key for model \`${first.id}\` in ${variables.join(' or ')}, got none. Set ${variables.length === 1 ? 'it' : 'one of them'} in the environment of the worker and start again.`;
  return { code: 'model_auth', message };
}

async function keylessOf(
  registry: Registry,
  ids: readonly string[],
): Promise<readonly KeylessModel[]> {
  const keyless: KeylessModel[] = [];
  for (const id of ids) {
    const variable = await missingKeyOf(registry, id);
    if (variable !== undefined) keyless.push({ id, variable });
  }
  return keyless;
}

/** A model that is named by its provider is loaded for this; its first call would load it anyway. */
async function missingKeyOf(registry: Registry, id: string): Promise<string | undefined> {
  const entry = findEntry(registry.models, id);
  // The key may be that of the run.
  if (entry === undefined || entry.modelFor !== undefined) return undefined;
  try {
    const { model } = await withModel(entry, registry.packageFolders);
    return missingKey(model);
  } catch {
    // The package is absent or broken, which other checks report.
    return undefined;
  }
}
