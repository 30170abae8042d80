/** The result of a benchmark: named figures with goals and baselines, printed as a table. */

/** One figure. `baseline` is the value of the same run that it is compared with, or null. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** `<= 1.1`, `>= 0.9`; empty when there is none. */
  readonly goal: string;
  readonly baseline: number | null;
}

/** A benchmark: what it measures, and how. */
export interface Bench {
  readonly name: string;
  readonly about: string;
  /** `words`: the command line after the name of the script; few benchmarks have options. */
  run(words?: readonly string[]): Promise<readonly Figure[]>;
}

/** A figure with a goal. */
export function figure(
  name: string,
  value: number,
  unit: string,
  goal = '',
  baseline: number | null = null,
): Figure {
  return {
    name,
    value: round(value),
    unit,
    goal,
    baseline: baseline === null ? null : round(baseline),
  };
}

/** The middle value, or the mean of the two middle ones. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? Number.NaN;
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? upper) + upper) / 2 : upper;
}

/**
 * The lower end of the interval that holds the median of all pairs with 96 %, from nine ratios: the
 * second smallest.
 */
export function lowerEnd(ratios: readonly number[]): number {
  return ratios.toSorted((left, right) => left - right)[1] ?? Number.NaN;
}

/** Whether `figure` meets its goal; true if it has none. */
export function meetsGoal({ goal, value }: Figure): boolean {
  const [sign, bound] = goal.split(' ');
  if (sign === '<=') return value <= Number(bound);
  if (sign === '>=') return value >= Number(bound);
  return true;
}

/** The figures as a table for people. */
export function tableOf(figures: readonly Figure[]): string {
  const rows = figures.map((each) => [
    each.name,
    String(each.value),
    each.unit,
    each.goal,
    each.baseline === null ? '' : String(each.baseline),
    each.goal === '' ? '' : meetsGoal(each) ? 'ok' : 'MISSED',
  ]);
  const all = [['figure', 'value', 'unit', 'goal', 'baseline', ''], ...rows];
  const widths = [0, 1, 2, 3, 4, 5].map((column) =>
    Math.max(...all.map((row) => row[column]?.length ?? 0)),
  );
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function round(value: number): number {
  return Math.abs(value) >= 1_000 ? Math.round(value) : Number(value.toPrecision(4));
}
