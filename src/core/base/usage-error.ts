import type { UsageCode } from './usage-codes.ts';

/** One mistake in an agent definition or in a call of the API. */
export interface UsageProblem {
  /** Stable, for programs: `duplicate_tool`, `limit_key`, … */
  readonly code: UsageCode;
  /** For people: expected, got, what to do. */
  readonly message: string;
}

/**
 * A programmer's mistake, thrown when something is defined or called, never inside a running
 * workflow. Recognise it by `name` and `code`, since `instanceof` fails across realms and copies.
 *
 * @example
 * throw new UsageError('number', 'Expected `maxTurns` from 1 up, got 0. Change it.');
 */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  /** The code of the first problem. */
  readonly code: UsageCode;
  /** All problems, in order. At least one. Not enumerable: their texts are the message. */
  declare readonly problems: readonly UsageProblem[];

  constructor(code: UsageCode, message: string, problems?: readonly UsageProblem[]) {
    super(message);
    this.code = code;
    Object.defineProperty(this, 'problems', { value: problems ?? [{ code, message }] });
  }
}

/** One error with a line for each problem; `prefix` starts each line. */
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
