/** The header of a run's page, from what the run says of itself. */
import { defined } from '../core/base/defined.ts';
import { conversationPlace } from '../core/base/ids.ts';
import type { BudgetLine, RunOverview, RunStatus } from '../core/contract/messages.ts';
import { readFork } from '../core/fork/read-fork.ts';
import type { RunStart } from '../client/run-tree.ts';
import type { Step } from '../core/contract/step.ts';
import type { RunHeader, StepHead } from './api.ts';
import { linesOfLimits } from './view/budgets.ts';

/** The header of run `id`; without an overview, no worker answers for it. */
export function headerOf(
  id: string,
  view: RunOverview | undefined,
  { task, startedAt, forkedFrom }: Pick<RunHeader, 'task' | 'startedAt' | 'forkedFrom'>,
): RunHeader {
  const conversation = conversationPlace(id);
  const place = { id, task, startedAt, ...defined({ conversation, forkedFrom }) };
  if (view === undefined) {
    const unknown = { status: null, step: null, budgets: [], pending: [] };
    const none = { liveChildren: 0, lastSeq: 0 };
    return {
      ...place,
      agent: '',
      path: '',
      depth: 0,
      parent: null,
      state: 'silent',
      ...unknown,
      ...none,
    };
  }
  const { agent, path, depth, parent, status, pending, children } = view;
  return {
    ...place,
    agent,
    path,
    depth,
    parent,
    // What was read from the history is shown, and that no worker answers.
    state: status.asOf === undefined ? status.state : 'silent',
    status: withoutStep(status),
    step: status.step === undefined ? null : stepHead(status.step),
    budgets: budgetsOf(view),
    pending,
    liveChildren: children.filter((child) => child.status === 'running').length,
    lastSeq: status.events,
  };
}

/** Where a run comes from, as its start says; a Step knows it exactly. Undefined: it is no fork. */
export function forkedFromOf(start: RunStart | undefined, step: Step | undefined): ForkedFrom {
  const origin = step?.trace.forkedFrom;
  if (origin !== undefined) return { run: origin.workflowId, iteration: origin.iteration };
  const read = start?.fork === undefined ? null : readFork(start.fork);
  if (read?.kind !== 'fork') return undefined;
  const { source, at } = read.fork;
  const iteration = typeof at === 'object' && 'iteration' in at ? at.iteration : null;
  return { run: source.workflowId, iteration };
}

type ForkedFrom = RunHeader['forkedFrom'];

/** `status` without the data of its Step. */
export function withoutStep({ step: _step, ...status }: RunStatus): Omit<RunStatus, 'step'> {
  return status;
}

/** What a header shows of a Step. */
export function stepHead(step: Step): StepHead {
  const { status, reason, message, usage, iterations, exceededLimit, children } = step;
  return { status, reason, usage, iterations, children, ...defined({ message, exceededLimit }) };
}

/**
 * The limits of a run with their use, tightest first: those of its tree, and those that count the run
 * alone, such as its iterations.
 */
export function budgetsOf({ budgets, limits, stats }: BudgetSource): readonly BudgetLine[] {
  const known = new Set(budgets.map(({ key, origin }) => (origin === 'self' ? key : '')));
  const own = linesOfLimits(limits, stats).filter(({ key }) => !known.has(key));
  return [...budgets, ...own].toSorted((a, b) => partOf(b) - partOf(a));
}

type BudgetSource = Pick<RunOverview, 'budgets' | 'limits' | 'stats'>;

function partOf({ used, reserved, max }: BudgetLine): number {
  return max === 0 ? 1 : (used + reserved) / max;
}
