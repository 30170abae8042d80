/** Reads one run of a tree, whether it is live, ended, or has no worker that answers. */
import type { Client } from '@temporalio/client';
import { defined } from '../core/base/defined.ts';
import type { BudgetLine, RunPhase, TreeChild } from '../core/contract/messages.ts';
import type { Step, StepStatus, Usage } from '../core/contract/step.ts';
import { EMPTY_STATS, type Stats } from '../core/contract/stats.ts';
import { usageOf } from '../core/run/step-of.ts';
import { lastCallOf, pathBelow } from '../core/tree/calls.ts';
import { isUsageError } from '../core/base/usage-error.ts';
import { treeQuery } from '../workflows/messages.ts';
import { stepOrNull } from './reading/ended-run.ts';
import { describeRun } from './connection/own-run.ts';
import { queryAny } from './reading/run-reader.ts';
import { isAlive } from './connection/service-calls.ts';

/** One run of a tree. */
export interface TreeRun {
  /** Workflow id. */
  readonly id: string;
  readonly agent: string;
  /** `planner/2/writer`: writer, started in planner's iteration 2. Not unique within a turn. */
  readonly path: string;
  /** 0 for a root. */
  readonly depth: number;
  /** Id of the parent run; null for a root. */
  readonly parent: string | null;
  /** The run that it is a fork of; absent: it is none. */
  readonly forkedFrom?: string;
  /** Ids of its child runs, in the order of their calls. */
  readonly children: readonly string[];
  /** `silent`: it is live, but no worker answers for it. */
  readonly state: RunPhase | 'silent';
  /** How it ended, and why. */
  readonly status?: StepStatus;
  readonly reason?: string;
  readonly iteration: number;
  /** What is in flight or waits for people: `model gpt-5`, `question q1`. */
  readonly waitsFor: readonly string[];
  /** Includes all runs below; for a silent run, what it last reported to its parent. */
  readonly usage: Usage;
  /** Null when neither the run nor its Step has them. */
  readonly stats: Stats | null;
  /** Limits over the run and all below; empty for a silent or ended run. */
  readonly budgets: readonly BudgetLine[];
}

/** What the parent knows of a run, for a run that does not answer. */
export interface KnownRun extends Partial<Pick<TreeRun, 'agent' | 'path' | 'depth' | 'parent'>> {
  readonly id: string;
  readonly child?: TreeChild;
}

/** A run, and what it knows of its children. */
export interface FoundRun {
  readonly run: TreeRun;
  readonly below: readonly KnownRun[];
}

/** Shorter than for a query of one run, because a tree can show a run as silent. */
const TREE_DEADLINE_MS = 12_000;

/** How many times a run may end or hand over between two calls. */
const TRIES = 4;

/**
 * Reads the state of a run. A live run is queried; the Step of an ended one needs no worker.
 *
 * @throws UsageError `run_not_found`, or `not_an_agent` for another workflow.
 */
export async function findRun(client: Client, known: KnownRun): Promise<FoundRun> {
  const { id } = known;
  let seen = known;
  for (let attempt = 1; ; attempt++) {
    try {
      const described = await describeRun(client, id);
      const agent = described.memo?.['agent'];
      const parent = known.parent ?? described.parentExecution?.workflowId ?? null;
      seen = {
        ...known,
        parent,
        ...defined({ agent: typeof agent === 'string' ? agent : undefined }),
      };
      const found = await (isAlive(described.status.name) ? liveRun : endedRun)(client, seen);
      const forkedFrom = described.memo?.['forkedFrom'];
      if (typeof forkedFrom !== 'string') return found;
      return { ...found, run: { ...found.run, forkedFrom } };
    } catch (error) {
      const code = isUsageError(error) ? error.code : '';
      // The service no longer has the run, but its parent recorded its end.
      if (code === 'run_not_found' && known.child !== undefined) return silentRun(seen);
      if (code === 'no_worker') return silentRun(seen);
      // It ended or handed over between two calls.
      if (isUsageError(error) || attempt === TRIES) throw error;
    }
  }
}

async function liveRun(client: Client, known: KnownRun): Promise<FoundRun> {
  const { id } = known;
  const answer = await queryAny(client, id, (run) => run.query(treeQuery), TREE_DEADLINE_MS);
  if (answer === null) {
    // Its agent is not loaded yet.
    const run: TreeRun = { ...knownOf(known), state: 'running', waitsFor: ['definition'] };
    return { run, below: [] };
  }
  const { agent, path, depth, parent, children, budgets, stats, status } = answer;
  const { state, iteration, waitsFor, usage } = status;
  const ids = inCallOrder(children.map((child) => child.id));
  const own = { id, agent, path, depth, parent, children: ids, budgets };
  return {
    run: { ...own, state, iteration, waitsFor, usage, stats },
    below: children.map((child) => belowOf(own, child)),
  };
}

function belowOf({ id: parent, depth }: Pick<TreeRun, 'id' | 'depth'>, child: TreeChild): KnownRun {
  return { id: child.id, path: child.path, depth: depth + 1, parent, child };
}

/** An ended run by its Step, or else by what its parent recorded. */
async function endedRun(client: Client, known: KnownRun): Promise<FoundRun> {
  const step = await stepOrNull(client, known.id);
  if (step === null) return lostRun(known);
  const { id } = known;
  const { agent, status, reason, iterations, usage, stats, children, trace } = step;
  const path = known.path ?? (await pathOfEnded(client, step));
  const depth = known.depth ?? stats.gauges['agent:depth'] ?? 0;
  const parent = known.parent ?? trace.parent?.workflowId ?? null;
  const run: TreeRun = {
    ...knownOf({ id, agent, path, depth, parent }),
    children: inCallOrder(children.map(({ childId }) => childId)),
    state: 'ended',
    status,
    reason,
    iteration: iterations,
    usage,
    stats,
  };
  return {
    run,
    below: children.map((child) => {
      const below = pathBelow(path, child.childId, child.agent);
      return belowOf(run, { ...child, id: child.childId, path: below });
    }),
  };
}

/** Sorts ids of children by their last call, so that their order never changes. */
function inCallOrder(addresses: readonly string[]): readonly string[] {
  return addresses.toSorted((a, b) => {
    const [left, right] = [partsOf(a), partsOf(b)];
    const at = left.findIndex((part, index) => part !== right[index]);
    const [one = '', other = ''] = [left[at], right[at]];
    return Number(one) - Number(other) || (one < other ? -1 : 1);
  });
}

function partsOf(address: string): readonly string[] {
  return lastCallOf(address).split(/[./-]/);
}

/** The path of an ended run that was not reached through its parent. */
async function pathOfEnded(client: Client, { agent, trace }: Step): Promise<string> {
  const { parent, workflowId } = trace;
  if (parent === undefined) return agent;
  const above = await findRun(client, { id: parent.workflowId });
  return pathBelow(above.run.path, workflowId, agent);
}

/** A run as its parent knows it. */
function knownOf(known: KnownRun): TreeRun {
  const { id, child, depth = 0, parent = null } = known;
  const { agent = child?.agent ?? '' } = known;
  return {
    id,
    agent,
    path: known.path ?? agent,
    depth,
    parent,
    children: [],
    state: 'silent',
    iteration: 0,
    waitsFor: [],
    usage: child?.usage ?? usageOf(EMPTY_STATS),
    stats: null,
    budgets: [],
  };
}

function silentRun(known: KnownRun): FoundRun {
  const { status, reason } = known.child ?? {};
  const run = knownOf(known);
  if (status === undefined || status === 'running') return { run, below: [] };
  const ended = { state: 'ended' as const, status, ...defined({ reason }) };
  return { run: { ...run, ...ended }, below: [] };
}

/** Ended without a Step; its parent will record that soon. */
function lostRun(known: KnownRun): FoundRun {
  const { run } = silentRun(known);
  return { run: { status: 'error', reason: 'internal', ...run, state: 'ended' }, below: [] };
}
