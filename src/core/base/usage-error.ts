import type { UsageCode } from './usage-codes.ts';

/** One thing that is wrong with a definition or a call of the API. */
export interface UsageProblem {
  /** Stable, for programs: `duplicate_tool`, `limit_key`, … */
  readonly code: UsageCode;
  /** For people: what was expected, what was got, what to do. */
  readonly message: string;
}

/**
 * Misuse by a programmer, thrown when something is defined or called, never inside a running
 * workflow. Recognise it by `name` and `code`: `instanceof` fails across realms and copies.
 *
 * @example
 * throw new UsageError('number', 'Expected `maxTurns` from 1 up, got 0. Change it.');
 */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  /** The code of the first problem. */
  readonly code: UsageCode;
  /** All that was found, first to last. At least one. */
  readonly problems: readonly UsageProblem[];

  constructor(code: UsageCode, message: string, problems?: readonly UsageProblem[]) {
    super(message);
    this.code = code;
    this.problems = problems ?? [{ code, message }];
  }
}

/** One error for all `problems`, a line each; `prefix` stands in front of each line. */
export function usageErrorOf(problems: readonly UsageProblem[], prefix = ''): UsageError {
  const first = problems[0];
  if (first === undefined) throw new Error('Expected at least one problem, got none.');
  const lines = problems.map((problem) => prefix + problem.message);
  return new UsageError(first.code, lines.join('\n'), problems);
}

/** Whether `error` is a {@link UsageError}, of this or another copy of the package. */
export function isUsageError(error: unknown): error is UsageError {
  return error instanceof Error && error.name === 'UsageError' && 'code' in error;
}
