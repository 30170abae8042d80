/** The rows of a tree of runs, by depth, with what each spent itself. */
import { defined } from '../../core/base/defined.ts';
import { lastCallOf } from '../../core/tree/calls.ts';
import type { BudgetLine, RunPhase } from '../../core/contract/messages.ts';
import type { StepStatus, Usage } from '../../core/contract/step.ts';
import { barsOfLines, type BudgetBar } from './budgets.ts';

/** One run of a tree, as the client reads it. */
export interface TreeNode {
  /** Workflow id. */
  readonly id: string;
  readonly agent: string;
  readonly path: string;
  readonly parent: string | null;
  readonly children: readonly string[];
  /** `silent`: it is live, but no worker answers for it. */
  readonly state: RunPhase | 'silent';
  readonly status?: StepStatus;
  readonly reason?: string;
  readonly iteration: number;
  readonly waitsFor: readonly string[];
  /** Includes all runs below. */
  readonly usage: Usage;
  readonly budgets: readonly BudgetLine[];
}

/** A row of a tree. */
export interface TreeRow {
  readonly node: TreeNode;
  /** 0 for the run from which the tree is shown. */
  readonly level: number;
  /** The call that started it: `1.2`; empty for the first row. */
  readonly call: string;
  readonly ownTokens: number;
  readonly ownCostMicroUsd: number;
  /** Its tightest lease or limit; absent: it has none, or it has ended. */
  readonly tightest?: BudgetBar;
  /** How many runs are hidden below it. */
  readonly hidden: number;
}

/** The rows of `nodes` from `root` down, without those below a run in `closed`. */
export function treeRows(
  nodes: readonly TreeNode[],
  root: string,
  closed: ReadonlySet<string> = new Set(),
): readonly TreeRow[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const rows: TreeRow[] = [];
  const seen = new Set<string>();
  const visit = (id: string, level: number): void => {
    const node = byId.get(id);
    if (node === undefined || seen.has(id)) return;
    seen.add(id);
    const isClosed = closed.has(id);
    rows.push(rowOf(node, level, byId, isClosed ? countBelow(node, byId) : 0));
    if (!isClosed) for (const child of node.children) visit(child, level + 1);
  };
  visit(root, 0);
  return rows;
}

function rowOf(
  node: TreeNode,
  level: number,
  byId: ReadonlyMap<string, TreeNode>,
  hidden: number,
): TreeRow {
  const below = node.children.flatMap((id) => byId.get(id) ?? []);
  const tokens = below.reduce((sum, { usage }) => sum + usage.totalTokens, 0);
  const cost = below.reduce((sum, { usage }) => sum + usage.costMicroUsd, 0);
  const [tightest] = barsOfLines(node.budgets);
  return {
    node,
    level,
    call: level === 0 ? '' : callOf(node),
    ownTokens: Math.max(0, node.usage.totalTokens - tokens),
    ownCostMicroUsd: Math.max(0, node.usage.costMicroUsd - cost),
    ...defined({ tightest }),
    hidden,
  };
}

/** The call of the parent with which the id ends. */
function callOf({ id, parent }: TreeNode): string {
  return parent === null ? id : lastCallOf(id);
}

function countBelow(node: TreeNode, byId: ReadonlyMap<string, TreeNode>): number {
  const seen = new Set<string>([node.id]);
  const queue = [...node.children];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    queue.push(...(byId.get(next)?.children ?? []));
  }
  return seen.size - 1;
}
