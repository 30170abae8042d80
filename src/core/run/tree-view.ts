/** What a run shows of its tree: the runs that it has started, and where its budgets are. */
import { defined } from '../base/defined.ts';
import { pathBelow } from '../tree/calls.ts';
import { usesOf, type Ledger } from '../tree/ledger.ts';
import type { BudgetLine, TreeChild, TreeView } from '../contract/messages.ts';
import { ledgerOf } from './run.ts';
import type { RunState } from './run-state.ts';
import { usageOf } from './step-of.ts';

/** The part of the tree that a run in `state` knows, at `now`. */
export function treeView(state: RunState, now: number): TreeView {
  const { head, agentPath, depth, parent, children = [], childEnds = [] } = state;
  const alive = children.map(({ childId, agent, path, totals, startedAt }): TreeChild => {
    const usage = usageOf({ counters: totals, gauges: {} });
    const durationMs = now - startedAt;
    return { id: childId, agent, path, status: 'running', usage: { ...usage, durationMs } };
  });
  const ended = childEnds.map(({ childId, agent, status, reason, usage }): TreeChild => ({
    id: childId,
    agent,
    path: pathBelow(agentPath, childId, agent),
    status,
    reason,
    usage,
  }));
  return {
    agent: head.spec.name,
    path: agentPath,
    depth,
    parent: parent?.workflowId ?? null,
    children: [...alive, ...ended],
    budgets: budgetLines(ledgerOf(state)),
  };
}

/** The limits that hold for a run and its descendants, with their use. */
export function budgetLines(ledger: Ledger): readonly BudgetLine[] {
  return usesOf(ledger).map(({ limit, origin, max, used, reserved, free }): BudgetLine => ({
    key: limit.key,
    origin,
    ...defined({ byDefault: limit.byDefault }),
    max,
    used,
    reserved,
    free,
  }));
}
