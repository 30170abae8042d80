/** The packages of providers whose models are named by them, checked when a worker starts. */
import { usageErrorOf, type UsageProblem } from '../core/base/usage-error.ts';
import type { Registry } from '../define/definition/definitions.ts';
import { findEntry } from '../define/model/provider-models.ts';
import { packageProblem } from '../models/providers/load-model.ts';
import { compileAgent } from './compile-agent.ts';

/**
 * Checks that the packages of all models that the agents and entries of a worker name are there.
 *
 * @throws UsageError `model_package` with a line for each model, which says what to install.
 */
export function checkPackages(registry: Registry): void {
  const problems = [...modelsOf(registry)].flatMap((id): readonly UsageProblem[] => {
    const entry = findEntry(registry.models, id);
    const message = entry && packageProblem(entry, registry.packageFolders);
    return message === undefined ? [] : [{ code: 'model_package', message }];
  });
  if (problems.length > 0) throw usageErrorOf(problems);
}

/** The ids of all models that the agents and entries of a worker name. */
export function modelsOf({ agents, models }: Registry): ReadonlySet<string> {
  const ids = new Set(models.keys());
  for (const { definition } of agents.values()) {
    const compiled = compileAgent(definition, models);
    if (compiled.kind === 'problems') continue;
    const { models: own, toolModels = [], compaction } = compiled.spec;
    const summaries = (compaction?.strategies ?? []).flatMap((strategy) =>
      'models' in strategy ? strategy.models : [],
    );
    for (const named of [...own, ...toolModels, ...summaries]) {
      ids.add(typeof named === 'string' ? named : named.id);
    }
    for (const { spec } of definition.tools) if (spec.agent?.model) ids.add(spec.agent.model);
  }
  return ids;
}
