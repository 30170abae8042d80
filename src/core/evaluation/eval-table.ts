/**
 * The table of an eval: for each variant its outcomes and means, and how it differs from the first
 * one, with 95 % intervals. Differences are paired: the same part and the same number of the try.
 */
import { defined } from '../base/defined.ts';
import type { EvalRow } from './eval-plan.ts';

/** A number with its 95 % interval; the interval is null if there is too little to tell. */
export interface Estimate {
  readonly mean: number;
  readonly low: number | null;
  readonly high: number | null;
}

/** One variant. */
export interface EvalSummary {
  readonly variant: string;
  readonly tries: number;
  readonly passed: number;
  /** The part that passed, with Wilson's interval. */
  readonly passRate: Estimate;
  readonly tokens: number;
  readonly costMicroUsd: number;
  readonly turns: number;
  /** The mean score of a judge; absent without one. */
  readonly score?: number;
  /** Absent for the first variant: this variant minus the first one. */
  readonly difference?: {
    readonly passRate: Estimate;
    readonly tokens: Estimate;
    readonly costMicroUsd: Estimate;
    readonly turns: Estimate;
  };
}

/** The table of `all` that have a verdict, in the order in which variants come. */
export function evalTable(all: readonly EvalRow[]): readonly EvalSummary[] {
  const rows = all.filter(({ isJudged }) => isJudged !== false);
  const names = [...new Set(rows.map(({ variant }) => variant))];
  const [first] = names;
  return names.map((variant) => summaryOf(rows, variant, first ?? variant));
}

function summaryOf(rows: readonly EvalRow[], variant: string, first: string): EvalSummary {
  const own = rows.filter((row) => row.variant === variant);
  const passed = own.filter((row) => row.passed).length;
  const scores = own.flatMap(({ score }) => score ?? []);
  const differenceOf = (of: (row: EvalRow) => number): Estimate =>
    paired(rows, [variant, first], of);
  return {
    variant,
    tries: own.length,
    passed,
    passRate: wilson(passed, own.length),
    tokens: meanOf(own.map(({ tokens }) => tokens)),
    costMicroUsd: meanOf(own.map(({ costMicroUsd }) => costMicroUsd)),
    turns: meanOf(own.map(({ turns }) => turns)),
    ...defined({
      score: scores.length === 0 ? undefined : meanOf(scores),
      difference:
        variant === first
          ? undefined
          : {
              passRate: differenceOf(({ passed: isPassed }) => Number(isPassed)),
              tokens: differenceOf(({ tokens }) => tokens),
              costMicroUsd: differenceOf(({ costMicroUsd }) => costMicroUsd),
              turns: differenceOf(({ turns }) => turns),
            },
    }),
  };
}

function meanOf(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Two-sided 95 % of the normal distribution. */
const Z = 1.96;

/** Wilson's interval of a share, which also holds for few tries and for none or all that passed. */
function wilson(passed: number, tries: number): Estimate {
  if (tries === 0) return { mean: 0, low: null, high: null };
  const share = passed / tries;
  const base = 1 + Z ** 2 / tries;
  const middle = (share + Z ** 2 / (2 * tries)) / base;
  const half = (Z / base) * Math.sqrt((share * (1 - share)) / tries + Z ** 2 / (4 * tries ** 2));
  return { mean: share, low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

/** 97.5 % of Student's t for 1 to 30 degrees of freedom; beyond, that of the normal distribution. */
const T = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145,
  2.131, 2.12, 2.11, 2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048,
  2.045, 2.042,
];

/** The mean of the differences of pairs, with its interval by Student's t. */
function paired(
  rows: readonly EvalRow[],
  [variant, first]: readonly [string, string],
  of: (row: EvalRow) => number,
): Estimate {
  const keyOf = ({ part, time }: EvalRow): string => JSON.stringify([part, time]);
  const base = new Map(
    rows.filter((row) => row.variant === first).map((row) => [keyOf(row), of(row)]),
  );
  const differences = rows.flatMap((row) => {
    const other = base.get(keyOf(row));
    return row.variant === variant && other !== undefined ? [of(row) - other] : [];
  });
  const mean = meanOf(differences);
  const count = differences.length;
  if (count < 2) return { mean, low: null, high: null };
  const variance = differences.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (count - 1);
  const half = (T[count - 2] ?? Z) * Math.sqrt(variance / count);
  return { mean, low: mean - half, high: mean + half };
}
