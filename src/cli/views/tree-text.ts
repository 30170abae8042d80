/** A tree of runs as text: the status of its runs, and its budgets. Pure. */
import { withCommas } from '../../lisp/base/with-commas.ts';
import type { TreeRun } from '../../client/tree-run.ts';
import type { BudgetLine } from '../../core/contract/messages.ts';
import { waitsText } from './run-text.ts';
import { cellText, costText, oneLine, spentText, tableText } from '../terminal/text.ts';

/** Characters of what a run waits for; a line should fit on a terminal. */
const WAITS_WIDTH = 60;

/** The runs of a tree, root first: status, and usage including all runs below. */
export function treeText(runs: readonly TreeRun[]): string {
  const branches = branchesOf(runs);
  return tableText(
    ['RUN', 'ADDRESS', 'STATE', 'ITERATION', 'TOKENS', 'COST', 'WAITS FOR'],
    runs.map((run, index) => [
      `${branches[index] ?? ''}${cellText(run.agent)}${forkText(run)}`,
      addressText(runs, run),
      stateText(run),
      run.state === 'silent' ? '?' : String(run.iteration),
      withCommas(run.usage.totalTokens),
      spentText(run.usage),
      oneLine(waitsText(run.waitsFor), WAITS_WIDTH),
    ]),
  );
}

/** The budgets of a tree: each limit at its own run, then the part of each run below. */
export function budgetText(runs: readonly TreeRun[]): string {
  const branches = branchesOf(runs);
  const rows = runs.flatMap((run, index) =>
    run.budgets.map((line, row) => [
      row === 0 ? `${branches[index] ?? ''}${cellText(run.agent)}` : '',
      row === 0 ? addressText(runs, run) : '',
      cellText(line.key),
      originText(line),
      ...[line.max, line.used, line.reserved, line.free].map((value) => amountText(line, value)),
    ]),
  );
  return rows.length === 0
    ? 'No budgets: no run of the tree is alive, or none has a limit over its tree.'
    : tableText(['RUN', 'ADDRESS', 'LIMIT', 'OF', 'MAX', 'USED', 'RESERVED', 'FREE'], rows);
}

/** ` (fork of clerk-7)`, for a fork. */
function forkText({ forkedFrom }: TreeRun): string {
  return forkedFrom === undefined ? '' : ` (fork of ${cellText(forkedFrom)})`;
}

/** `success`, `error (internal)`, `waiting`, `silent`. */
function stateText({ state, status, reason }: TreeRun): string {
  if (state !== 'ended' || status === undefined) return state;
  return status === 'success' || reason === undefined
    ? status
    : `${status} (${oneLine(reason, WAITS_WIDTH)})`;
}

/** The id of the root; for runs below, the calls that lead there. */
function addressText([root]: readonly TreeRun[], { id }: TreeRun): string {
  const isBelow = root !== undefined && id.startsWith(`${root.id}/`);
  return cellText(isBelow ? id.slice(root.id.length + 1) : id);
}

/** `own`, `planner`, `own, default`: whose limit it is. */
function originText({ origin, byDefault }: BudgetLine): string {
  const whose = origin === 'self' ? 'own' : cellText(origin.agent);
  return byDefault === true ? `${whose}, default` : whose;
}

function amountText({ key }: BudgetLine, value: number): string {
  return key === 'agent:cost_microusd' ? costText(value) : withCommas(value);
}

/** The prefix of each run: `├─ `, `│  └─ `; none for the root. */
function branchesOf(runs: readonly TreeRun[]): readonly string[] {
  const indents = new Map<string, string>();
  return runs.map(({ id, parent }, index) => {
    const above = runs.find((run) => run.id === parent);
    if (index === 0 || above === undefined) return '';
    const indent = indents.get(above.id) ?? '';
    const isLast = above.children.at(-1) === id;
    indents.set(id, `${indent}${isLast ? '   ' : '│  '}`);
    return `${indent}${isLast ? '└─ ' : '├─ '}`;
  });
}
