import { isUsageError, type UsageProblem } from '../../src/core/base/usage-error.ts';

/** What is wrong with a definition: codes and texts; none when it is made. Other errors are thrown on. */
export function problemsOf(make: () => unknown): readonly UsageProblem[] {
  try {
    make();
    return [];
  } catch (error) {
    if (!isUsageError(error)) throw error;
    return error.problems;
  }
}
