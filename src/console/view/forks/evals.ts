/** The table of an eval, from the value of its run. */
import { isPlainObject, type Json } from '../../../core/base/json.ts';
import type { EvalRow } from '../../../core/evaluation/eval-plan.ts';
import { evalTable, type Estimate } from '../../../core/evaluation/eval-table.ts';
import { partialText } from '../../../core/evaluation/partial.ts';
import { moneyColumnText, numberText } from '../amounts.ts';

/**
 * The rows in what an eval's run has found: its value, or the details of its Step if it ended early.
 * Null: it is that of another run, or nothing was tried.
 */
export function evalRows(value: Json | undefined): readonly EvalRow[] | null {
  if (!isPlainObject(value) || value['v'] !== 1 || !Array.isArray(value['rows'])) return null;
  const rows: readonly unknown[] = value['rows'];
  return rows.length > 0 && rows.every(isRow) ? rows : null;
}

/** How much of an eval was tried, if that is not all; undefined otherwise. */
export function partialTextOf(found: Json | undefined): string | undefined {
  const tries = isPlainObject(found) ? found['tries'] : undefined;
  const rows = evalRows(found);
  return rows === null || typeof tries !== 'number' ? undefined : partialText({ rows, tries });
}

const TEXTS = ['part', 'variant', 'status', 'reason', 'answer'];
const NUMBERS = ['time', 'turns', 'tokens', 'costMicroUsd'];

function isRow(row: unknown): row is EvalRow {
  if (!isPlainObject(row)) return false;
  const { run, passed, score } = row;
  return (
    TEXTS.every((name) => typeof row[name] === 'string') &&
    [...NUMBERS.map((name) => row[name]), score ?? 0].every(Number.isFinite) &&
    typeof passed === 'boolean' &&
    (run === null || typeof run === 'string')
  );
}

/** A row of cells; the first is a name. */
export type EvalCells = readonly string[];

/** Both tables of an eval. */
export interface EvalTables {
  /** The last column is only there if a judge gave scores. */
  readonly heads: readonly string[];
  readonly variants: readonly EvalCells[];
  /** The name of the first variant, from which the others differ. */
  readonly base: string;
  /** Each other variant minus the first. */
  readonly differences: readonly EvalCells[];
}

/** The tables of `rows`. */
export function evalTables(rows: readonly EvalRow[]): EvalTables {
  const table = evalTable(rows);
  const hasScores = table.some(({ score }) => score !== undefined);
  return {
    heads: ['Passed', 'Rate', 'Tokens', 'Cost', 'Turns', ...(hasScores ? ['Score'] : [])],
    variants: table.map((each) => [
      each.variant,
      `${each.passed} of ${each.tries}`,
      estimateText(each.passRate, percent),
      numberText(Math.round(each.tokens)),
      moneyColumnText(each.costMicroUsd),
      each.turns.toFixed(1),
      ...(hasScores ? [each.score?.toFixed(2) ?? ''] : []),
    ]),
    base: table[0]?.variant ?? '',
    differences: table.flatMap(({ variant, difference: than }) =>
      than === undefined
        ? []
        : [
            [
              variant,
              estimateText(than.passRate, signed(percent)),
              estimateText(
                than.tokens,
                signed((value) => numberText(Math.round(value))),
              ),
              estimateText(than.costMicroUsd, signed(moneyColumnText)),
              estimateText(
                than.turns,
                signed((value) => value.toFixed(1)),
              ),
            ],
          ],
    ),
  };
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}

/** `−3`, `+2`, and `0` without a sign. */
function signed(text: (value: number) => string): (value: number) => string {
  return (value) => {
    const words = text(Math.abs(value));
    if (!/[1-9]/.test(words)) return words;
    return `${value < 0 ? '−' : '+'}${words}`;
  };
}

/** `75 % [30 % to 95 %]`: the interval is left out where there is too little to tell. */
function estimateText({ mean, low, high }: Estimate, text: (value: number) => string): string {
  if (low === null || high === null) return text(mean);
  return `${text(mean)} [${text(low)} to ${text(high)}]`;
}
