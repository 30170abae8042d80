/**
 * `pmap` and `pcalls`: one branch per call, joined in input order.
 *
 * I1  At most `limits.parallel` branches of a form run at once; the others start when one of these
 *     ends.
 * I2  A failure cancels the branches after it. The form fails when all branches before it are done,
 *     so the reported failure is always the first in input order.
 * I3  Notes, journal and plan of branches are merged in input order, not in the order in which they
 *     end.
 * I4  A branch sees the definitions of its parent; its own definitions end with it.
 */
import { itemsOfSeqable } from '../builtins/arguments/seqable.ts';
import { defined } from '../base/defined.ts';
import { Fault } from '../base/problem.ts';
import { isJsonObject, type Json } from '../base/json.ts';
import type { Value } from '../value/value.ts';
import { vectorOf } from '../value/vector.ts';
import { checkCount, newRecords, pay, type Records } from '../value/context.ts';
import { newStack } from './run.ts';
import type { Branch, EffectCall, Failure, Machine, Parallel } from './state.ts';

/** Begins a parallel form in `branch`, which waits until its branches are joined. */
export function beginParallel(
  m: Machine,
  branch: Branch,
  form: Parallel['form'],
  { args, span }: EffectCall,
): void {
  const { ctx } = m;
  const calls = callsOf(m, form, args);
  pay(ctx, 1 + calls.length, span);
  branch.effects += 1;
  branch.parallel = {
    form,
    path: `${branch.path}${branch.effects}/`,
    span,
    calls,
    next: 0,
    branches: [],
    results: [],
    failure: null,
  };
  branch.state = 'waiting';
  branch.stack.stopped = true;
  branch.depth = ctx.depth;
}

function callsOf(m: Machine, form: Parallel['form'], args: readonly Value[]): Parallel['calls'] {
  if (form === 'pcalls') return args.map((fn) => ({ fn, args: [] }));
  const [fn = null, ...collections] = args;
  const items = collections.map((collection) => itemsOfSeqable(m.ctx, collection, 'pmap'));
  const count = Math.min(...items.map((one) => one.length));
  checkCount(m.ctx, count);
  const calls: { fn: Value; args: readonly Value[] }[] = [];
  for (let index = 0; index < count; index++) {
    calls.push({ fn, args: items.map((one) => one[index] as Value) });
  }
  return calls;
}

/**
 * Starts branches while there is room, and joins them when all have ended. True if anything
 * changed.
 */
export function tendParallel(m: Machine, branch: Branch): boolean {
  const { parallel } = branch;
  if (parallel === null) return false;
  let changed = false;
  for (let index = 0; index < parallel.branches.length; index++) {
    const child = parallel.branches[index];
    if (
      child !== null &&
      child !== undefined &&
      child.state === 'waiting' &&
      child.parallel !== null
    ) {
      if (tendParallel(m, child)) changed = true;
    }
  }
  const running = parallel.branches.filter(
    (child) => child !== null && (child.state === 'ready' || child.state === 'waiting'),
  ).length;
  let room = m.ctx.limits.parallel - running;
  while (parallel.failure === null && room > 0 && parallel.next < parallel.calls.length) {
    parallel.branches[parallel.next] = newBranch(m.hostOf, branch, parallel, parallel.next);
    parallel.next += 1;
    room -= 1;
    changed = true;
  }
  const over = parallel.failure === null ? parallel.calls.length : parallel.failure.index;
  for (let index = 0; index < over; index++) {
    const child = parallel.branches[index];
    if (child === undefined || child === null || child.state !== 'done') return changed;
  }
  join(m, branch, parallel);
  return true;
}

/** Branch `index` of a form, before its call. */
export function newBranch(
  hostOf: Machine['hostOf'],
  parent: Branch,
  parallel: Parallel,
  index: number,
): Branch {
  const stack = newStack(parent.stack.ctx, parent.stack.forced);
  const child: Branch = {
    path: `${parallel.path}${index}/`,
    parent,
    index,
    stack,
    state: 'ready',
    effects: 0,
    waitsFor: null,
    parallel: null,
    globals: parent.globals,
    records: newRecords(parent.records.journal),
    depth: parent.depth,
  };
  stack.host = hostOf(child);
  return child;
}

/** Merges the records of the branches and continues with their values or their failure. */
function join(m: Machine, branch: Branch, parallel: Parallel): void {
  const { failure } = parallel;
  const upTo = failure === null ? parallel.calls.length : failure.index + 1;
  for (let index = 0; index < upTo; index++) {
    const child = parallel.branches[index];
    if (child !== null && child !== undefined) absorb(branch.records, child.records);
  }
  branch.parallel = null;
  branch.state = 'ready';
  branch.stack.stopped = false;
  if (failure === null) {
    branch.stack.values.push(vectorOf(parallel.results.map((value) => value ?? null)));
    return;
  }
  m.faults.push({ branch, fault: faultOf(parallel, failure) });
}

function faultOf(parallel: Parallel, failure: Failure): Fault {
  const { index, reason, message } = failure;
  const inner: { readonly [key: string]: Json } = isJsonObject(failure.details)
    ? failure.details
    : {};
  return new Fault(
    `${parallel.form}_error`,
    `Branch ${index} of \`${parallel.form}\` failed: ${message}`,
    {
      details: defined({ tool: inner['tool'], index, reason, message }),
      span: parallel.span,
      recoverable: failure.recoverable,
    },
  );
}

function absorb(into: Records, from: Records): void {
  into.notes.push(...from.notes);
  into.droppedNotes += from.droppedNotes;
  for (const [id, value] of from.journalChanges) {
    if (value === undefined) into.journal.delete(id);
    else if (into.journalChanges.get(id) !== undefined) continue;
    else into.journal.set(id, value);
    into.journalChanges.set(id, value);
  }
  for (const [id, text] of from.plan) into.plan.set(id, text);
}

/** Merges the records of running branches when the program ends. */
export function absorbAll(branch: Branch): void {
  for (const child of branch.parallel?.branches ?? []) {
    if (child === null || child === undefined) continue;
    absorbAll(child);
    absorb(branch.records, child.records);
  }
  branch.parallel = null;
}
