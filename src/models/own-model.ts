/** The model of one call, where an entry has one of its own for each run. */
import { usageErrorOf } from '../core/base/usage-error.ts';
import type { RunInfo } from '../core/calls/run-info.ts';
import type { CalledEntry } from '../define/model/model-entry.ts';
import { kindProblems } from '../define/model/model-problems.ts';
import { withinTime } from '../tools/within-time.ts';

/** `entry` with the model that its `modelFor` gives. An error of the function, or its deadline, fails the
 * attempt. */
export async function ownModel(entry: CalledEntry, info: RunInfo): Promise<CalledEntry> {
  const { modelFor } = entry;
  if (modelFor === undefined) return entry;
  const model: unknown = await withinTime(`\`modelFor\` of model ${entry.id}`, () =>
    modelFor(info),
  );
  if (model === undefined) return entry;
  const problems = kindProblems(model, entry.id);
  if (problems.length > 0) throw usageErrorOf(problems);
  return { ...entry, model: model as CalledEntry['model'] };
}
