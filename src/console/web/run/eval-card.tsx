/** The table of an eval: its variants, how they differ from the first, and every try. */
import type { JSX } from 'preact';
import type { EvalRow } from '../../../core/evaluation/eval-plan.ts';
import { moneyColumnText, numberText } from '../../view/amounts.ts';
import { evalTables, type EvalCells } from '../../view/forks/evals.ts';
import { hrefOf } from '../base/route.ts';
import { Pill } from '../parts/marks.tsx';
import { oneLine, Plain } from '../parts/words.tsx';

/** What the card shows. */
export interface EvalCardProps {
  readonly rows: readonly EvalRow[];
  readonly partial?: string | undefined;
}

/** The tables of the tries `rows`; `partial` says that there was more to try. */
export function EvalCard({ rows, partial }: EvalCardProps): JSX.Element {
  const { heads, variants, base, differences } = evalTables(rows);
  return (
    <>
      {partial === undefined ? null : <p class="tone-bad">{partial}</p>}
      <Table caption="Variants" heads={['Variant', ...heads]} rows={variants} />
      {differences.length === 0 ? null : (
        <Table
          caption={`Difference from ${oneLine(base, 80)}`}
          heads={['Variant', 'Rate', 'Tokens', 'Cost', 'Turns']}
          rows={differences}
        />
      )}
      <p class="faint">In brackets: 95 % intervals. Differences are of equal parts and tries.</p>
      <details>
        <summary>
          {rows.length} {rows.length === 1 ? 'try' : 'tries'}
        </summary>
        <Tries rows={rows} />
      </details>
    </>
  );
}

function Table({
  caption,
  heads,
  rows,
}: {
  readonly caption: string;
  readonly heads: readonly string[];
  readonly rows: readonly EvalCells[];
}): JSX.Element {
  return (
    <div style={{ overflowX: 'auto' }} tabIndex={0} role="group" aria-label={caption}>
      <table class="table wrapping" style={{ minWidth: '520px' }}>
        <caption class="sr">{caption}</caption>
        <thead>
          <tr>
            {heads.map((head, column) => (
              <th key={head} class={column === 0 ? '' : 'num'}>
                {column === 0 ? caption : head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells) => (
            <tr key={cells[0]}>
              {cells.map((cell, column) => (
                <td key={column} class={column === 0 ? 'mono' : 'num'}>
                  <Plain text={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function verdictOf({ passed, status, isJudged }: EvalRow): string {
  if (passed) return 'passed';
  if (status !== 'success') return status;
  return isJudged === false ? 'not judged' : 'not passed';
}

function Tries({ rows }: { readonly rows: readonly EvalRow[] }): JSX.Element {
  return (
    <ol class="messages">
      {rows.map((row) => (
        <li key={`${row.part} ${row.variant} ${row.time}`}>
          <p>
            <Pill state={row.passed ? 'success' : 'failed'}>{verdictOf(row)}</Pill>{' '}
            {row.run === null ? (
              <Plain text={row.part} />
            ) : (
              <a class="link" href={hrefOf({ page: 'run', id: row.run })}>
                <Plain text={row.part} />
              </a>
            )}{' '}
            <span class="muted">
              <Plain text={row.variant} />, try {row.time}, {numberText(row.tokens)} tokens,{' '}
              {moneyColumnText(row.costMicroUsd)}, {row.turns} turns
            </span>
          </p>
          <p class="muted">
            <Plain text={oneLine(row.answer || row.reason)} />
          </p>
        </li>
      ))}
    </ol>
  );
}
