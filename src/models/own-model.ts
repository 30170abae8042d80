/** The model of one call, where an entry has one of its own for each run. */
import { usageErrorOf } from '../core/base/usage-error.ts';
import type { RunInfo } from '../core/calls/run-info.ts';
import type { CalledEntry } from '../define/model/model-entry.ts';
import { kindProblems } from '../define/model/model-problems.ts';

/** `entry` with the model that its `modelFor` gives. An error of the function fails the attempt. */
export async function ownModel(entry: CalledEntry, info: RunInfo): Promise<CalledEntry> {
  const model: unknown = await entry.modelFor?.(info);
  if (model === undefined) return entry;
  const problems = kindProblems(model, entry.id);
  if (problems.length > 0) throw usageErrorOf(problems);
  return { ...entry, model: model as CalledEntry['model'] };
}
