/** The runs of a tree by depth: state, call, spend of their own and with all below. */
import type { JSX } from 'preact';
import { amountText, moneyText, numberText } from '../../view/amounts.ts';
import type { BudgetBar } from '../../view/budgets.ts';
import { treeRows, type TreeRow } from '../../view/tree-rows.ts';
import { hrefOf } from '../base/route.ts';
import { Bar, Failure, Icon, Pill, Skeleton } from '../parts/marks.tsx';
import { oneLine, Plain } from '../parts/words.tsx';
import type { RunModel } from './run-state.ts';
import { useTree } from './tree-state.ts';

/** The tree from `run` down. */
export function TreeTab({ run }: { readonly run: RunModel }): JSX.Element {
  const tree = useTree(run);
  const runs = tree.runs.value;
  const again = (): void => void tree.load();
  if (runs === null) {
    return tree.error.value === null ? (
      <Skeleton />
    ) : (
      <Failure error={tree.error.value} again={again} />
    );
  }
  const closed = new Set(runs.flatMap(({ id }) => (tree.isOpen(id) ? [] : [id])));
  const rows = treeRows(runs, run.id, closed);
  return (
    <section class="card" aria-label="Tree">
      <header class="card-head">
        <h2>Tree</h2>
        <span class="end">
          {tree.isLarge ? 'a large tree: only open branches are asked · ' : ''}
          {runs.length} {runs.length === 1 ? 'run' : 'runs'}
          {tree.isLarge ? ' read' : ''}
        </span>
      </header>
      <Failure error={tree.error.value} again={again} />
      <table class="table tree">
        <colgroup>
          <col />
          <col class="c-state" />
          <col class="c-number optional" />
          <col class="c-number optional" />
          <col class="c-lease optional" />
        </colgroup>
        <thead>
          <tr>
            <th>Run</th>
            <th>State</th>
            <th class="num optional">Tokens, with all below</th>
            <th class="num optional">Cost, with all below</th>
            <th class="optional">Tightest budget</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row
              key={row.node.id}
              row={row}
              isClosed={closed.has(row.node.id)}
              onToggle={tree.toggle}
            />
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface RowProps {
  readonly row: TreeRow;
  readonly isClosed: boolean;
  readonly onToggle: (id: string) => void;
}

function Row({ row, isClosed, onToggle }: RowProps): JSX.Element {
  const { node, level, call, ownTokens, ownCostMicroUsd, tightest, hidden } = row;
  const { usage } = node;
  return (
    <tr>
      <td>
        <span class="branch" style={{ paddingLeft: `${Math.min(level, 12) * 20}px` }}>
          {node.children.length === 0 ? (
            <span class="twig" />
          ) : (
            <button
              type="button"
              class={`btn quiet small twig${isClosed ? '' : ' open'}`}
              aria-expanded={!isClosed}
              aria-label={`${isClosed ? 'Show' : 'Hide'} the runs below ${node.agent}`}
              onClick={() => onToggle(node.id)}
            >
              <Icon name="open" />
            </button>
          )}
          <a class="mono strong" href={hrefOf({ page: 'run', id: node.id })}>
            <Plain text={node.agent} />
          </a>
          {call === '' ? null : (
            <span class="faint mono">
              <Plain text={call} />
            </span>
          )}
          <span class="muted clip">
            <Plain text={oneLine(node.waitsFor.join(', '), 80)} />
            {hidden > 0 ? `${hidden} below` : ''}
          </span>
        </span>
      </td>
      <td>
        <Pill state={node.status ?? node.state} />
      </td>
      <td class="num optional">
        {node.children.length === 0 ? null : (
          <span class="faint">own {numberText(ownTokens)} · </span>
        )}
        {numberText(usage.totalTokens)}
      </td>
      <td class="num optional">
        {node.children.length === 0 ? null : (
          <span class="faint">own {moneyText(ownCostMicroUsd)} · </span>
        )}
        {moneyText(usage.costMicroUsd)}
      </td>
      <td class="optional">{tightest === undefined ? null : <Lease bar={tightest} />}</td>
    </tr>
  );
}

/** What of its tightest budget is used, reserved for runs below, and free. */
function Lease({ bar }: { readonly bar: BudgetBar }): JSX.Element {
  const { label, unit, used, reserved, max } = bar;
  const free = Math.max(0, max - used - reserved);
  return (
    <span class="row">
      <Bar bar={bar} mini />
      <span class="clip">
        {label} <b>{amountText(unit, used)}</b>
        <span class="muted">
          {reserved > 0 ? ` + ${amountText(unit, reserved)} reserved` : ''},{' '}
          {amountText(unit, free)} free
        </span>
      </span>
    </span>
  );
}
